// Agents whose host is a name: its addresses change, lookups fail or hang, and one family of addresses is broken.
#include "core/descriptor.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/name_table.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
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
using test_support::name_table;
using test_support::scripted_agent;

TEST_SUITE_BEGIN("flow/agent_names");

namespace {

std::string url_of(const std::string& host, const scripted_agent& agent)
{
    return "http://" + host + ':' + std::to_string(agent.port()) + '/';
}

struct rig {
    // `first`: where agent.test is at the start.
    explicit rig(config::settings settings, const std::vector<std::string>& first = {})
        : names{table_with(first)},
          gateway{std::move(settings), [names = names](const std::string& host) { return names->answer(host); }}
    {
    }
    ~rig() { names->hold(false); }

    static std::shared_ptr<name_table> table_with(const std::vector<std::string>& first)
    {
        auto out = std::make_shared<name_table>();
        if (!first.empty()) {
            out->set("agent.test", first);
        }
        return out;
    }

    std::shared_ptr<name_table> names;
    flow::running_gateway gateway;
};

config::settings with_names()
{
    auto settings = flow::quick_settings();
    settings.dns.refresh = 50ms;
    return settings;
}

// Two instances of an agent, which is at agent.test, with checks.
struct hosted {
    static config::settings settings(const scripted_agent& at)
    {
        auto out = with_names();
        out.agents.push_back(flow::a2a_agent("a", url_of("agent.test", at)));
        auto& rules = out.agents[0].rules.emplace();
        rules.check = core::health_check::http;
        rules.health_interval = 50ms;
        rules.health_path = "/healthz";
        return out;
    }

    static bool asked_for(scripted_agent& agent, std::string_view path)
    {
        return agent.wait_for([=](const auto& requests) {
            return std::ranges::any_of(requests, [=](const auto& each) { return each.target.ends_with(path); });
        });
    }

    static test_support::script serve(const test_support::recorded_request& asked)
    {
        return test_support::answer_json(asked.method == "GET" ? flow::card_text("N", "http://agent.test/") : "{}");
    }

