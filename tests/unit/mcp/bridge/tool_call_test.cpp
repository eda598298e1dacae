// Which tool a message of A2A calls, with which arguments, and what is refused.
#include "mcp/bridge/tool_call.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using core::json;

mcp::listed_item tool(std::string_view name, std::string_view schema, std::string_view description = {})
{
    json out{{"name", name}, {"inputSchema", *core::parse_json(schema)}};
    if (!description.empty()) {
        out["description"] = description;
    }
    return {std::string{name}, core::to_text(out)};
}

constexpr std::string_view one_text =
    R"({"type":"object","properties":{"message":{"type":"string"}},"required":["message"]})";
constexpr std::string_view two_numbers =
    R"({"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]})";

mcp::server_lists lists_of(std::vector<mcp::listed_item> tools)
{
    mcp::server_lists out;
    out.lists[mcp::index_of(mcp::list_kind::tools)] = std::move(tools);
    return out;
}

const mcp::server_lists several =
    lists_of({tool("echo", one_text, "Repeats. Nothing else."), tool("sum", two_numbers)});
const mcp::server_lists single = lists_of({tool("echo", one_text)});

std::string send(std::string_view parts, std::string_view more = {}, std::string_view of_request = {})
{
    return R"({"message":{"messageId":"m","role":"ROLE_USER","parts":)" + std::string{parts} + std::string{more} + '}' +
           std::string{of_request} + '}';
}

// `name arguments`, `skills` where the message does not say, or the member and why it is refused.
std::string outcome(const std::string& params, const mcp::server_lists& lists = several)
{
    const auto said = mcp::read_a2a_message(params);
    if (!said) {
        return std::to_string(said.error().code) + ' ' + said.error().member;
    }
    const auto call = mcp::choose_tool(*said, {lists, nullptr, nullptr});
    if (!call) {
        return std::to_string(call.error().code) + ' ' + call.error().member;
    }
    return *call ? (*call)->name + ' ' + (*call)->arguments : "skills";
}

}  // namespace

TEST_CASE("A message names its skill in its metadata, in those of the request, or in a data part")
{
    struct row {
        std::string params;
        std::string expected;
    };
    const auto* const text = R"([{"text":"hi"}])";
    const std::vector<row> rows{
        {send(text, R"(,"metadata":{"skillId":"echo"})"), R"(echo {"message":"hi"})"},
        {send(text, R"(,"metadata":{"skill":"echo"})"), R"(echo {"message":"hi"})"},
        {send(text, {}, R"(,"metadata":{"skillId":"echo"})"), R"(echo {"message":"hi"})"},
        {send(text, R"(,"metadata":{"skillId":"echo"})", R"(,"metadata":{"skillId":"sum"})"), R"(echo {"message":"hi"})"
        },
        {send(R"([{"data":{"skill":"sum","arguments":{"a":1,"b":2.50}}}])"), R"(sum {"a":1,"b":2.50})"},
        {send(R"([{"data":{"tool":"sum","arguments":{"a": 1}}}])"), R"(sum {"a":1})"},
        {send(R"([{"data":{"tool":"sum"}}])"), "sum {}"},
        {send(R"([{"text":"hi"},{"data":{"tool":"echo"}}])"), R"(echo {"message":"hi"})"},
        {send(R"([{"text":"please"},{"data":{"a":12345678901234567890}}])", R"(,"metadata":{"skillId":"sum"})"),
         R"(sum {"a":12345678901234567890})"},
        {send(R"([{"text":" "}])", R"(,"metadata":{"skillId":"sum"})"), "sum {}"},
        {send(R"([{"text":"a"},{"text":"b"}])", R"(,"metadata":{"skillId":"echo"})"), R"(echo {"message":"a\nb"})"},
    };
    for (const auto& [params, expected] : rows) {
        CAPTURE(params);
        CHECK(outcome(params) == expected);
    }
}

