// An agent with several endpoints: which one gets a call, and what becomes of a call that one of them did not take.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/fault_proxy.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using flow::call;
using flow::call_body;
using flow::call_text;
using test_support::http_client;
using test_support::scripted_agent;

TEST_SUITE_BEGIN("flow/endpoints");

namespace {

test_support::handler echo()
{
    return [](const test_support::recorded_request& asked) { return test_support::answer_json(asked.body); };
}

// Agent `a` at several addresses, with breakers as they are by default and without checks.
struct several {
    using adjustment = std::function<void(config::settings&)>;

    several(std::vector<std::string> urls, const adjustment& adjust = {})
        : gateway{settings(std::move(urls), adjust)}
    {
    }

    static config::settings settings(std::vector<std::string> urls, const adjustment& adjust)
    {
        auto out = flow::quick_settings();
        out.defaults.breaker = {};
        out.timeouts.connect = 300ms;
        out.timeouts.upstream_head = 1s;
        auto agent = flow::a2a_agent("a", urls.front());
        auto& rules = agent.rules.emplace();
        rules.upstreams = std::move(urls);
        rules.check = core::health_check::none;
        out.agents.push_back(std::move(agent));
        if (adjust) {
            adjust(out);
        }
        return out;
    }

    std::uint16_t port() const noexcept { return gateway.port(); }

    flow::running_gateway gateway;
};

std::string url_of(std::uint16_t port, std::string_view path = "/rpc")
{
    return "http://127.0.0.1:" + std::to_string(port) + std::string{path};
}

std::string state(int endpoint, std::string_view name)
{
    return R"(cardea_endpoint_state{agent="a",endpoint=")" + std::to_string(endpoint) + R"(",state=")" +
           std::string{name} + "\"}";
}

std::string retries(std::string_view reason)
{
    return R"(cardea_retries_total{reason=")" + std::string{reason} + "\"}";
}

// How often each body came, at all agents.
std::map<std::string, int> arrivals(const std::vector<const scripted_agent*>& agents)
{
    std::map<std::string, int> times;
    for (const auto* agent : agents) {
        for (const auto& request : agent->requests()) {
            ++times[request.body];
        }
    }
    return times;
}

// How many calls are cut; `./dev faults` asks for more.
std::size_t cut_calls()
{
    const char* const asked =
        std::getenv("CARDEA_FAULT_CALLS");  // NOLINT(concurrency-mt-unsafe): nothing here sets one
    return asked == nullptr ? 700 : static_cast<std::size_t>(std::strtoul(asked, nullptr, 10));
}

// The n-th of them: after any byte of a request or an answer with their heads, in each way.
test_support::proxy_faults cut_of(std::size_t number)
{
    constexpr std::size_t longest = 700;  // of a request that goes to an agent
    constexpr std::size_t stride = 211;   // no divisor of it, so that every byte comes
    test_support::proxy_faults out;
    auto& direction = number % 2 == 0 ? out.to_agent : out.to_caller;
    direction.limit = 1 + number / 2 * stride % longest;
    direction.then = number % 3 == 0 ? test_support::at_limit::close : test_support::at_limit::reset;
    out.accepts = number % 17 == 0 ? test_support::on_accept::reset : test_support::on_accept::serve;
    return out;
}

}  // namespace

TEST_CASE("Every call goes to the first endpoint while that works")
{
    scripted_agent first{echo()};
    scripted_agent second{echo()};
    const several x{{first.url("/rpc"), second.url("/rpc")}};
    for (int i = 0; i < 10; ++i) {
        CHECK(call(x.port(), call_body()).status == 200);
    }
    CHECK(first.request_count() == 10);
    CHECK(second.request_count() == 0);
    const auto lines = flow::access_lines(x.gateway, 10);
    REQUIRE(lines.size() == 10);
    CHECK(lines[9].find(R"("endpoint":1,"attempts":1)") != std::string::npos);
}

TEST_CASE("A call that finds no connection goes to the next endpoint at once, whatever it asks for")
{
    scripted_agent good{echo()};
    const auto down = test_support::unused_port();
    const several x{{url_of(down), good.url("/rpc")}};
    for (const auto* method : {"message/send", "tasks/cancel", "tasks/get", "x/unknown"}) {
        CAPTURE(method);
        const auto body = call_body("1", method);
        const auto got = call(x.port(), body);
        CHECK(got.status == 200);
        CHECK(got.body == body);
    }
    CHECK(good.request_count() == 4);
    CHECK(x.gateway.metric(retries("unconnected")) == 4);
    const auto lines = flow::access_lines(x.gateway, 4);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0].find(R"("endpoint":2,"attempts":2)") != std::string::npos);
}

