// What counts as the answer to a message over streamable HTTP, and what is told of anything else.
#include "mcp/transport/http_transport.hpp"
#include "tests/unit/mcp/transport/transport_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

TEST_SUITE_BEGIN("mcp/transport/http_answers");

using namespace mcp_test;
using test_support::answer;
using test_support::answer_json;
using test_support::scripted_agent;

TEST_CASE("What comes instead of an answer is told with its type and its first words")
{
    const auto page = "<!doctype html>\n<title>Sign in</title>" + std::string(1000, 'x');
    const test_support::field_list html{{"Content-Type", "text/html; charset=utf-8"}};
    for (const auto& [what, why] : {
             std::pair{
                 answer(200, page, html),
                 "what came is no answer to ping; it sent text/html; charset=utf-8: <!doctype html> <title>Sign "
                 "in</title>x"
             },
             std::pair{
                 answer(502, page, html),
                 "status 502 to ping; it sent text/html; charset=utf-8: <!doctype html> <title>Sign in</title>x"
             },
             std::pair{
                 answer(200, "hello", {{"Content-Type", "text/plain"}}),
                 "what came is no answer to ping; it sent text/plain: hello"
             },
             std::pair{answer(202, ""), "what came is no answer to ping; it sent nothing"},
             std::pair{answer(503, "hello", {{"Content-Type", "text/plain"}}), "status 503 to ping"},
         }) {
        scripted_agent agent{always(what)};
        transport_rig x{agent.url("/mcp")};
        x.open();
        REQUIRE(x.wire->send(ask(1, "ping")).has_value());
        REQUIRE(x.wait_until([&] { return !x.why_failed.empty(); }));
        CHECK(x.why_failed.starts_with(why));
        CHECK(x.why_failed.size() < 400);
    }
}

TEST_CASE("An answer to a post is its answer with the id as a text, and an error also without an id")
{
    const std::string error = R"("error":{"code":-32600,"message":"no"}})";
    for (const auto& [what, received] : {
             std::pair{
                 std::string{R"({"jsonrpc":"2.0","id":"1","result":{}})"},
                 std::string{R"({"jsonrpc":"2.0","id":"1","result":{}})"}
             },
             std::pair{R"({"jsonrpc":"2.0","id":null,)" + error, R"({"jsonrpc":"2.0","id":1,)" + error},
             std::pair{R"({"jsonrpc":"2.0",)" + error, R"({"id":1,"jsonrpc":"2.0",)" + error},
         }) {
        scripted_agent agent{always(answer_json(what))};
        transport_rig x{agent.url("/mcp")};
        x.open();
        REQUIRE(x.wire->send(ask(1, "tools/list")).has_value());
        CHECK(x.wait_for("received " + received));
    }
}

TEST_SUITE_END();
