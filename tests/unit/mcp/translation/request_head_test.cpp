#include "mcp/translation/request_head.hpp"

#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("mcp/translation/request_head");

using namespace mcp;
using mcp_test::client_text;
using fields = std::vector<std::pair<std::string, std::string>>;

namespace {

parameter_fields tools()
{
    server_lists lists;
    lists.lists[index_of(list_kind::tools)] = {
        {.key = "plain", .raw = R"({"name":"plain","inputSchema":{"properties":{"a":{"type":"string"}}}})"},
        {.key = "t",
         .raw =
             R"({"name":"t","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},)"
             R"("deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},"on":{"type":"boolean","x-mcp-header":"On"}}}})"
        },
    };
    return parameter_fields{lists};
}

}  // namespace

TEST_CASE("A call repeats the arguments that its tool wants repeated, in any depth")
{
    const auto known = tools();
    CHECK(
        known.of("t", R"({"on":true,"deep":{"n":42},"region":"eu"})") ==
        fields{{"Mcp-Param-Region", "eu"}, {"Mcp-Param-N", "42"}, {"Mcp-Param-On", "true"}}
    );
    CHECK(known.of("plain", R"({"a":"x"})").empty());
    CHECK(known.of("unknown", R"({"region":"eu"})").empty());
}

TEST_CASE("A value that is no plain ASCII is encoded, and one that is absent or of another type has no field")
{
    const auto known = tools();
    for (const auto& [arguments, wanted] : {
             std::pair<std::string, fields>{R"({"region":"K\u00f6ln"})", {{"Mcp-Param-Region", "=?base64?S8O2bG4=?="}}},
             {R"({"region":" a"})", {{"Mcp-Param-Region", "=?base64?IGE=?="}}},
             {R"({"deep":{"n":-7.0}})", {{"Mcp-Param-N", "-7"}}},
             {R"({"deep":{"n":1e3}})", {{"Mcp-Param-N", "1000"}}},
             {R"({"deep":{"n":1.5}})", {}},
             {R"({"deep":{"n":null},"region":null})", {}},
             {R"({"deep":"n","region":["a"],"on":{}})", {}},
             {"{}", {}},
             {"", {}},
         }) {
        CAPTURE(arguments);
        CHECK(known.of("t", arguments) == wanted);
    }
}

TEST_CASE("A field that would not be one is left out")
{
    server_lists lists;
    lists.lists[index_of(list_kind::tools)] = {
        {.key = "t",
         .raw =
             R"({"name":"t","inputSchema":{"x-mcp-header":"Root","properties":{"a":{"x-mcp-header":"A\r\nB: c"},"b":{"x-mcp-header":""}}}})"
        }
    };
    CHECK(parameter_fields{lists}.of("t", R"({"a":"x","b":"y"})").empty());
}

TEST_CASE("The name of a request is that of its tool, prompt, resource or task")
{
    const auto name = [](const std::string& method, const std::string& params) {
        return head_of(
                   client_text{R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}"},
                   nullptr
        )
            .name;
    };
    CHECK(name("tools/call", R"({"name":"t\u00e9"})") == "t\u00e9");
    CHECK(name("prompts/get", R"({"name":"p"})") == "p");
    CHECK(name("resources/read", R"({"uri":"a:b","name":"x"})") == "a:b");
    CHECK(name("tools/list", R"({"name":"x"})").empty());
    CHECK(name("tools/call", "{}").empty());
}

TEST_CASE("Fields that a request has already stay, and those of its arguments come behind")
{
    const auto known = tools();
    const message_head before{.name = {}, .fields = {{"traceparent", "00"}}};
    mcp::client_message call = client_text{"{}"};
    call.method = "tools/call";
    call.params = R"({"name":"t","arguments":{"region":"eu"}})";
    call.head = &before;
    const auto head = head_of(call, &known);
    CHECK(head.name == "t");
    CHECK(head.fields == fields{{"traceparent", "00"}, {"Mcp-Param-Region", "eu"}});
}

TEST_SUITE_END();
