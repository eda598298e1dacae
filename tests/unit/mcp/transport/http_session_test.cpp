// Whole sessions over HTTP: the runner, the transports and a server that a test scripts.
#include "mcp/transport/http_transport.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/unit/mcp/session/runner_rig.hpp"
#include "tests/unit/mcp/transport/transport_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("mcp/http_session");

using mcp_test::rig;
using mcp_test::session_reason;
using mcp_test::session_state;
using test_support::answer;
using test_support::answer_json;
using test_support::recorded_request;
using test_support::scripted_agent;

namespace {

constexpr const char* listing = R"({"tools":[{"name":"a","inputSchema":{}}],"ttlMs":60000,"resultType":"complete"})";

bool asks(const recorded_request& asked, const std::string& method)
{
    return asked.body.find("\"method\":\"" + method + "\"") != std::string::npos;
}

std::string reply(const recorded_request& asked, const std::string& what)
{
    const auto from = asked.body.find("\"id\":") + 5;
    const auto id = asked.body.substr(from, asked.body.find_first_of(",}", from) - from);
    return R"({"jsonrpc":"2.0","id":)" + id + what + "}";
}

// What a server of the legacy era answers to a request.
std::string legacy_answer(const recorded_request& asked)
{
    if (asks(asked, "initialize")) {
        return reply(
            asked,
            R"(,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},)"
            R"("serverInfo":{"name":"s","version":"1"}})"
        );
    }
    if (asks(asked, "tools/list")) {
        return reply(asked, std::string{R"(,"result":)"} + listing);
    }
    return reply(asked, asks(asked, "ping") ? R"(,"result":{})" : R"(,"error":{"code":-32601,"message":"no"})");
}

// Knows one session at a time: that with the number `current`.
struct forgetful_server {
    test_support::script operator()(const recorded_request& asked) const
    {
        const auto id = "s-" + std::to_string(current->load());
        if (asks(asked, "server/discover")) {
            return answer(400, R"({"jsonrpc":"2.0","error":{"code":-32000,"message":"no session"},"id":null})");
        }
        if (asks(asked, "initialize")) {
            return answer_json(legacy_answer(asked), {{"Mcp-Session-Id", id}});
        }
        if (asked.header("mcp-session-id") != id) {
            return answer(404, "");
        }
        if (asked.method != "POST") {
            return answer(405, "");
        }
        return asked.body.find("\"id\":") == std::string::npos ? answer(202, "") : answer_json(legacy_answer(asked));
    }

    std::shared_ptr<std::atomic<int>> current = std::make_shared<std::atomic<int>>(1);
};

struct http_rig : rig {
    http_rig()
    {
        loop.timers().start();
        loop.ready().start();
        settings.states.silence_is_legacy = false;
        settings.states.ping_interval = core::duration{20};
    }
    void start_at(const std::string& url)
    {
        mcp::http_settings http;
        http.url = url;
        start(mcp_test::http_factory(loop, client, http));
    }
    void stop()
    {
        runner->stop();
        CHECK(wait_for(session_state::stopped));
    }

    net::exchange_client client{loop, "cardea/1"};
};

std::size_t count(const scripted_agent& agent, const std::string& method)
{
    const auto all = agent.requests();
    return static_cast<std::size_t>(std::ranges::count_if(all, [&](const auto& each) { return asks(each, method); }));
}

}  // namespace

TEST_CASE("a session that the server has forgotten is begun again, once, and the last one is ended with the runner")
{
    forgetful_server server;
    scripted_agent agent{server};
    http_rig x;
    x.start_at(agent.url("/mcp"));
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(x.runner->latest()->server.protocol_version == "2025-06-18");
    CHECK(count(agent, "initialize") == 1);

    server.current->store(2);
    REQUIRE(x.wait_until([&] { return count(agent, "initialize") == 2; }));
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(x.published.size() == 1);
    CHECK(count(agent, "initialize") == 2);
    CHECK(count(agent, "server/discover") == 1);

    x.stop();
    const auto all = agent.requests();
    const auto ended = std::ranges::find(all, "DELETE", &recorded_request::method);
    REQUIRE(ended != all.end());
    CHECK(ended->header("mcp-session-id") == "s-2");
    CHECK(ended->header("mcp-protocol-version") == "2025-06-18");
    CHECK(x.sink.text.find("s-1") == std::string::npos);
}

