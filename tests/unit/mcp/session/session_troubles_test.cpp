#include "mcp/session/session_runner.hpp"
#include "tests/unit/mcp/session/runner_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("mcp/session/session_troubles");

namespace {

using mcp::session_reason;
using mcp::session_state;
using mcp_test::result;
using mcp_test::rig;
using mcp_test::scripted_server;
using lines = std::vector<std::string>;

// Every answer to this method is what `how` makes of its id; the others are as ever.
void answer_with(rig& x, const std::string& method, std::function<std::string(const scripted_server::line&)> how)
{
    x.server.answer = [as_ever = x.server.answer, method, how = std::move(how)](const scripted_server::line& asked) {
        return asked.method == method ? how(asked) : as_ever(asked);
    };
}

std::string answered(const std::string& id, const std::string& what)
{
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + what + "}";
}

std::string too_deep()
{
    return R"({"tools":[{"name":"a","inputSchema":)" + std::string(200, '[') + std::string(200, ']') + "}]}";
}

}  // namespace

TEST_CASE("a list whose answer is refused fails at once, and the reason is told, logged and kept")
{
    struct row {
        const char* why;
        std::function<std::string(const scripted_server::line&)> how;
    };
    const row rows[] = {
        {"nested", [](const auto& asked) { return answered(asked.id, too_deep()); }},
        {"nested",
         [](const auto& asked) { return R"({"result":)" + too_deep() + R"(,"jsonrpc":"2.0","id":)" + asked.id + "}"; }},
        {"", [](const auto& asked) { return answered(asked.id, "{\"tools\":[{\"name\":\"\xff\"}]}"); }},
        {"", [](const auto& asked) { return answered(asked.id, R"({"tools":[],"x":Infinity})"); }},
        {"neither", [](const auto& asked) { return R"({"jsonrpc":"2.0","id":)" + asked.id + "}"; }},
        {"without an id", [](const auto&) { return answered("\"\"", R"({"tools":[]})"); }},
        {"without an id", [](const auto&) { return answered("null", R"({"tools":[]})"); }},
        {"batch", [](const auto& asked) { return "[" + answered(asked.id, R"({"tools":[]})") + "]"; }},
    };
    for (const auto& [why, how] : rows) {
        CAPTURE(why);
        rig x;
        answer_with(x, "tools/list", how);
        x.start();
        REQUIRE(x.wait_for(session_state::degraded));
        CHECK(x.runner->reason() == session_reason::refresh_failed);
        REQUIRE(x.walks.size() == 1);
        CHECK(x.walks[0].value() == mcp::walk_outcome::incomplete);
        CHECK(x.published.size() == 1);
        CHECK(x.runner->detail().find(why) != std::string::npos);
        CHECK(x.runner->detail().find("answer refused: message: ") != std::string::npos);
        CHECK(x.sink.text.find("mcp_message_rejected") != std::string::npos);
        CHECK(
            x.sink.text.find(R"("reason":"refresh_failed","detail":"upstream_protocol: answer refused: message: )") !=
            std::string::npos
        );
    }
}

TEST_CASE("a handshake whose answer is refused is over at once, also of the probe for the era")
{
    rig x;
    x.settings.states.crashes = 1;
    SUBCASE("initialize")
    {
        answer_with(x, "initialize", [](const auto& asked) { return answered(asked.id, "NaN"); });
        x.start();
        REQUIRE(x.wait_for(session_state::failed));
        CHECK(x.runner->reason() == session_reason::handshake_refused);
        CHECK(x.runner->detail().find("answer refused") != std::string::npos);
    }
    SUBCASE("the probe")
    {
        answer_with(x, "server/discover", [](const auto& asked) {
            return R"({"jsonrpc":"2.0","id":)" + asked.id + R"(,"error":"what?"})";
        });
        x.start();
        REQUIRE(x.wait_for(session_state::ready));
        CHECK(x.runner->detail().empty());
    }
}