TEST_CASE("A message without a skill calls the only tool, and else nothing is guessed")
{
    CHECK(outcome(send(R"([{"text":"hi"}])"), single) == R"(echo {"message":"hi"})");
    CHECK(outcome(send(R"([{"data":{"message":"hi","x":null}}])"), single) == R"(echo {"message":"hi","x":null})");
    CHECK(outcome(send(R"([{"text":"hi"}])")) == "skills");
    CHECK(outcome(send(R"([{"data":{"message":"hi"}}])")) == "skills");
    CHECK(outcome(send(R"([{"text":"1 and 2"}])", R"(,"metadata":{"skillId":"sum"})")) == "skills");
    CHECK(outcome(send(R"([{"text":"hi"}])"), lists_of({})) == "skills");
}

TEST_CASE("A message that no call can be made of is refused with the member that is wrong")
{
    struct row {
        std::string params;
        std::string expected;
    };
    const auto* const text = R"([{"text":"hi"}])";
    const std::vector<row> rows{
        {"", "-32602 params"},
        {"[]", "-32602 params"},
        {R"({"message":7})", "-32602 message"},
        {R"({"message":{"messageId":"m","role":"ROLE_AGENT","parts":[]}})", "-32602 message.role"},
        {R"({"message":{"role":"ROLE_USER","parts":[]}})", "-32602 message.messageId"},
        {send("[]"), "-32602 message.parts"},
        {send("{}"), "-32602 message.parts"},
        {send("[7]"), "-32602 message.parts[0]"},
        {send(R"([{}])"), "-32602 message.parts[0]"},
        {send(R"([{"text":7}])"), "-32602 message.parts[0].text"},
        {send(R"([{"text":"a","data":{}}])"), "-32602 message.parts[0]"},
        {send(R"([{"text":"a"},{"raw":"AA=="}])"), "-32602 message.parts[1]"},
        {send(R"([{"url":"https://a/"}])"), "-32602 message.parts[0]"},
        {send(R"([{"data":{}},{"data":{}}])"), "-32602 message.parts[1]"},
        {send(text, R"(,"metadata":7)"), "-32602 message.metadata"},
        {send(text, R"(,"metadata":{"skillId":7})"), "-32602 message.metadata.skillId"},
        {send(text, R"(,"metadata":{"skillId":"echo","skill":"sum"})"), "-32602 message.metadata.skill"},
        {send(text, R"(,"metadata":{"skillId":"none"})"), "-32602 metadata.skillId"},
        {send(R"([{"data":{"skill":"none"}}])"), "-32602 data"},
        {send(R"([{"data":{"skill":7}}])"), "-32602 data"},
        {send(R"([{"data":{"skill":"echo","tool":"sum"}}])"), "-32602 data"},
        {send(R"([{"data":{"skill":"sum","arguments":[1]}}])"), "-32602 data.arguments"},
        {send(R"([{"data":[1]}])", R"(,"metadata":{"skillId":"sum"})"), "-32602 data"},
        {send(text, R"(,"contextId":7)"), "-32602 message.contextId"},
        {send(text, R"(,"taskId":")" + std::string(257, 'a') + '"'), "-32602 message.taskId"},
        {send(text, {}, R"(,"configuration":7)"), "-32602 configuration"},
        {send(text, {}, R"(,"configuration":{"returnImmediately":1})"), "-32602 configuration.returnImmediately"},
        {send(text, {}, R"(,"configuration":{"taskPushNotificationConfig":{"url":"https://a/"}})"),
         "-32003 configuration.taskPushNotificationConfig"},
    };
    for (const auto& [params, expected] : rows) {
        CAPTURE(params);
        CHECK(outcome(params) == expected);
    }
}

TEST_CASE("A message has at most 64 parts, and waits unless it says otherwise")
{
    std::string parts;
    for (std::size_t i = 0; i < mcp::most_message_parts; ++i) {
        parts += R"({"text":"a"},)";
    }
    parts.pop_back();
    CHECK(mcp::read_a2a_message(send('[' + parts + ']')).has_value());
    CHECK(outcome(send('[' + parts + R"(,{"text":"a"}])")) == "-32602 message.parts");
    CHECK(mcp::read_a2a_message(send(R"([{"text":"a"}])"))->waits);
    CHECK(!mcp::read_a2a_message(send(R"([{"text":"a"}])", {}, R"(,"configuration":{"returnImmediately":true})"))->waits
    );
}

TEST_CASE("A hidden tool is unknown, a renamed one is called by its new name, and scopes count")
{
    core::mcp_server server;
    server.tools.deny = {"sum"};
    server.tools.names = {{"echo", "repeat"}};
    const mcp::name_filters filters{server, {}};
    const mcp::visible_tools seen{several, &filters, nullptr};
    CHECK(!seen.find("sum"));
    CHECK(!seen.find("echo"));
    REQUIRE(seen.find("repeat"));
    CHECK(seen.find("repeat")->item->key == "echo");
    CHECK(seen.first(9).size() == 1);

    const mcp::name_filters scoped{
        core::mcp_server{},
        {{.id = "sum", .visibility = core::skill_visibility::extended, .required_scopes = {"math"}}}
    };
    const std::vector<std::string> scopes{"math"};
    CHECK(!mcp::visible_tools{several, &scoped, nullptr}.find("sum"));
    CHECK(mcp::visible_tools{several, &scoped, &scopes}.find("sum"));
}

TEST_CASE("The list of skills names 50 at most, and takes 16 KiB at most")
{
    const auto few = *core::parse_json(mcp::skills_parts({several, nullptr, nullptr}));
    REQUIRE(few.size() == 2);
    CHECK(few[0]["text"].get<std::string>().ends_with("\n- echo: Repeats.\n- sum"));
    CHECK(few[1]["data"]["skills"][0]["id"] == "echo");
    CHECK(few[1]["data"]["skills"][0]["inputSchema"] == *core::parse_json(one_text));
    CHECK(few[1]["data"]["more"] == false);
    for (const auto count : {std::size_t{50}, std::size_t{51}, std::size_t{3000}}) {
        CAPTURE(count);
        std::vector<mcp::listed_item> tools;
        for (std::size_t i = 0; i < count; ++i) {
            tools.push_back(tool("t" + std::to_string(i), two_numbers, std::string(100, '"')));
        }
        const auto many = lists_of(std::move(tools));
        const auto text = mcp::skills_parts({many, nullptr, nullptr});
        CHECK(text.size() <= mcp::most_told_bytes);
        const auto read = *core::parse_json(text);
        const auto shown = read[1]["data"]["skills"].size();
        CHECK(shown <= mcp::most_told_skills);
        CHECK(shown > 10);
        CHECK(read[1]["data"]["more"] == (shown < count));
    }
}

TEST_CASE("The request has what the modern era wants in it, and the input of a question")
{
    const mcp::tool_call call{.name = "e\"cho", .arguments = R"({"a":1.0})"};
    CHECK(
        mcp::tool_call_text(call, R"({"name":"c"})") ==
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"e\"cho","arguments":{"a":1.0},)"
        R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"},)"
        R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},"progressToken":1}}})"
    );
    const auto again = *core::parse_json(
        mcp::tool_call_text(call, "{}", {.responses = R"({"k":{"action":"decline"}})", .state = R"("s")"})
    );
    CHECK(again["params"]["inputResponses"]["k"]["action"] == "decline");
    CHECK(again["params"]["requestState"] == "s");
}

TEST_CASE("Arguments that a tool wants in header fields are repeated there")
{
    const auto of_region = lists_of({tool(
        "find",
        R"({"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"]})"
    )});
    const auto said = mcp::read_a2a_message(send(R"([{"text":"eu"}])"));
    const auto call = mcp::choose_tool(*said, {of_region, nullptr, nullptr});
    REQUIRE(call.has_value());
    REQUIRE(*call);
    REQUIRE((*call)->fields.size() == 1);
    CHECK((*call)->fields.front() == std::pair<std::string, std::string>{"Mcp-Param-Region", "eu"});
}