TEST_CASE("a server of the modern era is asked without a session, and listened to")
{
    const auto serve = [](const recorded_request& asked) {
        if (asked.header("mcp-protocol-version") != "2026-07-28" || !asks(asked, asked.header("mcp-method"))) {
            return answer(400, "");
        }
        if (asks(asked, "subscriptions/listen")) {
            return test_support::event_stream();
        }
        if (asks(asked, "tools/list")) {
            return answer_json(reply(asked, std::string{R"(,"result":)"} + listing));
        }
        return answer_json(reply(
            asked,
            R"(,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},)"
            R"("resultType":"complete","ttlMs":0,"cacheScope":"private"})"
        ));
    };
    scripted_agent agent{serve};
    http_rig x;
    x.settings.states.ping_interval = core::duration{0};
    x.start_at(agent.url("/mcp"));
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(x.runner->latest()->server.protocol_version == "2026-07-28");
    REQUIRE(x.wait_until([&] { return count(agent, "subscriptions/listen") == 1; }));
    REQUIRE(agent.wait_for_streams(1));
    REQUIRE(x.wait_until([&] { return x.runner->counts().walks == 2; }));
    CHECK(count(agent, "tools/list") == 2);
    agent.send_event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
    CHECK(x.wait_until([&] { return count(agent, "tools/list") == 3; }));
    x.stop();
    CHECK(std::ranges::none_of(agent.requests(), [](const auto& each) { return each.method == "DELETE"; }));
}

TEST_CASE("A server over HTTP that comes back in the other era is spoken to in that one, whatever id its refusals have")
{
    for (const auto& [began_modern, with_id] : {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
        CAPTURE(began_modern);
        CAPTURE(with_id);
        std::atomic<bool> modern{began_modern};
        const auto refusal = [with_id](const recorded_request& asked, const std::string& what) {
            return answer(400, with_id ? reply(asked, what) : R"({"jsonrpc":"2.0","id":null)" + what + "}");
        };
        const auto serve = [&modern, refusal](const recorded_request& asked) {
            if (asked.method != "POST") {
                return answer(405, "");
            }
            if (asked.body.find("\"id\":") == std::string::npos) {
                return answer(202, "");
            }
            if (modern && asked.body.find("2026-07-28") == std::string::npos) {
                return refusal(
                    asked,
                    R"(,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"]}})"
                );
            }
            if (modern && asks(asked, "server/discover")) {
                return answer_json(
                    reply(asked, R"(,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})")
                );
            }
            if (!modern && asks(asked, "initialize")) {
                return answer_json(legacy_answer(asked), {{"Mcp-Session-Id", "s-1"}});
            }
            if (!modern && asked.header("mcp-session-id") != "s-1") {
                return refusal(asked, R"(,"error":{"code":-32000,"message":"Bad Request: Server not initialized"})");
            }
            return answer_json(legacy_answer(asked));
        };
        scripted_agent agent{serve};
        http_rig x;
        x.settings.states.ping_interval = core::duration{0};
        x.settings.states.steady_after = core::duration{0};
        x.start_at(agent.url("/mcp"));
        REQUIRE(x.wait_for(session_state::ready));
        modern = !began_modern;
        x.runner->refresh();
        const auto expected = began_modern ? mcp::era::legacy : mcp::era::modern;
        REQUIRE(x.wait_until([&] {
            return x.runner->state() == session_state::ready && x.runner->latest()->server.speaks == expected;
        }));
        CHECK(std::ranges::count(x.states, std::pair{session_state::starting, session_reason::era_changed}) == 1);
        CHECK(
            std::ranges::count(x.states, session_state::backoff, &std::pair<session_state, session_reason>::first) == 0
        );
        x.stop();
    }
}