TEST_CASE("a list that is not answered in a request's time is given up, told with the reason, and cancelled")
{
    bool silent = false;
    bool first = false;
    rig x;
    x.settings.request_timeout = core::duration{100};
    SUBCASE("the first walk")
    {
        first = true;
        answer_with(x, "tools/list", [](const auto&) { return std::string{}; });
        x.start();
        REQUIRE(x.wait_for(session_state::degraded));
        CHECK(x.runner->reason() == session_reason::refresh_failed);
    }
    SUBCASE("a later one")
    {
        x.start();
        REQUIRE(x.wait_for(session_state::ready));
        answer_with(x, "tools/list", [](const auto&) { return std::string{}; });
        x.runner->refresh();
        REQUIRE(x.wait_for(session_state::degraded));
        CHECK(x.runner->reason() == session_reason::refresh_failed);
    }
    SUBCASE("one of the modern era")
    {
        x.settings.states.era = mcp::era_policy::modern;
        x.server.answer = [&silent](const scripted_server::line& asked) {
            const auto* const facts = R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})";
            const auto* const list = R"({"tools":[],"ttlMs":60000})";
            return silent ? std::string{} : result(asked, asked.method == "tools/list" ? list : facts);
        };
        x.start();
        REQUIRE(x.wait_for(session_state::ready));
        silent = true;
        x.runner->refresh();
        REQUIRE(x.wait_for(session_state::degraded));
    }
    CHECK(x.runner->detail() == "upstream_timeout: no answer to tools/list");
    REQUIRE_FALSE(x.walks.empty());
    REQUIRE(x.walks.back().has_value() == first);
    CHECK((first || x.walks.back().error().code == core::errc::upstream_timeout));
    CHECK(x.sink.text.find("mcp_walk_failed") != std::string::npos);
    const auto last = std::ranges::find(x.server.sent, "notifications/cancelled", &scripted_server::line::method);
    CHECK(last != x.server.sent.end());
}

TEST_CASE("a look at the lists ends with what is not answered in a request's time, and the session goes on")
{
    rig x;
    x.settings.request_timeout = core::duration{100};
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    answer_with(x, "tools/list", [](const auto&) { return std::string{}; });
    std::vector<mcp::look_result> seen;
    x.runner->look([&](const mcp::look_result& found) { seen.push_back(found); });
    REQUIRE(x.wait_until([&] { return !seen.empty(); }));
    CHECK(seen[0].error().code == core::errc::upstream_timeout);
    CHECK(x.server.sent.back().method == "notifications/cancelled");
    CHECK(x.runner->state() == session_state::ready);
}

