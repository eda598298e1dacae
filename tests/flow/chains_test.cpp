// Calls that belong together: how many of one trace or context are in flight, how many begin in a time, and how loops end.
#include "tests/flow/bridge_fixture.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/mcp_fixture.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using flow::relayed;
using test_support::field_list;
using test_support::http_client;
using test_support::http_response;

TEST_SUITE_BEGIN("flow/chains");

namespace {

constexpr std::string_view answered = R"({"jsonrpc":"2.0","id":"q-1","result":{}})";

relayed::adjustment with_chains(std::uint64_t in_flight, std::uint64_t calls = 0, std::uint64_t workers = 1)
{
    return [=](config::settings& settings) {
        settings.chains.in_flight = in_flight;
        settings.chains.calls = calls;
        settings.workers = workers;
        settings.timeouts.upstream_head = 1h;
    };
}

test_support::script held(const test_support::gate& gate)
{
    return test_support::then(
        {test_support::pass_gate{gate.shared()}},
        test_support::answer_json(std::string{answered})
    );
}

field_list of_trace(int number, int span = 1)
{
    const auto digits = std::to_string(number);
    const auto parent = std::to_string(span);
    return {
        {"traceparent",
         "00-" + std::string(32 - digits.size(), '1') + digits + "-" + std::string(16 - parent.size(), '2') + parent +
             "-00"}
    };
}

std::string message_in(std::string_view context, std::string_view method = "message/send")
{
    return R"({"jsonrpc":"2.0","id":"q-1","method":")" + std::string{method} +
           R"(","params":{"message":{"kind":"message","messageId":"m","role":"user","contextId":")" +
           std::string{context} + R"(","parts":[{"kind":"text","text":"hi"}]}}})";
}

constexpr std::string_view no_context = R"({"jsonrpc":"2.0","id":"q-1","method":"message/send","params":{}})";

std::string text_to(std::string_view agent, std::string_view body, const field_list& further)
{
    field_list fields{{"Content-Type", "application/json"}};
    fields.insert(fields.end(), further.begin(), further.end());
    return test_support::request_text("POST", "/agents/" + std::string{agent}, fields, std::string{body});
}

std::unique_ptr<http_client> begin(std::uint16_t port, std::string_view body, const field_list& further = {})
{
    auto caller = std::make_unique<http_client>(port);
    caller->send(text_to("a", body, further));
    return caller;
}

http_response ask(std::uint16_t port, std::string_view agent, std::string_view body, const field_list& further = {})
{
    http_client caller{port};
    caller.send(text_to(agent, body, further));
    return caller.read_response();
}

const std::string limited_text =
    R"({"jsonrpc":"2.0","id":"q-1","error":{"code":-31508,"message":"The chain of calls that this one belongs to is too )"
    R"(large.","data":{"code":"chain_limited","agent":"a","retryable":false,"limit":)";

void check_limited(const http_response& got, const std::string& limit = "in_flight")
{
    CHECK(got.status == 508);
    CHECK(got.header("Cardea-Error") == "chain_limited");
    CHECK(got.count("Retry-After") == 0);
    CHECK(got.body == limited_text + '"' + limit + "\"}}}");
}

// An agent that calls another one of the same gateway before it answers, in the same context or trace, and passes no Via on.
class calling_agent {
public:
    // The port is known once there is a gateway.
    calling_agent(std::string other, bool in_context)
        : other_{std::move(other)},
          in_context_{in_context}
    {
    }

    test_support::script operator()(const test_support::recorded_request& asked)
    {
        const auto own = std::make_shared<test_support::gate>();
        const std::lock_guard lock{mutex_};
        ++calls_;
        const field_list fields = in_context_ ? field_list{} : field_list{{"traceparent", asked.header("traceparent")}};
        threads_.emplace_back([this, own, fields, body = asked.body] {
            statuses_.at(ask(port.load(), other_, body, fields).status == 508 ? 1 : 0) += 1;
            own->release();
        });
        return held(*own);
    }

    std::size_t calls() const
    {
        const std::lock_guard lock{mutex_};
        return calls_;
    }
    int limited() const { return statuses_[1]; }

    std::atomic<std::uint16_t> port{0};

private:
    std::string other_;
    bool in_context_;
    mutable std::mutex mutex_;
    std::size_t calls_ = 0;
    std::array<std::atomic<int>, 2> statuses_{};
    std::vector<std::jthread> threads_;
};

