#include "mcp/translation/request_head.hpp"

#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
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
    return parameter_fields{std::make_shared<const server_lists>(lists)};
}

}  // namespace

TEST_CASE("A call repeats the arguments that its tool wants repeated, in any depth")
{
    auto known = tools();
    CHECK(
        known.of("t", R"({"on":true,"deep":{"n":42},"region":"eu"})") ==
        fields{{"Mcp-Param-Region", "eu"}, {"Mcp-Param-N", "42"}, {"Mcp-Param-On", "true"}}
    );
    CHECK(known.of("plain", R"({"a":"x"})").empty());
    CHECK(known.of("unknown", R"({"region":"eu"})").empty());
}

TEST_CASE("Of 10,000 tools each repeats its own arguments, whatever their order, and so it does once more")
{
    server_lists lists;
    auto& listed = lists.lists[index_of(list_kind::tools)];
    for (int i = 10'000; i > 0; --i) {
        const auto name = std::to_string(i * 7919 % 10'007);
        const auto schema = R"({"properties":{"a":{"type":"string","x-mcp-header":"F)" + name + "\"}}}";
        listed.push_back({.key = name, .raw = R"({"name":")" + name + R"(","inputSchema":)" + schema + "}"});
    }
    parameter_fields known{std::make_shared<const server_lists>(lists)};
    for (const auto* const name : {"7919", "1", "5000"}) {
        const auto wanted = fields{{"Mcp-Param-F" + std::string{name}, "x"}};
        for (int again = 0; again < 2; ++again) {
            CHECK(known.repeats_any(name));
            CHECK(known.of(name, R"({"a":"x"})") == wanted);
        }
    }
    CHECK_FALSE(known.repeats_any("0"));
    CHECK_FALSE(known.repeats_any(""));
}

TEST_CASE("A value that is no plain ASCII is encoded, and one that is absent or of another type has no field")
{
    auto known = tools();
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

TEST_CASE(
    "64 arguments of a tool of 256 KiB are repeated, 8 names deep, with names of 128 bytes and values of 8 KiB, no more"
)
{
    const auto of_schema = [](const std::string& schema, const std::string& arguments) {
        server_lists lists;
        lists.lists[index_of(list_kind::tools)] = {{.key = "t", .raw = R"({"name":"t","inputSchema":)" + schema + "}"}};
        return parameter_fields{std::make_shared<const server_lists>(lists)}.of("t", arguments);
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

        const std::string begin = R"({"properties":{"a":{"x-mcp-header":"A"}},"$comment":")";
        const auto around = begin.size() + std::string_view{R"({"name":"t","inputSchema":"}})"}.size();
        const std::string rest(parameter_fields::longest_tool - around + static_cast<std::size_t>(more), 'c');
        CHECK(of_schema(begin + rest + "\"}", R"({"a":1})").size() == (more <= 0 ? 1 : 0));
    }
}

TEST_CASE("What is repeated of an argument that stands twice is the latter, and of what is no JSON nothing")
{
    auto known = tools();
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
    CHECK(parameter_fields{std::make_shared<const server_lists>(lists)}.of("t", R"({"a":"x","b":"y"})").empty());
}