TEST_CASE("A stream and a body that passes in pieces find the next endpoint too")
{
    scripted_agent good{[](const test_support::recorded_request& asked) {
        return asked.target == "/rpc" ? test_support::event_stream() : test_support::answer_json(asked.body);
    }};
    const several x{{url_of(test_support::unused_port()), good.url("/rpc")}, [](config::settings& settings) {
                        settings.agents[0].relay_paths = {"/files/**"};
                    }};
    http_client watcher{x.port()};
    watcher.send(call_text(call_body("1", "message/stream")));
    REQUIRE(watcher.read_head().status == 200);
    REQUIRE(good.wait_for_streams(1));
    good.send_event("hello");
    CHECK(watcher.read_until("hello").ends_with("hello"));
    const std::string large(200'000, 'x');
    const auto got = test_support::request(x.port(), "PUT", "/agents/a/files/f", {}, large);
    CHECK(got.status == 200);
    CHECK((got.body == large));
}

TEST_CASE("An endpoint that cannot be reached gets five calls, and the rest go to the next one directly")
{
    scripted_agent good{echo()};
    const several x{{url_of(test_support::unused_port()), good.url("/rpc")}};
    for (int i = 0; i < 12; ++i) {
        CHECK(call(x.port(), call_body()).status == 200);
    }
    CHECK(good.request_count() == 12);
    CHECK(x.gateway.metric(retries("unconnected")) == 5);
    CHECK(x.gateway.metric(state(1, "open")) == 1);
    CHECK(x.gateway.metric(state(2, "closed")) == 1);
    const auto listed = flow::manage(x.gateway, "agents/health", {{"id", "a"}})["endpoints"];
    REQUIRE(listed.size() == 2);
    CHECK(listed[0]["endpoint"] == 1);
    CHECK(listed[0]["breaker"] == "open");
    CHECK(listed[1]["breaker"] == "closed");
    CHECK(listed[1]["url"] == good.url("/rpc"));
    CHECK(flow::manage(x.gateway, "agents/reset", {{"id", "a"}})["reset"] == true);
    CHECK(x.gateway.metric(state(1, "closed")) == 1);
}

TEST_CASE("The health of an agent with one endpoint lists it as that of any other, with the calls in flight there")
{
    test_support::gate held;
    scripted_agent agent{[shared = held.shared()](const auto&) {
        return test_support::then({test_support::pass_gate{shared}}, test_support::answer(502, "no"));
    }};
    auto settings = flow::quick_settings();
    settings.agents.push_back(flow::a2a_agent("a", agent.url("/rpc")));
    settings.defaults.breaker.failures = 1;
    const flow::running_gateway gateway{std::move(settings)};
    const auto listed = [&gateway] { return flow::manage(gateway, "agents/health", {{"id", "a"}})["endpoints"]; };
    const core::json
        closed{{"endpoint", 1}, {"breaker", "closed"}, {"healthy", true}, {"in_flight", 0}, {"url", agent.url("/rpc")}};
    CHECK(listed() == core::json::array({closed}));
    http_client caller{gateway.port()};
    caller.send(call_text(call_body()));
    REQUIRE(agent.wait_for_requests(1));
    CHECK(listed()[0]["in_flight"] == 1);
    held.release();
    CHECK(caller.read_response().status == 502);
    CHECK(flow::becomes_true([&] { return listed()[0]["in_flight"] == 0; }));
    CHECK(listed()[0]["breaker"] == "open");
}

TEST_CASE("Answers of 502 and 503 reach the caller and are not sent again, and then the next endpoint gets the calls")
{
    for (const unsigned status : {502U, 503U}) {
        CAPTURE(status);
        scripted_agent bad{[status](const auto&) { return test_support::answer(status, "no"); }};
        scripted_agent good{echo()};
        const several x{{bad.url("/rpc"), good.url("/rpc")}};
        for (int i = 0; i < 5; ++i) {
            CHECK(call(x.port(), call_body()).status == status);
        }
        CHECK(good.request_count() == 0);
        for (int i = 0; i < 5; ++i) {
            CHECK(call(x.port(), call_body()).status == 200);
        }
        CHECK(bad.request_count() == 5);
        CHECK(good.request_count() == 5);
    }
}

TEST_CASE("A call that was sent and got no byte of an answer goes to the next endpoint only if it reads")
{
    struct row {
        std::string_view method;
        bool repeated;
    };
    for (const auto& [method, repeated] :
         {row{"tasks/get", true},
          row{"GetTask", true},
          row{"message/send", false},
          row{"SendMessage", false},
          row{"tasks/cancel", false},
          row{"x/unknown", false}}) {
        CAPTURE(method);
        scripted_agent bad{[](const auto&) { return test_support::reset(); }};
        scripted_agent good{echo()};
        const several x{{bad.url("/rpc"), good.url("/rpc")}};
        const auto body = call_body("1", method);
        const auto got = call(x.port(), body);
        CHECK(got.status == (repeated ? 200 : 502));
        CHECK(bad.request_count() == 1);
        CHECK(good.request_count() == (repeated ? 1 : 0));
        CHECK(x.gateway.metric(retries("unanswered")).value_or(0) == (repeated ? 1 : 0));
    }
}

TEST_CASE("Nothing is sent again once a byte of the answer has come")
{
    for (const bool in_body : {false, true}) {
        const auto begun = in_body ? test_support::half_body() : test_support::half_head();
        scripted_agent bad{[begun](const auto&) { return begun; }};
        scripted_agent good{echo()};
        const several x{{bad.url("/rpc"), good.url("/rpc")}};
        http_client caller{x.port()};
        caller.send(call_text(call_body("1", "tasks/get")));
        if (in_body) {
            caller.read_until_closed();
        } else {
            CHECK(caller.read_response().status == 502);
        }
        CHECK(bad.request_count() == 1);
        CHECK(good.request_count() == 0);
    }
}

TEST_CASE("A call is sent as often as retry.attempts says, at its limit and beside it")
{
    for (const std::uint64_t attempts : {1ULL, 2ULL, 3ULL}) {
        CAPTURE(attempts);
        scripted_agent bad{[](const auto&) { return test_support::close_unanswered(); }};
        auto settings = flow::quick_settings();
        settings.agents.push_back(flow::a2a_agent("a", bad.url("/rpc")));
        settings.agents[0].rules.emplace().retry_attempts = attempts;
        const flow::running_gateway gateway{std::move(settings)};
        flow::check_jsonrpc_error(call(gateway.port(), call_body("1", "tasks/get")), flow::cut_off, "1");
        CHECK(bad.request_count() == attempts);
    }
}

TEST_CASE(
    "An agent that always fails gets a fifth more than its calls and three in each second, whatever the number of "
    "workers"
)
{
    for (const std::uint64_t workers : {1U, 4U}) {
        CAPTURE(workers);
        scripted_agent bad{[](const auto&) { return test_support::close_unanswered(); }};
        auto settings = flow::quick_settings();
        settings.workers = workers;
        settings.agents.push_back(flow::a2a_agent("a", bad.url("/rpc")));
        const flow::running_gateway gateway{std::move(settings)};
        const auto start = std::chrono::steady_clock::now();
        constexpr std::size_t calls = 40;
        std::vector<std::thread> callers;
        for (std::uint64_t i = 0; i < 2 * workers; ++i) {
            callers.emplace_back([&] {
                for (std::size_t n = 0; n < calls; ++n) {
                    flow::check_jsonrpc_error(call(gateway.port(), call_body("1", "tasks/get")), flow::cut_off, "1");
                }
            });
        }
        for (auto& caller : callers) {
            caller.join();
        }
        const auto time = std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - start).count();
        const auto all = calls * callers.size();
        CHECK(bad.request_count() > all);
        CHECK(bad.request_count() <= all + all / 5 + 3 * static_cast<std::size_t>(time + 1));
    }
}