    scripted_agent before{serve};
    scripted_agent after{serve, {.address = "127.0.0.2", .port = before.port()}};
};

test_support::http_response call_agent(const rig& x, const std::string& id)
{
    http_client caller{x.gateway.port()};
    caller.send(test_support::request_text("POST", "/agents/" + id, {{"Content-Type", "application/json"}}, call_body())
    );
    return caller.read_response();
}

// A socket of [::1] that takes no more connections: whoever connects hears nothing.
class silent_socket {
public:
    explicit silent_socket(std::uint16_t port)
    {
        ::sockaddr_in6 where{};
        where.sin6_family = AF_INET6;
        where.sin6_addr = in6addr_loopback;
        where.sin6_port = htons(port);
        auto* const generic = reinterpret_cast<::sockaddr*>(&where);
        const int only = 1;
        ::setsockopt(listener_.number(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
        open_ = listener_.open() && ::bind(listener_.number(), generic, sizeof where) == 0 &&
                ::listen(listener_.number(), 0) == 0;
        for (int i = 0; open_ && i < 4; ++i) {
            fillers_.emplace_back(::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
            ::connect(fillers_.back().number(), generic, sizeof where);
        }
    }

    bool open() const noexcept { return open_; }

private:
    core::descriptor listener_{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    std::vector<core::descriptor> fillers_;
    bool open_ = false;
};

struct callers {
    callers(std::uint16_t port, int count)
    {
        for (int i = 0; i < count; ++i) {
            threads_.emplace_back([this, port] {
                std::optional<http_client> caller;
                while (!stop_) {
                    if (!caller) {
                        caller.emplace(port);
                    }
                    caller->send(call_text(call_body()));
                    const auto got = caller->read_response();
                    ++(got.status == 200 ? good : bad);
                    if (got.header("Connection") == "close") {
                        caller.reset();
                    }
                }
            });
        }
    }
    ~callers() { end(); }

    void end()
    {
        stop_ = true;
        for (auto& each : threads_) {
            if (each.joinable()) {
                each.join();
            }
        }
    }

    std::atomic<int> good{0};
    std::atomic<int> bad{0};

private:
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("When a name gets another address no call fails, and soon the old address has no call and no connection")
{
    scripted_agent before{[](const auto&) { return test_support::answer_json(R"("before")"); }};
    scripted_agent after{
        [](const auto&) { return test_support::answer_json(R"("after")"); },
        {.address = "127.0.0.2", .port = before.port()}
    };
    auto settings = with_names();
    if (std::getenv("CARDEA_USUAL_REFRESH") != nullptr) {  // NOLINT(concurrency-mt-unsafe): nothing here sets one
        settings.dns.refresh = config::settings{}.dns.refresh;
    }
    const auto longest = settings.dns.refresh + 1s;
    settings.workers = 2;
    settings.agents.push_back(flow::a2a_agent("a", url_of("agent.test", before)));
    rig x{std::move(settings)};
    x.names->set("agent.test", {"127.0.0.1"});

    callers load{x.gateway.port(), 4};
    REQUIRE(before.wait_for_requests(200));
    const auto changed = std::chrono::steady_clock::now();
    x.names->set("agent.test", {"127.0.0.2"});
    REQUIRE(after.wait_for_requests(1, longest + test_support::patience));
    REQUIRE(before.wait_for_open_connections(0));
    CHECK(std::chrono::steady_clock::now() - changed <= longest + 1s);  // and the machine's own time
    const auto calls = before.request_count();
    REQUIRE(after.wait_for_requests(after.request_count() + 200));
    load.end();
    CHECK(before.request_count() == calls);
    CHECK(load.good >= 400);
    CHECK(load.bad == 0);
}

TEST_CASE("While lookups fail calls go to the last addresses, then get 502, and standing connections go on")
{
    scripted_agent closing{[](const auto&) { return test_support::answer_json("{}", {{"Connection", "close"}}); }};
    scripted_agent keeping{[](const auto&) { return test_support::answer_json("{}"); }};
    auto settings = with_names();
    settings.dns.stale = 1s;
    settings.agents.push_back(flow::a2a_agent("a", url_of("agent.test", closing)));
    settings.agents.push_back(flow::a2a_agent("b", url_of("agent.test", keeping)));
    rig x{std::move(settings)};
    x.names->set("agent.test", {"127.0.0.1"});
    CHECK(call_agent(x, "a").status == 200);
    CHECK(call_agent(x, "b").status == 200);

    x.names->fail_all();
    REQUIRE(x.names->wait_for_lookups(2));  // the first of them has ended
    CHECK(call_agent(x, "a").status == 200);
    auto got = call_agent(x, "a");
    for (int i = 0; got.status == 200 && i < 100'000; ++i) {
        got = call_agent(x, "a");
    }
    flow::check_jsonrpc_error(got, flow::unresolved, "1");
    CHECK(call_agent(x, "b").status == 200);
    CHECK(keeping.accepted_connections() == 1);
    CHECK(x.gateway.metric("cardea_dns_failures_total").value_or(0) >= 2);

    x.names->set("agent.test", {"127.0.0.1"});
    REQUIRE(x.names->wait_for_lookups(2));  // none that has failed is under way any more
    CHECK(call_agent(x, "a").status == 200);
}

TEST_CASE("A lookup that hangs holds no call to a known name, and one to another name until its time is over")
{
    scripted_agent agent{[](const auto&) { return test_support::answer_json("{}", {{"Connection", "close"}}); }};
    auto settings = with_names();
    settings.timeouts.dns = 700ms;
    settings.agents.push_back(flow::a2a_agent("a", url_of("agent.test", agent)));
    settings.agents.push_back(flow::a2a_agent("b", url_of("other.test", agent)));
    rig x{std::move(settings)};
    x.names->set("agent.test", {"127.0.0.1"});
    CHECK(call_agent(x, "a").status == 200);

    x.names->hold(true);
    REQUIRE(x.names->wait_for_lookup_of("agent.test"));  // the next one of the known name
    const auto begun = std::chrono::steady_clock::now();
    http_client waiting{x.gateway.port()};
    waiting.send(test_support::request_text("POST", "/agents/b", {{"Content-Type", "application/json"}}, call_body()));
    REQUIRE(x.names->wait_for_lookup_of("other.test"));
    for (int i = 0; i < 20; ++i) {
        CHECK(call_agent(x, "a").status == 200);
    }
    flow::check_jsonrpc_error(waiting.read_response(), flow::unresolved, "1", "b");
    CHECK(std::chrono::steady_clock::now() - begun >= 700ms);
    CHECK(call_agent(x, "a").status == 200);
    CHECK(agent.request_count() == 22);
}

TEST_CASE("The first call of an agent waits once for a lookup that hangs, though it needs the card and a connection")
{
    scripted_agent agent;
    auto settings = with_names();
    settings.timeouts.dns = 1500ms;
    settings.agents.push_back(flow::a2a_agent("a", url_of("other.test", agent)));
    settings.agents.back().trust = core::card_trust::same_origin;
    rig x{std::move(settings)};
    x.names->hold(true);
    const auto begun = std::chrono::steady_clock::now();
    flow::check_jsonrpc_error(call_agent(x, "a"), flow::unresolved, "1", "a");
    const auto took = std::chrono::steady_clock::now() - begun;
    CHECK(took >= 1400ms);
    CHECK(took < 2800ms);
}

TEST_CASE("IPv6 that answers nothing costs the first connection a quarter of a second, and the next ones nothing")
{
    scripted_agent agent{[](const auto&) { return test_support::answer_json("{}", {{"Connection", "close"}}); }};
    const silent_socket silent{agent.port()};
    if (!silent.open()) {
        MESSAGE("this machine has no IPv6");
        return;
    }
    auto settings = flow::quick_settings();
    settings.workers = 2;
    settings.agents.push_back(flow::a2a_agent("a", url_of("agent.test", agent)));
    rig x{std::move(settings)};
    x.names->set("agent.test", {"::1", "127.0.0.1"});

    const auto time_of_a_call = [&] {
        const auto begun = std::chrono::steady_clock::now();
        CHECK(call_agent(x, "a").status == 200);
        return std::chrono::steady_clock::now() - begun;
    };
    const auto first = time_of_a_call();
    CHECK(first >= 250ms);
    CHECK(first < 1s);  // when the kernel would knock again
    for (int i = 0; i < 8; ++i) {
        CHECK(time_of_a_call() < 250ms);
    }
}

TEST_CASE("IPv6 that refuses costs nothing")
{
    scripted_agent agent{[](const auto&) { return test_support::answer_json("{}"); }};
    auto settings = flow::quick_settings();
    settings.agents.push_back(flow::a2a_agent("a", url_of("agent.test", agent)));
    rig x{std::move(settings)};
    x.names->set("agent.test", {"::1", "127.0.0.1"});
    const auto begun = std::chrono::steady_clock::now();
    CHECK(call_agent(x, "a").status == 200);
    CHECK(std::chrono::steady_clock::now() - begun < 250ms);
}

TEST_CASE("A name all of whose addresses refuse is an agent that cannot be reached")
{
    auto settings = flow::quick_settings();
    const auto nobody = std::to_string(test_support::unused_port());
    settings.agents.push_back(flow::a2a_agent("a", "http://agent.test:" + nobody + '/'));
    rig x{std::move(settings)};
    x.names->set("agent.test", {"::1", "127.0.0.1", "127.0.0.2"});
    flow::check_jsonrpc_error(call_agent(x, "a"), flow::refused, "1");
}

TEST_CASE("Agents on two ports of one host share its lookup")
{
    scripted_agent one{[](const auto&) { return test_support::answer_json("{}"); }};
    scripted_agent other{[](const auto&) { return test_support::answer_json("{}"); }};
    auto settings = flow::quick_settings();
    settings.workers = 2;
    settings.agents.push_back(flow::a2a_agent("a", url_of("agent.test", one)));
    settings.agents.push_back(flow::a2a_agent("b", url_of("agent.test", other)));
    rig x{std::move(settings)};
    x.names->set("agent.test", {"127.0.0.1"});
    CHECK(call_agent(x, "a").status == 200);
    x.names->fail_all();
    CHECK(call_agent(x, "b").status == 200);
    CHECK(x.gateway.metric("cardea_dns_failures_total") == 0);
}

TEST_CASE("Cards, checks and calls share the lookup of their host")
{
    hosted agents;
    auto settings = hosted::settings(agents.before);
    settings.dns.refresh = 1h;
    const rig x{std::move(settings), {"127.0.0.1"}};
    CHECK(call_agent(x, "a").status == 200);
    CHECK(flow::get_card(x.gateway, "a").status == 200);
    CHECK(hosted::asked_for(agents.before, "/healthz"));
    CHECK(x.names->lookups() == 1);
}

TEST_CASE(
    "After a host has got another address its cards and checks come from there, and the old one is asked for nothing"
)
{
    hosted agents;
    const rig x{hosted::settings(agents.before), {"127.0.0.1"}};
    CHECK(flow::get_card(x.gateway, "a").status == 200);
    CHECK(hosted::asked_for(agents.before, "/healthz"));
    x.names->set("agent.test", {"127.0.0.2"});
    CHECK(hosted::asked_for(agents.after, "/healthz"));
    flow::manage(x.gateway, "agents/refreshCard", {{"id", "a"}});
    CHECK(hosted::asked_for(agents.after, "agent-card.json"));
    const auto asked = agents.before.request_count();
    REQUIRE(agents.after.wait_for_requests(agents.after.request_count() + 10));
    CHECK(agents.before.request_count() == asked);
}

TEST_SUITE_END();
