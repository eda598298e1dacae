#include "mcp/calls/incoming.hpp"
#include "mcp/translation/modern_messages.hpp"
#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("mcp/translation/modern_request");

using namespace mcp;
using mcp_test::client_text;

namespace {

const std::string version = R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")";
const std::string info = R"("io.modelcontextprotocol/clientInfo":{"name":"c","version":"1.0"})";
const std::string capabilities = R"("io.modelcontextprotocol/clientCapabilities":{"roots":{}})";
const std::string level = R"("io.modelcontextprotocol/logLevel":"debug")";
const std::string meta = version + "," + info + "," + capabilities;

const client_terms terms{.capabilities = R"({"roots":{}})", .info = R"({"name":"c","version":"1.0"})", .level = {}};

std::string sent(const std::string& text, const client_terms& with = terms, const given_input& input = {})
{
    return std::string{to_modern(client_text{text}, with, input).view().text};
}

}  // namespace

TEST_CASE("The terms of a client stand in _meta, and all other bytes stay")
{
    for (const auto& [text, wanted] : {
             std::pair<std::string, std::string>{
                 R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})",
                 R"({"params":{"_meta":{)" + meta + R"(}},"jsonrpc":"2.0","id":1,"method":"tools/list"})"
             },
             {R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}})",
              R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)" + meta + "}}}"},
             {R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{ }})",
              R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)" + meta + "} }}"},
             {R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"t","arguments":{"n":1.50,"big":12345678901234567890}},"more":[1]})",
              R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"_meta":{)" + meta +
                  R"(},"name":"t","arguments":{"n":1.50,"big":12345678901234567890}},"more":[1]})"},
             {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{}}})",
              R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{)" + meta + "}}}"},
             {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":7,"x/y":{"_meta":1}},"name":"t"}})",
              R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{)" + meta +
                  R"(,"progressToken":7,"x/y":{"_meta":1}},"name":"t"}})"},
             {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":null,"name":"t"}})",
              R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{)" + meta + R"(},"name":"t"}})"},
         }) {
        CAPTURE(text);
        CHECK(sent(text) == wanted);
    }
}

TEST_CASE("Terms that stand in a request already are replaced, and no name stands twice")
{
    CHECK(
        sent(
            R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}, "io.modelcontextprotocol/\u006cogLevel":"info"}}})",
            {.capabilities = R"({"roots":{}})", .info = {}, .level = "debug"}
        ) ==
        R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)" + version +
            R"(,"io.modelcontextprotocol/clientCapabilities":{"roots":{}}, "io.modelcontextprotocol/\u006cogLevel":"debug"}}})"
    );
}

TEST_CASE("A level of the log stands in _meta once it is set, and no client is named that did not say its name")
{
    CHECK(
        sent(
            R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"a":1}}})",
            {.capabilities = "{}", .info = {}, .level = "debug"}
        ) == R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)" + version +
                 R"(,"io.modelcontextprotocol/clientCapabilities":{},)" + level + R"(,"a":1}}})"
    );
}

TEST_CASE("Input goes up in params, byte for byte, and replaces what stands there")
{
    const given_input input{.responses = R"({"a":{"action":"accept"}})", .state = R"("v1.\u0061")"};
    const std::string given = R"("inputResponses":{"a":{"action":"accept"}},"requestState":"v1.\u0061")";
    CHECK(
        sent(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{},"name":"t"}})", terms, input) ==
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{)" + given + R"(,"_meta":{)" + meta +
            R"(},"name":"t"}})"
    );
    CHECK(
        sent(
            R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"requestState":"old","name":"t"}})",
            terms,
            input
        ) ==
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"inputResponses":{"a":{"action":"accept"}},"_meta":{)" +
            meta + R"(},"requestState":"v1.\u0061","name":"t"}})"
    );
    CHECK(
        sent(R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})", terms, {.responses = {}, .state = R"("s")"}) ==
        R"({"params":{"requestState":"s","_meta":{)" + meta + R"(}},"jsonrpc":"2.0","id":1,"method":"tools/call"})"
    );
}

TEST_CASE("What the server's side replaces is found where it stands in the new text")
{
    for (const std::string text : {
             R"({"id":"x","jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"progressToken":7},"name":"t"}})",
             R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"t","_meta":{"progressToken":7}},"id":"x"})",
         }) {
        CAPTURE(text);
        const auto made = to_modern(client_text{text}, terms);
        const auto view = made.view();
        CHECK(view.id == R"("x")");
        CHECK(view.progress_token == "7");
        CHECK(view.method == "tools/call");
        CHECK(view.params == members_of(view.text).find("params"));
    }
    const auto bare = to_modern(client_text{R"({"jsonrpc":"2.0","id":5,"method":"tools/list"})"}, terms);
    CHECK(bare.view().id == "5");
}

TEST_CASE("A request that was read before is not read again")
{
    const std::string text = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{}}})";
    auto read = read_incoming(text).message;
    const client_text words{text};
    client_message request = words;
    request.read = &read;
    CHECK(to_modern(request, terms).view().text == sent(text));
    read.members[static_cast<std::size_t>(routed::meta)] = {};
    CHECK(to_modern(request, terms).view().text != sent(text));
}

TEST_CASE("A request of the gateway's own is one that goes up")
{
    const auto own = own_request("7", "server/discover", "{}");
    CHECK(own.view().text == R"({"jsonrpc":"2.0","id":7,"method":"server/discover","params":{}})");
    CHECK(own.view().id == "7");
    CHECK(own.view().params == "{}");
}

TEST_CASE("A client that says much of itself goes up with its name and version alone")
{
    const std::string brief = R"({"name":"c","version":"1","title":"C"})";
    CHECK(short_client_info(brief) == brief);
    const std::string icons(longest_client_info, 'x');
    CHECK(
        short_client_info(R"({"icons":[{"src":"data:)" + icons + R"("}],"version":"1","name":"c\u00e9"})") ==
        R"({"name":"c\u00e9","version":"1"})"
    );
    CHECK(short_client_info(R"({"version":"1","name":")" + icons + R"("})").empty());
    const auto with_name = [&icons](std::size_t raw) {
        return short_client_info(
            R"({"icons":")" + icons + R"(","version":"1","name":")" + std::string(raw - 2, 'n') + "\"}"
        );
    };
    CHECK_FALSE(with_name(longest_client_info / 4 - 1).empty());
    CHECK_FALSE(with_name(longest_client_info / 4).empty());
    CHECK(with_name(longest_client_info / 4 + 1).empty());
    CHECK(short_client_info("").empty());
}

TEST_CASE("The eight levels of the log are known, and no other")
{
    CHECK(is_log_level("debug"));
    CHECK(is_log_level("emergency"));
    CHECK_FALSE(is_log_level("Debug"));
    CHECK_FALSE(is_log_level(""));
}

TEST_SUITE_END();