TEST_CASE("Fields agree with a call that has each argument to be repeated once, by its value, and no other")
{
    auto known = tools();
    const fields nothing;
    const fields eu{{"mcp-param-region", "eu"}};
    for (const auto& [arguments, sent, wanted] : {
             std::tuple<std::string, fields, bool>{R"({"region":"eu"})", eu, true},
             {R"({"\u0072egion":"e\u0075"})", eu, true},
             {R"({"region":"eu"})", {{"Mcp-Param-Region", "=?base64?ZXU=?="}}, true},
             {R"({"region":"K\u00f6ln"})", {{"Mcp-Param-Region", "=?base64?S8O2bG4=?="}}, true},
             {R"({"region":"=?base64?ZXU="})", {{"Mcp-Param-Region", "=?base64?ZXU="}}, true},
             {R"({"region":"eu"})", {{"Mcp-Param-Region", "eu"}, {"Mcp-Param-Other", "x"}, {"traceparent", "y"}}, true},
             {R"({"region":"eu"})", nothing, false},
             {R"({"region":"EU"})", eu, false},
             {R"({"region":"us"})", eu, false},
             {R"({"region":"eu"})", {{"Mcp-Param-Region", "eu"}, {"MCP-PARAM-REGION", "eu"}}, false},
             {R"({"region":"eu"})", {{"Mcp-Param-Region", "=?base64?ZXU?="}}, false},
             {R"({"region":"eu"})", {{"Mcp-Param-Region", "=?base64?Z!U=?="}}, false},
             {R"({"region":""})", nothing, false},
             {R"({"region":""})", {{"Mcp-Param-Region", ""}}, true},
             {"{}", nothing, true},
             {"", nothing, true},
             {"{}", eu, false},
             {R"({"region":null})", nothing, true},
             {R"({"region":null})", {{"Mcp-Param-Region", "null"}}, false},
             {R"({"region":["eu"]})", nothing, true},
             {R"({"region":["eu"]})", eu, false},
             {R"({"deep":{"n":42}})", {{"Mcp-Param-N", "42"}}, true},
             {R"({"deep":{"n":42.0}})", {{"Mcp-Param-N", "42"}}, true},
             {R"({"deep":{"n":42}})", {{"Mcp-Param-N", "4.2e1"}}, true},
             {R"({"deep":{"n":42}})", {{"Mcp-Param-N", "43"}}, false},
             {R"({"deep":{"n":42}})", {{"Mcp-Param-N", ""}}, false},
             {R"({"deep":{"n":"42"}})", {{"Mcp-Param-N", "42.0"}}, false},
             {R"({"deep":{"n":9007199254740992}})", nothing, false},
             {R"({"deep":{"n":9007199254740994}})", nothing, true},
             {R"({"deep":{"n":9007199254740994}})", {{"Mcp-Param-N", "9007199254740994"}}, true},
             {R"({"deep":{"n":9007199254740994}})", {{"Mcp-Param-N", "9007199254740993"}}, false},
             {R"({"deep":{"n":9007199254740993}})", {{"Mcp-Param-N", "9007199254740993"}}, true},
             {R"({"deep":{"n":18446744073709551616}})", nothing, true},
             {R"({"deep":{"n":18446744073709551616}})", {{"Mcp-Param-N", "18446744073709551616"}}, true},
             {R"({"deep":{"n":18446744073709551616}})", {{"Mcp-Param-N", "18446744073709551617"}}, false},
             {R"({"deep":{"n":1e400}})", {{"Mcp-Param-N", "1e400"}}, true},
             {R"({"deep":{"n":1e400}})", {{"Mcp-Param-N", "1"}}, false},
             {R"({"deep":{"n":4.5}})", nothing, true},
             {R"({"deep":{"n":4.5}})", {{"Mcp-Param-N", "4.5"}}, true},
             {R"({"deep":{"n":4.5}})", {{"Mcp-Param-N", "4"}}, false},
             {R"({"deep":{"n":-0}})", {{"Mcp-Param-N", "0"}}, true},
             {R"({"deep":{"n":0}})", {{"Mcp-Param-N", "-0"}}, true},
             {R"({"deep":{"n":42}})", {{"Mcp-Param-N", "042"}}, false},
             {R"({"deep":{"n":42}})", {{"Mcp-Param-N", "0x2a"}}, false},
             {R"({"deep":{"n":42}})", {{"Mcp-Param-N", "nan"}}, false},
             {R"({"region":"K\u00f6ln"})", {{"Mcp-Param-Region", "K\xc3\xb6ln"}}, false},
             {R"({"region":"eu","region":"eu"})", eu, false},
             {R"({"region":"us","\u0072egion":"eu"})", eu, false},
             {R"({"region":"eu","region":null})", eu, false},
             {R"({"deep":{"n":42},"deep":{}})", {{"Mcp-Param-N", "42"}}, false},
             {R"({"deep":{"n":42},"deep":7})", {{"Mcp-Param-N", "42"}}, false},
             {R"({"deep":{"n":42},"deep":7})", nothing, false},
             {R"({"other":{"n":1},"other":{"n":2},"deep":{"n":42,"x":1,"x":2}})", {{"Mcp-Param-N", "42"}}, true},
             {R"([{"region":"eu"}])", nothing, true},
             {R"([{"region":"eu"}])", eu, false},
             {R"({"on":true})", {{"Mcp-Param-On", "true"}}, true},
             {R"({"on":true})", {{"Mcp-Param-On", "1"}}, false},
             {R"({"on":true})", {{"Mcp-Param-On", "True"}}, false},
             {R"({"on":false})", nothing, false},
         }) {
        CAPTURE(arguments);
        CHECK(known.agree("t", arguments, sent) == wanted);
        CHECK(known.agree("plain", arguments, sent));
        CHECK(known.agree("unknown", arguments, sent));
    }
}

TEST_CASE("An argument of any length has its field")
{
    auto known = tools();
    const std::string value(parameter_fields::longest_value + 1, 'v');
    CHECK(known.agree("t", R"({"region":")" + value + "\"}", {{"Mcp-Param-Region", value}}));
    CHECK_FALSE(known.agree("t", R"({"region":")" + value + "\"}", {}));
}

TEST_CASE("Fields of a tool that clients have to reject are not compared")
{
    for (const std::string more : {
             R"("b":{"type":"string","x-mcp-header":"a"})",
             R"("b":{"type":"number","x-mcp-header":"B"})",
             R"("b":{"x-mcp-header":"B"})",
             R"("b":{"type":"string","x-mcp-header":""})",
             R"("b":{"type":"string","x-mcp-header":7})",
             R"("b":{"type":"array","items":{"type":"string","x-mcp-header":"B"}})",
             R"("b":{"anyOf":[{"type":"string","x-mcp-header":"B"}]})",
         }) {
        CAPTURE(more);
        server_lists lists;
        lists.lists[index_of(list_kind::tools)] = {
            {.key = "t",
             .raw =
                 R"({"name":"t","inputSchema":{"properties":{"a":{"x-mcp-header":"A","type":"string"},)" + more + "}}}"}
        };
        CHECK(parameter_fields{std::make_shared<const server_lists>(lists)}.agree("t", R"({"a":"x"})", {}));
    }
    server_lists lists;
    lists.lists[index_of(list_kind::tools)] = {
        {.key = "t",
         .raw =
             R"({"name":"t","inputSchema":{"properties":{"a":{"x-mcp-header":"A","type":"string","description":"x-mcp-header"}}}})"
        }
    };
    CHECK_FALSE(parameter_fields{std::make_shared<const server_lists>(lists)}.agree("t", R"({"a":"x"})", {}));
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
    auto known = tools();
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
    auto known = tools();
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