TEST_CASE("a tool that has to be rejected is not listed, and each walk tells once which and why, masked")
{
    const auto serve = [](const recorded_request& asked) {
        if (asks(asked, "tools/list")) {
            return answer_json(reply(
                asked,
                R"(,"result":{"tools":[{"name":"good","inputSchema":{}},{"name":"tell-s3cret","inputSchema":)"
                R"({"properties":{"p":{"type":"number","x-mcp-header":"P"}}}}],"ttlMs":60000})"
            ));
        }
        return answer_json(reply(asked, R"(,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})")
        );
    };
    scripted_agent agent{serve};
    http_rig x;
    x.settings.states.era = mcp::era_policy::modern;
    x.settings.states.ping_interval = core::duration{0};
    x.settings.headers = mcp::tool_headers::checked;
    x.settings.secrets = std::make_shared<core::redaction>(std::vector<std::string>{"s3cret"});
    x.start_at(agent.url("/mcp"));
    REQUIRE(x.wait_until([&] { return x.runner->counts().walks == 1; }));
    const auto& latest = *x.runner->latest();
    REQUIRE(latest[mcp::list_kind::tools].size() == 1);
    CHECK(latest[mcp::list_kind::tools][0].key == "good");
    const auto told = mcp::joined(latest.left_out);
    CHECK(told.count == 1);
    REQUIRE(told.first.size() == 1);
    CHECK(told.first[0].ends_with(": p: x-mcp-header is not of an integer, a string or a boolean"));
    CHECK(told.first[0].find("s3cret") == std::string::npos);
    const auto line = x.sink.text.find("mcp_items_omitted");
    REQUIRE(line != std::string::npos);
    CHECK(x.sink.text.find("mcp_items_omitted", line + 1) == std::string::npos);
    CHECK(x.sink.text.find(R"("count":1,"first":"tools/list: tell-)", line) != std::string::npos);
    CHECK(x.sink.text.find("s3cret") == std::string::npos);
    x.stop();
}

TEST_CASE("a server that offers no stream of what it says unasked is walked once when its session begins")
{
    scripted_agent agent{forgetful_server{}};
    http_rig x;
    x.start_at(agent.url("/mcp"));
    REQUIRE(x.wait_for(session_state::ready));
    REQUIRE(agent.wait_for([](const auto& all) {
        return std::ranges::any_of(all, [](const auto& each) { return each.method == "GET"; });
    }));
    // Pings go on for longer than the walk would have waited.
    REQUIRE(x.wait_until([&] { return count(agent, "ping") == 5; }));
    CHECK(x.runner->counts().walks == 1);
    CHECK(count(agent, "tools/list") == 1);
    CHECK(x.runner->state() == session_state::ready);
    x.stop();
}

TEST_CASE("an outage says nothing of the era, and is over when it is over")
{
    const auto down = std::make_shared<std::atomic<bool>>(true);
    forgetful_server server;
    scripted_agent agent{[=](const recorded_request& asked) { return *down ? answer(503, "") : server(asked); }};
    http_rig x;
    x.start_at(agent.url("/mcp"));
    REQUIRE(x.wait_until([&] { return x.runner->reason() == session_reason::probe_failed; }));
    CHECK(count(agent, "initialize") >= 1);
    CHECK(
        x.sink.text.find(R"("state":"backoff","reason":"probe_failed","detail":"upstream_status: )") !=
        std::string::npos
    );
    *down = false;
    CHECK(x.wait_for(session_state::ready));
    x.stop();
}

TEST_CASE("A server that answers server/discover with any trouble is a legacy one if it answers initialize")
{
    const std::string page = "<!doctype html><title>Oops</title>";
    const test_support::field_list html{{"Content-Type", "text/html"}};
    for (const auto& trouble : {
             answer(500, ""),
             answer(500, page, html),
             answer_json(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"m"}})"),
             answer(502, page, html),
             answer(503, ""),
             answer(200, page, html),
             answer(401, ""),
             answer(403, ""),
             answer(429, ""),
             test_support::close_unanswered(),
         }) {
        forgetful_server server;
        scripted_agent agent{[=](const recorded_request& asked) {
            return asks(asked, "server/discover") ? trouble : server(asked);
        }};
        http_rig x;
        x.start_at(agent.url("/mcp"));
        REQUIRE(x.wait_for(session_state::ready));
        CHECK(x.runner->latest()->server.protocol_version == "2025-06-18");
        CHECK_FALSE(x.runner->needs_operator());
        CHECK(x.runner->counts().attempts == 1);
        x.stop();
    }
}

