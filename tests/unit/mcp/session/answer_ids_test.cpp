#include "mcp/session/session_runner.hpp"
#include "tests/unit/mcp/session/runner_rig.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

TEST_SUITE_BEGIN("mcp/session/answer_ids");

namespace {

using mcp::session_reason;
using mcp::session_state;
using mcp_test::rig;
using mcp_test::scripted_server;

// Every answer to this method is what `how` makes of its id; the others are as ever.
void answer_with(rig& x, const std::string& method, std::function<std::string(const scripted_server::line&)> how)
{
    x.server.answer = [as_ever = x.server.answer, method, how = std::move(how)](const scripted_server::line& asked) {
        return asked.method == method ? how(asked) : as_ever(asked);
    };
}

}  // namespace

TEST_CASE("An answer whose id is the request's number as a text, or with a fraction or an exponent of 0, is its answer")
{
    for (const auto* const method : {"initialize", "tools/list"}) {
        for (const std::string end : {"\"", ".0", "e0"}) {
            CAPTURE(method);
            CAPTURE(end);
            rig x;
            const auto as_ever = x.server.answer;
            answer_with(x, method, [&](const auto& asked) {
                auto text = as_ever(asked);
                const auto spelled = end == "\"" ? end + asked.id + end : asked.id + end;
                return text.replace(text.find("\"id\":") + 5, asked.id.size(), spelled);
            });
            x.start();
            REQUIRE(x.wait_for(session_state::ready));
            CHECK(x.sink.text.find("mcp_message_rejected") == std::string::npos);
        }
    }
}

TEST_CASE("An error without an id is the answer to the only request that is open")
{
    for (const std::string id : {R"("id":null,)", R"("id":"",)", ""}) {
        CAPTURE(id);
        rig x;
        x.settings.states.crashes = 1;
        answer_with(x, "initialize", [&](const auto&) {
            return R"({"jsonrpc":"2.0",)" + id + R"("error":{"code":-32600,"message":"not today"}})";
        });
        x.start();
        REQUIRE(x.wait_for(session_state::failed));
        CHECK(x.runner->reason() == session_reason::handshake_refused);
        CHECK(x.runner->detail().find("not today") != std::string::npos);
    }
}

TEST_CASE("An answer without its version of JSON-RPC ends the request that it names, and the log says so")
{
    rig x;
    answer_with(x, "tools/list", [](const auto& asked) {
        return R"({"id":)" + asked.id + R"(,"result":{"tools":[]}})";
    });
    x.start();
    REQUIRE(x.wait_for(session_state::degraded));
    CHECK(x.runner->detail().find("jsonrpc is not") != std::string::npos);
    CHECK(x.sink.text.find("mcp_message_rejected") != std::string::npos);
    CHECK(x.server.opened == 1);
}

TEST_SUITE_END();