TEST_CASE("With no usable endpoint a call gets 503 with the time of the next attempt")
{
    scripted_agent one{[](const auto&) { return test_support::answer(502, "no"); }};
    scripted_agent two{[](const auto&) { return test_support::answer(503, "no"); }};
    const several x{{one.url("/rpc"), two.url("/rpc")}};
    for (int i = 0; i < 10; ++i) {
        CHECK(call(x.port(), call_body()).status >= 502);
    }
    const auto got = call(x.port(), call_body());
    CHECK(got.status == 503);
    CHECK(got.header("Cardea-Error") == "circuit_open");
    const auto seconds = std::stoul(got.header("Retry-After"));
    CHECK(seconds >= 1);
    CHECK(seconds <= 30);
    CHECK(one.request_count() == 5);
    CHECK(two.request_count() == 5);
}

TEST_CASE("The paths of an endpoint are below its own URL, and the Host is its own")
{
    scripted_agent good{echo()};
    const several x{{url_of(test_support::unused_port(), "/one"), good.url("/two/deep/")}, [](config::settings& s) {
                        s.agents[0].relay_paths = {"/files/*"};
                    }};
    CHECK(call(x.port(), call_body()).status == 200);
    CHECK(test_support::request(x.port(), "GET", "/agents/a/files/f?q=1").status == 200);
    REQUIRE(good.request_count() == 2);
    CHECK(good.request(0).target == "/two/deep/");
    CHECK(good.request(0).header("Host") == "127.0.0.1:" + std::to_string(good.port()));
    CHECK(good.request(0).count("Host") == 1);
    CHECK(good.request(1).target == "/two/deep/files/f?q=1");
}