void check_loop(bool in_context)
{
    constexpr std::uint64_t most = 8;
    const auto to_b = std::make_shared<calling_agent>("b", in_context);
    const auto to_a = std::make_shared<calling_agent>("a", in_context);
    test_support::scripted_agent b{[to_a](const auto& asked) { return (*to_a)(asked); }};
    relayed x{
        [to_b](const auto& asked) { return (*to_b)(asked); },
        [&](config::settings& settings) {
            with_chains(most, 0, 2)(settings);
            settings.agents.push_back(flow::a2a_agent("b", b.url("/")));
        }
    };
    to_b->port = to_a->port = x.port();
    const auto body = in_context ? message_in("loop") : std::string{no_context};
    const auto traced = in_context ? field_list{} : of_trace(7);
    CHECK(ask(x.port(), "a", body, traced).status == 200);
    CHECK(to_a->calls() + to_b->calls() == most);
    CHECK(to_a->limited() + to_b->limited() == 1);
    // Nothing is left in flight, so that the chain has as many calls again.
    CHECK(ask(x.port(), "a", body, traced).status == 200);
    CHECK(to_a->calls() + to_b->calls() == 2 * most);
    CHECK(to_a->limited() + to_b->limited() == 2);
}

}  // namespace

TEST_CASE("Two agents that call each other in one context without Via end at the limit")
{
    check_loop(/*in_context=*/true);
}

TEST_CASE("Two agents that call each other in one trace without Via end at the limit")
{
    check_loop(/*in_context=*/false);
}

TEST_CASE("A chain has as many calls in flight as the limit says, on all workers, and another chain is not affected")
{
    constexpr std::size_t limit = 3;
    test_support::gate gate;
    relayed x{held(gate), with_chains(limit, 0, 4)};
    bool by_trace = false;
    SUBCASE("a context") {}
    SUBCASE("a trace")
    {
        by_trace = true;
    }
    const auto body = by_trace ? std::string{no_context} : message_in("one");
    const auto fields = [by_trace](int span) { return by_trace ? of_trace(1, span) : field_list{}; };
    std::vector<std::unique_ptr<http_client>> callers;
    for (std::size_t i = 0; i < limit; ++i) {
        callers.push_back(begin(x.port(), body, fields(static_cast<int>(i) + 1)));
    }
    CHECK(x.agent.wait_for_requests(limit));
    check_limited(ask(x.port(), "a", body, fields(9)));
    const auto other = by_trace ? begin(x.port(), no_context, of_trace(2)) : begin(x.port(), message_in("other"));
    const auto none = begin(x.port(), no_context);
    CHECK(x.agent.wait_for_requests(limit + 2));
    gate.release(limit + 2);
    for (const auto& each : callers) {
        CHECK(each->read_response().status == 200);
    }
    CHECK(other->read_response().status == 200);
    CHECK(none->read_response().status == 200);
    gate.release();
    CHECK(ask(x.port(), "a", body, fields(10)).status == 200);
    CHECK(x.gateway.wait_for_metric("cardea_chains_untracked_total", 0));
}

TEST_CASE("Callers that leave, answers that are cut and calls that fail give their places in a chain back")
{
    constexpr std::size_t limit = 2;
    test_support::gate gate;
    relayed x{held(gate), with_chains(limit)};
    const auto enters = [&] {
        gate.release(100);
        return flow::becomes_true([&] { return ask(x.port(), "a", message_in("one")).status == 200; });
    };
    SUBCASE("callers that leave")
    {
        std::vector<std::unique_ptr<http_client>> callers;
        for (std::size_t i = 0; i < limit; ++i) {
            callers.push_back(begin(x.port(), message_in("one")));
        }
        CHECK(x.agent.wait_for_requests(limit));
        check_limited(ask(x.port(), "a", message_in("one")));
        for (const auto& each : callers) {
            each->reset();
        }
        CHECK(enters());
    }
    SUBCASE("streams, which count until their end")
    {
        x.agent.otherwise([](const auto&) { return test_support::event_stream(); });
        std::vector<std::unique_ptr<http_client>> callers;
        for (std::size_t i = 0; i < limit; ++i) {
            callers.push_back(begin(x.port(), message_in("one", "message/stream")));
            CHECK(callers.back()->read_head().status == 200);
        }
        check_limited(ask(x.port(), "a", message_in("one", "message/stream")));
        x.agent.otherwise([&](const auto&) { return held(gate); });
        x.agent.cut_streams();
        CHECK(enters());
    }
    SUBCASE("calls whose agent breaks off")
    {
        x.agent.otherwise([](const auto&) { return test_support::half_body(); });
        for (std::size_t i = 0; i < 3 * limit; ++i) {
            const auto caller = begin(x.port(), message_in("one"));
            CHECK(caller->read_head().status == 200);
        }
        x.agent.otherwise([&](const auto&) { return held(gate); });
        CHECK(enters());
    }
}