TEST_CASE("what is too long fails the request that it answers, or the only one there is")
{
    rig x;
    std::string beginning;
    answer_with(x, "tools/list", [](const auto&) { return std::string{}; });
    x.start();
    REQUIRE(x.wait_for(session_state::discovering));
    SUBCASE("by its id")
    {
        beginning = R"({"jsonrpc":"2.0","id":)" + x.server.sent.back().id + R"(,"result":{"tools":[)";
    }
    SUBCASE("without one")
    {
        beginning = R"({"result":{"tools":[)";
    }
    x.server.wires.back()->observer().refused(
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{"da)",
        1024
    );
    x.server.wires.back()->observer().refused("xxxx", 1024);
    CHECK(x.runner->state() == session_state::discovering);
    x.server.wires.back()->observer().refused(beginning, 1024);
    CHECK(x.runner->state() == session_state::degraded);
    CHECK(x.runner->detail() == "message_too_large: answer refused: a message is over max_message, 1024 bytes");
    CHECK(x.runner->counts().refused == 3);
    CHECK(
        x.sink.text.find(
            R"("event":"mcp_message_rejected","agent":"agent","detail":"a message is over max_message, 1024 bytes")"
        ) != std::string::npos
    );
    CHECK(x.sink.text.find(R"("limit":1024)") != std::string::npos);
}

TEST_CASE("a refused answer to nobody, or to one of several that cannot be told, fails nothing")
{
    rig x;
    answer_with(x, "tools/list", [](const auto&) { return std::string{}; });
    x.start();
    REQUIRE(x.wait_for(session_state::discovering));
    x.server.say(answered("9999", "NaN"));
    x.server.say(answered("\"another\"", "{}"));
    x.server.say("no JSON");
    CHECK(x.runner->state() == session_state::discovering);
    x.server.say(answered(x.server.sent.back().id, R"({"tools":[]})"));
    REQUIRE(x.wait_for(session_state::ready));
    x.runner->refresh();
    x.runner->look([](const mcp::look_result&) {});
    REQUIRE(std::ranges::count(x.server.methods(), "tools/list") == 3);
    x.server.say(answered("null", "{}"));
    CHECK(x.runner->state() == session_state::ready);
    CHECK(x.walks.size() == 1);
}

TEST_CASE("an optional list that always fails says why, and is asked for less and less often")
{
    rig x;
    x.settings.states.refresh_retry = core::duration{20};
    x.settings.states.refresh_longest = core::duration{160};
    answer_with(x, "initialize", [](const auto& asked) {
        return result(
            asked,
            R"({"protocolVersion":"2025-06-18","serverInfo":{"name":"s","version":"1"},"capabilities":{"tools":{},"prompts":{}}})"
        );
    });
    answer_with(x, "prompts/list", [](const auto& asked) {
        return R"({"jsonrpc":"2.0","id":)" + asked.id + R"(,"error":{"code":-32603,"message":"no database"}})";
    });
    const auto begun = std::chrono::steady_clock::now();
    x.start();
    REQUIRE(x.wait_for(session_state::degraded));
    CHECK(x.runner->reason() == session_reason::refresh_failed);
    CHECK(x.runner->detail() == "prompts/list: answered with the error -32603: no database");
    CHECK(
        x.sink.text.find(R"("event":"mcp_walk_failed","agent":"agent","detail":"prompts/list: answered)") !=
        std::string::npos
    );
    REQUIRE(x.wait_until([&] { return x.walks.size() == 4; }));
    CHECK(std::chrono::steady_clock::now() - begun >= std::chrono::milliseconds{20 + 40 + 80});
    x.server.answer = mcp_test::server_with(&x.tools);
}

TEST_CASE("what is said of a trouble is about that one, also while there are several, and a timeout has words too")
{
    rig x;
    x.settings.states.era = mcp::era_policy::legacy;
    x.settings.states.ping_interval = core::duration{5};
    x.settings.states.ping_timeout = core::duration{30};
    x.settings.states.ping_misses = 2;
    x.settings.states.refresh_retry = core::duration{60'000};
    bool deaf = false;
    x.server.answer = [&, as_ever = x.server.answer](const scripted_server::line& asked) {
        return asked.method == "ping" && deaf ? std::string{} : as_ever(asked);
    };
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    x.server.wires.back()->observer().stream_changed(mcp::stream_news::gone);
    CHECK(x.runner->reason() == session_reason::stream_down);
    CHECK(x.runner->detail().find("stream") != std::string::npos);
    answer_with(x, "tools/list", [](const auto& asked) {
        return R"({"jsonrpc":"2.0","id":)" + asked.id + R"(,"error":{"code":-32603,"message":"no database"}})";
    });
    x.runner->refresh();
    REQUIRE(x.wait_until([&] { return x.walks.size() == 2; }));
    CHECK(x.runner->reason() == session_reason::stream_down);
    CHECK(x.runner->detail().find("tools/list") == std::string::npos);
    x.server.wires.back()->observer().stream_changed(mcp::stream_news::stands);
    CHECK(x.runner->reason() == session_reason::refresh_failed);
    CHECK(x.runner->detail().find("tools/list") != std::string::npos);
    deaf = true;
    REQUIRE(x.wait_until([&] { return x.runner->reason() == session_reason::ping_timeout; }));
    CHECK(x.runner->detail().find("ping") != std::string::npos);
    REQUIRE(x.wait_for(session_state::backoff));
    CHECK(x.runner->reason() == session_reason::ping_timeout);
    CHECK(x.runner->detail().find("tools/list") == std::string::npos);
    CHECK(x.runner->detail().find("ping") != std::string::npos);
}

TEST_CASE("a start and a first walk that take too long say so, and not what went wrong before")
{
    rig x;
    x.settings.states.era = mcp::era_policy::legacy;
    x.settings.states.start_timeout = core::duration{50};
    x.settings.states.discovery_timeout = core::duration{50};
    x.server.down = true;
    x.start();
    REQUIRE(x.wait_for(session_state::backoff));
    CHECK(x.runner->detail().find("nobody there") != std::string::npos);
    SUBCASE("the start")
    {
        x.server.stuck = true;
        REQUIRE(x.wait_until([&] { return x.runner->reason() == session_reason::start_timeout; }));
        CHECK(x.runner->detail().find("start") != std::string::npos);
    }
    SUBCASE("the handshake")
    {
        x.server.down = false;
        answer_with(x, "initialize", [](const auto&) { return std::string{}; });
        REQUIRE(x.wait_until([&] { return x.runner->reason() == session_reason::handshake_timeout; }));
        CHECK(x.runner->detail().find("handshake") != std::string::npos);
    }
    SUBCASE("the walk")
    {
        x.server.down = false;
        answer_with(x, "tools/list", [](const auto&) { return std::string{}; });
        REQUIRE(x.wait_until([&] { return x.runner->reason() == session_reason::refresh_failed; }));
        CHECK(x.runner->detail().find("tools/list") != std::string::npos);
    }
    CHECK(x.runner->detail().find("nobody there") == std::string::npos);
}

TEST_CASE("what did not arrive and is no request is logged, the first of a connection for all to see")
{
    rig x;
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    const auto refused = core::upstream_error(core::errc::upstream_status, "status 500 to notifications/initialized");
    x.server.wires.back()->observer().failed(0, refused, std::nullopt);
    x.server.wires.back()->observer().failed(0, refused, std::nullopt);
    const std::string line =
        R"("event":"mcp_notification_rejected","agent":"agent","detail":"upstream_status: status 500 to notifications/initialized")";
    CHECK(x.sink.text.find(R"("level":"warn",)" + line) != std::string::npos);
    CHECK(x.sink.text.find(R"("level":"debug",)" + line) != std::string::npos);
    CHECK(x.runner->state() == session_state::ready);
}

TEST_CASE("a batch is taken message by message where 2025-03-26 is spoken")
{
    rig x;
    answer_with(x, "initialize", [](const auto& asked) {
        return result(
            asked,
            R"({"protocolVersion":"2025-03-26","serverInfo":{"name":"s","version":"1"},"capabilities":{"tools":{}}})"
        );
    });
    answer_with(x, "tools/list", [](const auto& asked) {
        return R"([{"jsonrpc":"2.0","method":"notifications/message"},{"jsonrpc":"2.0","id":"x","method":"ping"},)" +
               answered(asked.id, R"({"tools":[{"name":"a","inputSchema":{}}]})") + "]";
    });
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(x.published.size() == 1);
    CHECK(x.runner->counts().refused == 0);
    CHECK(x.server.sent.back().text.find(R"("id":"x","result":{})") != std::string::npos);
}

TEST_CASE("a batch that is refused fails every request that it answers")
{
    rig x;
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    answer_with(x, "tools/list", [](const auto&) { return std::string{}; });
    std::string looked;
    x.runner->refresh();
    const auto first = x.server.sent.back().id;
    x.runner->look([&](const mcp::look_result& found) { looked = found ? "found" : found.error().detail; });
    const auto second = x.server.sent.back().id;
    REQUIRE(first != second);
    x.server.say("[" + answered(first, "{}") + "," + answered(second, "{}") + "]");
    CHECK(x.runner->reason() == session_reason::refresh_failed);
    CHECK(looked.find("batch") != std::string::npos);
    CHECK(x.runner->counts().refused == 1);
}

TEST_CASE("who is told that a session has stopped is told so once its probe has ended as well")
{
    rig x;
    x.server.holds_ends = true;
    x.settings.states.probe_patience = core::duration{10};
    x.settings.states.stop_timeout = core::duration{50};
    answer_with(x, "server/discover", [](const auto&) { return std::string{}; });
    x.start();
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(x.server.wires.size() == 2);
    x.runner->stop();
    REQUIRE(x.wait_for(session_state::stopped));
    CHECK(x.states.back().first != session_state::stopped);
    CHECK(x.wait_until([&] { return x.states.back().first == session_state::stopped; }));
    CHECK(x.server.wires.size() <= 1);
}

TEST_SUITE_END();