TEST_CASE("The card is fetched from an endpoint that answers")
{
    const std::string card = R"({"protocolVersion":"0.3.0","name":"Two","description":"d","url":"@/two","version":"1",)"
                             R"("preferredTransport":"JSONRPC","capabilities":{},"defaultInputModes":[],)"
                             R"("defaultOutputModes":[],"skills":[]})";
    auto base = std::make_shared<std::string>();
    scripted_agent good{[card, base](const test_support::recorded_request& asked) {
        auto text = card;
        text.replace(text.find('@'), 1, *base);
        return asked.method == "GET" ? test_support::answer_json(text) : test_support::answer_json("{}");
    }};
    *base = good.url();
    const several x{{url_of(test_support::unused_port(), "/one"), good.url("/two")}};
    const auto got = test_support::request(x.port(), "GET", "/agents/a/.well-known/agent-card.json");
    CHECK(got.status == 200);
    CHECK(flow::parsed(got.body)["name"] == "Two");
    CHECK(call(x.port(), call_body()).status == 200);
}

TEST_CASE("With balance: caller an address stays with one endpoint, with spread all of them get calls")
{
    scripted_agent first{echo()};
    scripted_agent second{echo()};
    scripted_agent third{echo()};
    const std::vector<std::string> urls{first.url("/rpc"), second.url("/rpc"), third.url("/rpc")};
    const auto counts = [&] {
        return std::vector{first.request_count(), second.request_count(), third.request_count()};
    };
    {
        const several x{urls, [](config::settings& s) { s.agents[0].rules->balance = core::balancing::caller; }};
        for (int i = 0; i < 10; ++i) {
            CHECK(call(x.port(), call_body()).status == 200);
        }
        const auto all = counts();
        CHECK(std::ranges::count(all, 10U) == 1);
        CHECK(std::ranges::count(all, 0U) == 2);
    }
    {
        const auto before = counts();
        const several x{urls, [](config::settings& s) { s.agents[0].rules->balance = core::balancing::spread; }};
        for (int i = 0; i < 200; ++i) {
            CHECK(call(x.port(), call_body()).status == 200);
        }
        const auto all = counts();
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(all[i] > before[i] + 20);
        }
    }
}