TEST_CASE("Every dialect of A2A has its contexts counted, and says the limit in its own words")
{
    using core::a2a_dialect;
    for (const auto caller : flow::dialects) {
        CAPTURE(core::name(caller));
        flow::bridged x{a2a_dialect::v03_jsonrpc, [](config::settings& settings) { settings.chains.calls = 2; }};
        auto what = flow::request_in(caller, flow::asked::send);
        const std::string_view member = R"("messageId":"m",)";
        what.body.insert(what.body.find(member), R"("contextId":"one",)");
        CHECK(x.ask(caller, what).status == 200);
        CHECK(x.ask(caller, what).status == 200);
        const auto got = x.ask(caller, what);
        CHECK(got.status == 508);
        CHECK(got.header("Cardea-Error") == "chain_limited");
        const auto body = flow::parsed(got.body);
        if (caller == a2a_dialect::v1_rest) {
            CHECK(body["error"]["details"][0]["reason"] == "chain_limited");
            CHECK(body["error"]["details"][0]["metadata"] == core::json{{"agent", "a"}, {"limit", "calls"}});
        } else {
            const auto& error = caller == a2a_dialect::v03_rest ? body : body["error"];
            CHECK(error["code"] == -31508);
            CHECK(error["data"]["limit"] == "calls");
            CHECK(error["data"]["retryable"] == false);
        }
        what.body.replace(what.body.find("one"), 3, "two");
        CHECK(x.ask(caller, what).status == 200);
    }
}

TEST_CASE("A body of HTTP+JSON that is no JSON goes on as it did, whatever it says of contexts")
{
    relayed x{test_support::answer_json("{}"), [](config::settings& settings) {
                  settings.agents[0].dialects = {core::a2a_dialect::v1_rest};
                  settings.agents[0].bridge = false;
                  settings.chains.calls = 1;
              }};
    for (int i = 0; i < 3; ++i) {
        const auto got = test_support::request(
            x.port(),
            "POST",
            "/agents/a/rest/message:send",
            {{"Content-Type", "application/json"}},
            R"({"message":{"contextId":"one")"
        );
        CHECK(got.status == 200);
    }
    CHECK(x.agent.request_count() == 3);
}

TEST_CASE("A message of an MCP client counts in the trace of its field, else of its _meta; other messages do not count")
{
    const auto post = [](const relayed& x, const std::string& body, const field_list& further) {
        field_list fields{{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
        fields.insert(fields.end(), further.begin(), further.end());
        return test_support::request(x.port(), "POST", "/agents/a/mcp", fields, body);
    };
    relayed x{
        [](const test_support::recorded_request& asked) {
            return asked.body.find(R"("id")") == std::string::npos
                       ? test_support::answer(202, "")
                       : test_support::answer_json(R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})");
        },
        [](config::settings& settings) {
            flow::mcp_calls::make_mcp(settings);
            settings.agents[0].mcp->era = core::mcp_era::modern;
            settings.chains.calls = 2;
        }
    };
    const auto call = [](const std::string& trace) {
        return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{)" +
               (trace.empty() ? "" : R"("traceparent":")" + trace + R"(",)") +
               R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
               R"("io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},)"
               R"("io.modelcontextprotocol/clientCapabilities":{}}}})";
    };
    const field_list modern{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "echo"}};
    const auto one = of_trace(1).front().second;
    CHECK(post(x, call(one), modern).status == 200);
    CHECK(post(x, call({}), flow::mcp_calls::with(modern, of_trace(1))).status == 200);
    const auto got = post(x, call(one), modern);
    CHECK(got.status == 508);
    const auto error = flow::parsed(got.body)["error"];
    CHECK(error["code"] == -31508);
    CHECK(
        error["data"] == core::json{{"code", "chain_limited"}, {"agent", "a"}, {"retryable", false}, {"limit", "calls"}}
    );
    // The field counts, whatever the message says.
    CHECK(post(x, call(one), flow::mcp_calls::with(modern, of_trace(2))).status == 200);
    for (int i = 0; i < 5; ++i) {
        CHECK(post(x, call({}), modern).status == 200);
        CHECK(post(x, call("no trace"), modern).status == 200);
        const field_list noted{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "notifications/cancelled"}};
        const std::string note = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9,)"
                                 R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})";
        CHECK(post(x, note, flow::mcp_calls::with(noted, of_trace(3))).status == 202);
    }
}

