#include "mcp/translation/request_head.hpp"

#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
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

TEST_CASE("64 arguments of a tool are repeated, 8 names deep, with names of 128 bytes and values of 8 KiB, and no more")
{
    const auto of_schema = [](const std::string& schema, const std::string& arguments) {
        server_lists lists;
        lists.lists[index_of(list_kind::tools)] = {{.key = "t", .raw = R"({"name":"t","inputSchema":)" + schema + "}"}};
        return parameter_fields{lists}.of("t", arguments);
    };
    const std::string one = R"({"properties":{"a":{"x-mcp-header":"A"}}})";
    for (const int more : {-1, 0, 1}) {
        CAPTURE(more);
        const auto count = parameter_fields::most + static_cast<std::size_t>(more);
        std::string properties;
        std::string arguments;
        for (std::size_t i = 0; i < count; ++i) {
            const auto name = '"' + std::to_string(i) + "\":";
            properties += (i == 0 ? "" : ",") + name + R"({"x-mcp-header":"F)" + std::to_string(i) + "\"}";
            arguments += (i == 0 ? "" : ",") + name + std::to_string(i);
        }
        CHECK(
            of_schema(R"({"properties":{)" + properties + "}}", "{" + arguments + "}").size() ==
            std::min(count, parameter_fields::most)
        );

        std::string schema = R"({"x-mcp-header":"Deep"})";
        std::string deep = "1";
        for (int i = 0; i < static_cast<int>(parameter_fields::deepest) + more; ++i) {
            schema = R"({"properties":{"p":)" + schema + "}}";
            deep = R"({"p":)" + deep + "}";
        }
        CHECK(of_schema(schema, deep).size() == (more <= 0 ? 1 : 0));

        const std::string name(parameter_fields::longest_name + static_cast<std::size_t>(more), 'n');
        const auto named = of_schema(R"({"properties":{"a":{"x-mcp-header":")" + name + "\"}}}", R"({"a":1})");
        CHECK(named.size() == (more <= 0 ? 1 : 0));

        const std::string value(parameter_fields::longest_value - 2 + static_cast<std::size_t>(more), 'v');
        CHECK(of_schema(one, R"({"a":")" + value + "\"}").size() == (more <= 0 ? 1 : 0));
    }
}

TEST_CASE("What is repeated of an argument that stands twice is the latter, and of what is no JSON nothing")
{
    const auto known = tools();
    CHECK(known.of("t", R"({"region":"a","\u0072egion":"b"})") == fields{{"Mcp-Param-Region", "b"}});
    CHECK(known.of("t", R"({"region":"a",)").empty());
    CHECK(known.of("t", R"(["region"])").empty());
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

TEST_CASE("A name that a request has already is not looked for, unless its tool wants arguments repeated")
{
    const auto known = tools();
    mcp::client_message call = client_text{"{}"};
    call.method = "tools/call";
    call.params = R"({"name":"other","arguments":{"region":"eu"}})";
    message_head before{.name = "plain", .fields = {}};
    call.head = &before;
    CHECK(head_of(call, &known).name == "plain");
    call.params = R"({"name":"t","arguments":{"region":"eu"}})";
    before.name = "t";
    CHECK(head_of(call, &known).fields == fields{{"Mcp-Param-Region", "eu"}});
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