TEST_CASE("An endpoint that fails its checks gets no calls, and gets them again when it passes")
{
    struct row {
        core::health_check check;
        test_support::proxy_faults faults;
    };
    // A connection that a check before has left open is silent too.
    const test_support::proxy_faults silent{.to_caller = {.limit = 0, .then = test_support::at_limit::silence}};
    for (const auto& [check, faults] :
         {row{core::health_check::tcp, {.down = true}},
          row{core::health_check::http, {.down = true}},
          row{core::health_check::http, silent},
          row{core::health_check::card, {.down = true}},
          row{core::health_check::card, silent}}) {
        CAPTURE(core::name(check));
        const auto serve = [](const test_support::recorded_request& asked) {
            const std::string card =
                R"({"protocolVersion":"0.3.0","name":"N","description":"d","url":"http://127.0.0.1:1/rpc","version":"1",)"
                R"("capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[]})";
            return test_support::answer_json(asked.method == "GET" ? card : asked.body);
        };
        scripted_agent first{test_support::handler{serve}};
        scripted_agent second{test_support::handler{serve}};
        test_support::fault_proxy way{first.port()};
        const several x{{way.url("/rpc"), second.url("/rpc")}, [&](config::settings& s) {
                            s.cards.timeout = 1min;
                            auto& rules = *s.agents[0].rules;
                            rules.check = check;
                            rules.health_interval = 100ms;
                            rules.health_timeout = 200ms;
                            rules.health_path = "/healthz";
                            rules.failback = 0s;
                        }};
        CHECK(call(x.port(), call_body()).status == 200);
        const auto logged = [&](std::string_view event) {
            const auto wanted = R"("event":")" + std::string{event} + R"(","agent":"a","endpoint":1)";
            return x.gateway.log().wait_for([&](std::string_view line) { return line.find(wanted) != line.npos; }
            ).has_value();
        };
        way.set(faults);
        REQUIRE(logged("endpoint_unhealthy"));
        const auto listed = flow::manage(x.gateway, "agents/health", {{"id", "a"}})["endpoints"];
        CHECK(listed[0]["healthy"] == false);
        CHECK(listed[1]["healthy"] == true);
        const auto before = x.gateway.metric(retries("unconnected")).value_or(0);
        for (int i = 0; i < 5; ++i) {
            CHECK(call(x.port(), call_body()).status == 200);
        }
        CHECK(x.gateway.metric(retries("unconnected")).value_or(0) == before);
        way.heal();
        REQUIRE(logged("endpoint_healthy"));
    }
}

TEST_CASE("One endpoint that is checked and does not pass gets no calls, and 503 says so")
{
    scripted_agent agent{[](const test_support::recorded_request& asked) {
        return asked.target == "/healthz?code=c" ? test_support::answer(500, "ill") : test_support::answer_json("{}");
    }};
    auto settings = flow::quick_settings();
    settings.agents.push_back(flow::a2a_agent("a", agent.url("/rpc")));
    settings.agents[0].queries = {core::secret{std::string{"code=c"}}};
    auto& rules = settings.agents[0].rules.emplace();
    rules.check = core::health_check::http;
    rules.health_path = "/healthz";
    rules.health_interval = 100ms;
    rules.health_fail = 1;
    const flow::running_gateway gateway{std::move(settings)};
    REQUIRE(gateway.log().wait_for([](std::string_view line) { return line.find("endpoint_unhealthy") != line.npos; }
    ).has_value());
    const auto got = call(gateway.port(), call_body());
    CHECK(got.status == 503);
    CHECK(got.header("Cardea-Error") == "circuit_open");
    CHECK(got.header("Retry-After") == "1");
}

TEST_CASE("Of numbered calls through proxies that cut after any byte of request and answer none arrives twice")
{
    scripted_agent first{echo()};
    scripted_agent second{echo()};
    test_support::fault_proxy one{first.port(), {}, 7};
    test_support::fault_proxy two{second.port(), {}, 11};
    const several x{{one.url("/rpc"), two.url("/rpc")}, [](config::settings& s) {
                        s.workers = 2;
                        s.defaults.breaker.failures = 1'000'000;
                        s.defaults.breaker.volume = 1'000'000;
                        s.agents[0].rules->balance = core::balancing::spread;
                    }};
    std::size_t answered = 0;
    std::optional<http_client> caller;
    for (std::size_t number = 1; number <= cut_calls(); ++number) {
        const auto faults = cut_of(number);
        one.set(faults);
        two.set(faults);
        const auto body = call_body(std::to_string(number), "SendMessage");
        try {
            if (!caller) {
                caller.emplace(x.port());
            }
            caller->send(call_text(body));
            const auto got = caller->read_response();
            answered += got.body == body ? 1 : 0;
            CHECK((got.body == body || got.status == 502));
        } catch (const std::runtime_error&) {
            caller.reset();  // the answer was cut
        }
    }
    const auto all = arrivals({&first, &second});
    CHECK(answered > 0);
    CHECK(all.size() >= answered);
    for (const auto& [body, times] : all) {
        CAPTURE(body);
        CHECK(times == 1);
    }
}

TEST_SUITE_END();