TEST_CASE("Of two failures the words of initialize are told if it was answered, and else both")
{
    for (const auto& [refusal, reason, detail] : {
             std::tuple{
                 answer(404, ""),
                 session_reason::probe_failed,
                 "upstream_status: status 500 to server/discover; to initialize: upstream_status: status 404 to "
                 "initialize"
             },
             std::tuple{
                 answer_json(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no licence"}})"),
                 session_reason::handshake_refused,
                 "no licence"
             },
         }) {
        scripted_agent agent{[=](const recorded_request& asked) {
            if (!asks(asked, "initialize")) {
                return answer(500, "");
            }
            auto said = refusal;
            if (reason == session_reason::handshake_refused) {
                said = answer_json(reply(asked, R"(,"error":{"code":-32000,"message":"no licence"})"));
            }
            return said;
        }};
        http_rig x;
        x.settings.states.backoff_first = std::chrono::hours{1};
        x.settings.states.backoff_longest = std::chrono::hours{1};
        x.start_at(agent.url("/mcp"));
        REQUIRE(x.wait_for(session_state::backoff));
        CHECK(x.runner->reason() == reason);
        CHECK(x.runner->detail().find(detail) != std::string::npos);
        x.stop();
    }
}

TEST_CASE("A server that answers nothing is an outage, and asked for its era again")
{
    scripted_agent agent{[](const recorded_request&) { return test_support::silence(); }};
    http_rig x;
    x.settings.states.start_timeout = core::duration{50};
    x.start_at(agent.url("/mcp"));
    REQUIRE(x.wait_for(session_state::backoff));
    CHECK(x.runner->reason() == session_reason::handshake_timeout);
    CHECK(x.runner->detail() == "no answer to the handshake");
    REQUIRE(x.wait_until([&] { return count(agent, "server/discover") == 2; }));
    x.stop();
}

TEST_CASE("A server that answers nothing before initialize is a legacy one, once it has answered that")
{
    forgetful_server server;
    scripted_agent agent{[server](const recorded_request& asked) {
        return asks(asked, "server/discover") ? test_support::silence() : server(asked);
    }};
    http_rig x;
    x.settings.states.probe_patience = core::duration{20};
    x.start_at(agent.url("/mcp"));
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(x.runner->latest()->server.protocol_version == "2025-06-18");
    CHECK(x.runner->counts().connections == 1);
    x.stop();
}

TEST_CASE("a server that is down is a start that failed, and no crash, whatever its era is said to be")
{
    for (const auto era : {mcp::era_policy::legacy, mcp::era_policy::modern}) {
        std::string nobody;
        {
            scripted_agent gone;
            nobody = gone.url("/mcp");
        }
        http_rig x;
        x.settings.states.era = era;
        x.start_at(nobody);
        REQUIRE(x.wait_until([&] {
            return x.runner->counts().connections >= 7 || x.runner->state() == session_state::failed;
        }));
        CHECK(x.runner->reason() == session_reason::start_failed);
        CHECK(x.runner->detail().find("upstream_refused") != std::string::npos);
        CHECK(std::ranges::none_of(x.states, [](const auto& each) { return each.first == session_state::failed; }));
        x.stop();
    }
}