TEST_CASE("A refused chain is one event a minute, a line of the log each, and no failure of the agent")
{
    relayed x{test_support::answer_json(std::string{answered}), with_chains(0, 1)};
    CHECK(ask(x.port(), "a", message_in("one"), of_trace(5)).status == 200);
    for (int i = 0; i < 3; ++i) {
        check_limited(ask(x.port(), "a", message_in("one"), of_trace(5)), "calls");
    }
    const auto event = x.gateway.log().wait_for([](std::string_view line) {
        return line.find(R"("event":"chain_limited")") != std::string_view::npos;
    });
    REQUIRE(event);
    const auto read = flow::parsed(*event);
    CHECK(read["level"] == "warn");
    CHECK(read["agent"] == "a");
    CHECK(read["trace_id"] == of_trace(5).front().second.substr(3, 32));
    CHECK(flow::access_lines(x.gateway, 4).size() == 4);
    const auto lines = x.gateway.log().all();
    const auto events = std::ranges::count_if(lines, [](const std::string& line) {
        return line.find(R"("event":"chain_limited")") != std::string::npos;
    });
    CHECK(events == 1);
    CHECK(x.gateway.wait_for_metric(R"(cardea_agent_calls_total{agent="a",outcome="caller_error"})", 3));
}

TEST_CASE("Without limits no chain has any")
{
    relayed x{test_support::answer_json(std::string{answered}), with_chains(0, 0)};
    for (int i = 0; i < 5; ++i) {
        CHECK(ask(x.port(), "a", message_in("one"), of_trace(1)).status == 200);
    }
}

TEST_CASE("calls/edges tells who calls whom, with the agent that acts as a principal")
{
    relayed x{
        test_support::answer_json(std::string{answered}),
        [](config::settings& settings) {
            settings.chains.calls = 2;
            const auto known = [](const std::string& id) {
                return core::access_provider{
                    "keys-" + id,
                    core::static_token_provider{
                        core::secret{"token-of-" + id + "-1234567"},
                        {.id = id, .provider = "keys-" + id, .tenant = {}, .scopes = {}, .groups = {}, .claims = {}}
                    }
                };
            };
            settings.access.providers = {known("ann"), known("bob")};
            settings.access.rules = {};
            settings.agents[0].discover = settings.agents[0].call = core::access_policy{.anyone = true, .any_of = {}};
            settings.agents.push_back(flow::a2a_agent("b", settings.agents[0].url));
            settings.agents[1].discover = core::access_policy{.anyone = true, .any_of = {}};
            settings.agents[1].call = core::access_policy{.anyone = false, .any_of = {{.providers = {"keys-ann"}}}};
            settings.agents[1].acts_as = {{"keys-bob", "bob"}};
        }
    };
    const auto as = [](const std::string& id) {
        return field_list{{"Authorization", "Bearer token-of-" + id + "-1234567"}};
    };
    for (int i = 0; i < 4; ++i) {
        ask(x.port(), "a", message_in("one"), as("ann"));
    }
    CHECK(ask(x.port(), "a", no_context, as("bob")).status == 200);
    CHECK(ask(x.port(), "b", no_context, as("bob")).status == 403);
    CHECK(ask(x.port(), "a", no_context).status == 200);
    const auto edges = [&](const core::json& params) { return flow::manage(x.gateway, "calls/edges", params); };
    REQUIRE(flow::becomes_true([&] { return edges(core::json::object())["total"] == 4; }));
    const auto all = edges(core::json::object());
    const auto without_time = [](core::json edge) {
        CHECK(edge["last"].get<std::string>().starts_with("20"));
        edge.erase("last");
        return edge;
    };
    CHECK(
        without_time(all["edges"][0]) ==
        core::json{
            {"provider", "keys-ann"},
            {"principal", "ann"},
            {"agent", "a"},
            {"calls", 4},
            {"failed", 0},
            {"refused", 2}
        }
    );
    const auto of_bob = edges({{"principal", "bob"}, {"sort", "refused"}});
    CHECK(of_bob["total"] == 2);
    CHECK(
        without_time(of_bob["edges"][0]) ==
        core::json{
            {"provider", "keys-bob"},
            {"principal", "bob"},
            {"agent", "b"},
            {"calls", 1},
            {"failed", 0},
            {"refused", 1},
            {"caller", "b"}
        }
    );
    CHECK(edges({{"agent", "a"}, {"limit", 1}})["edges"].size() == 1);
    CHECK(edges({{"agent", "a"}, {"limit", 1}})["total"] == 3);
    for (const auto* wrong : {R"({"sort":"name"})", R"({"limit":0})", R"({"limit":1001})", R"({"agent":7})"}) {
        CAPTURE(wrong);
        CHECK(flow::error_of(x.gateway, "calls/edges", wrong)["code"] == -32602);
    }
    CHECK(edges({{"limit", 1000}})["edges"].size() == 4);
}

TEST_SUITE_END();