TEST_CASE("A list that is 404 whatever the session is begins one more session, and an error about its method none")
{
    for (const bool as_error : {false, true}) {
        CAPTURE(as_error);
        std::atomic<int> begun = 0;
        scripted_agent agent{[&](const recorded_request& asked) {
            if (asks(asked, "prompts/list")) {
                return answer(404, as_error ? reply(asked, R"(,"error":{"code":-32601,"message":"no"})") : "Not Found");
            }
            auto said = forgetful_server{}(asked);
            if (asks(asked, "initialize")) {
                ++begun;
                auto text = legacy_answer(asked);
                said = answer_json(
                    text.replace(text.find("\"tools\""), 0, R"("prompts":{},)"),
                    {{"Mcp-Session-Id", "s-1"}}
                );
            }
            return said;
        }};
        http_rig x;
        x.start_at(agent.url("/mcp"));
        REQUIRE(x.wait_until([&] { return !x.published.empty(); }));
        CHECK(begun == (as_error ? 1 : 2));
        CHECK(x.runner->latest()->lists[mcp::index_of(mcp::list_kind::tools)].size() == 1);
        for (int i = 0; i < 3; ++i) {
            const auto walked = x.walks.size();
            x.runner->refresh();
            REQUIRE(x.wait_until([&] { return x.walks.size() > walked; }));
        }
        CHECK(x.runner->state() == (as_error ? session_state::ready : session_state::degraded));
        CHECK(begun == (as_error ? 1 : 2));
        x.stop();
    }
}

TEST_CASE("A ping that is 404 whatever the session is begins one more session, which stands")
{
    std::atomic<int> begun = 0;
    std::atomic<int> pings = 0;
    scripted_agent agent{[&](const recorded_request& asked) {
        begun += asks(asked, "initialize") ? 1 : 0;
        if (asks(asked, "ping")) {
            ++pings;
            return answer(404, "Not Found");
        }
        return forgetful_server{}(asked);
    }};
    http_rig x;
    x.start_at(agent.url("/mcp"));
    REQUIRE(x.wait_until([&] { return pings > 6; }));
    CHECK(begun == 2);
    CHECK(x.runner->state() == session_state::ready);
    x.stop();
}

TEST_CASE("a server of 2024-11-05 is a session as long as its stream, and is connected to again")
{
    std::unique_ptr<scripted_agent> agent;
    bool unsaid = false;
    SUBCASE("as it was said to be") {}
    SUBCASE("as it was found to be")
    {
        unsaid = true;
    }
    const auto serve = [&agent](const recorded_request& asked) {
        if (asked.method == "POST" && asked.target == "/sse") {
            return answer(404, "");
        }
        if (asked.method == "GET") {
            auto stream = test_support::event_stream();
            stream.insert(
                stream.end() - 1,
                test_support::bytes{"27\r\nevent: endpoint\ndata: /post?session=1\n\n\r\n"}
            );
            return stream;
        }
        if (asked.body.find("\"id\":") != std::string::npos) {
            agent->send_event(legacy_answer(asked));
        }
        return answer(202, "Accepted");
    };
    agent = std::make_unique<scripted_agent>(serve);
    http_rig x;
    x.settings.states.era = unsaid ? mcp::era_policy::automatic : mcp::era_policy::legacy;
    const auto posts = [&agent] { return count(*agent, "initialize"); };
    mcp::http_settings http;
    http.url = agent->url("/sse");
    x.start(unsaid ? mcp::fallback_factory(x.loop, x.client, http) : mcp::sse_factory(x.loop, x.client, http));
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(x.published.size() == 1);
    CHECK(x.runner->fell_back() == unsaid);
    CHECK((x.sink.text.find("mcp_transport_changed") != std::string::npos) == unsaid);
    const auto before = posts();
    CHECK(before == (unsaid ? 2 : 1));
    agent->cut_streams();
    REQUIRE(x.wait_until([&] { return posts() == before + 1; }));
    REQUIRE(x.wait_for(session_state::ready));
    x.stop();
}

TEST_SUITE_END();
