#include "gateway/cli/call_messages.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("gateway/cli/call_messages");

namespace {

using core::json;
using namespace gateway::cli;

json parsed(std::string_view text)
{
    auto out = core::parse_json(text);
    REQUIRE(out.has_value());
    return std::move(*out);
}

std::string field(const admin_request& request, std::string_view name)
{
    const auto found = std::ranges::find(request.headers, name, [](const auto& each) { return each.first; });
    return found == request.headers.end() ? std::string{} : found->second;
}

heard read(std::string_view text)
{
    return read_message(parsed(text));
}

heard read_result(const std::string& text)
{
    return read(R"({"jsonrpc":"2.0","id":1,"result":)" + text + "}");
}

}  // namespace

TEST_CASE("A message is written in the words of its generation, with numbers as they were given")
{
    message_to_agent what{.agent = "a.b", .version = "1.0", .text = "Say \"hi\"\n", .document = {}, .id = "m1"};
    const auto first = request_of(what);
    CHECK(first.method == "POST");
    CHECK(first.path == "/try/agents/a.b");
    CHECK(field(first, "A2A-Version") == "1.0");
    CHECK(field(first, "Accept") == "application/json");
    CHECK(
        first.body == R"({"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1",)"
                      R"("role":"ROLE_USER","parts":[{"text":"Say \"hi\"\n"}]}}})"
    );
    what.version = "0.3";
    what.document = R"({"n": 1.50})";
    what.stream = true;
    const auto old = request_of(what);
    CHECK(field(old, "A2A-Version") == "0.3");
    CHECK(field(old, "Accept") == "text/event-stream");
    CHECK(
        old.body == R"({"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"messageId":"m1",)"
                    R"("kind":"message","role":"user","parts":[{"kind":"text","text":"Say \"hi\"\n"},)"
                    R"({"kind":"data","data":{"n": 1.50}}]}}})"
    );
    what.stream = false;
    what.text.clear();
    CHECK(parsed(request_of(what).body)["method"] == "message/send");
    CHECK(parsed(request_of(what).body)["params"]["message"]["parts"].size() == 1);
    what.version = "1.0";
    what.stream = true;
    CHECK(parsed(request_of(what).body)["method"] == "SendStreamingMessage");
}

TEST_CASE("A tool is called as MCP 2026-07-28 has it, and arguments that the tool wants in the head are repeated there")
{
    const auto schema = parsed(
        R"({"properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},)"
        R"("deep":{"type":"object","properties":{"on":{"type":"boolean","x-mcp-header":"On"}}},)"
        R"("none":{"type":"string","x-mcp-header":"None"},"bad":{"type":"string","x-mcp-header":"B d"},"plain":{}}})"
    );
    const auto request = tool_request(
        "files",
        "list \xc3\xa4",
        R"({"region":"\u00e4","n":12,"deep":{"on":true},"none":null,"bad":"x","plain":"y"})",
        schema
    );
    CHECK(request.path == "/try/agents/files/mcp");
    CHECK(field(request, "MCP-Protocol-Version") == "2026-07-28");
    CHECK(field(request, "Mcp-Method") == "tools/call");
    CHECK(field(request, "Mcp-Name") == "=?base64?bGlzdCDDpA==?=");
    CHECK(field(request, "Mcp-Param-Region") == "=?base64?w6Q=?=");
    CHECK(field(request, "Mcp-Param-N") == "12");
    CHECK(field(request, "Mcp-Param-On") == "true");
    CHECK(field(request, "Mcp-Param-None").empty());
    CHECK(field(request, "Mcp-Param-B d").empty());
    const auto body = parsed(request.body);
    CHECK(body["method"] == "tools/call");
    CHECK(body["params"]["name"] == "list \xc3\xa4");
    CHECK(body["params"]["arguments"]["n"] == 12);
    CHECK(body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28");
    CHECK(body["params"]["_meta"]["progressToken"] == 1);
    CHECK_FALSE(parsed(tools_request("files", "").body)["params"].contains("cursor"));
    CHECK(parsed(tools_request("files", "p\"2").body)["params"]["cursor"] == "p\"2");
    CHECK(field(tools_request("files", ""), "Mcp-Method") == "tools/list");
}

TEST_CASE("An agent is called in 1.0 unless it offers older generations alone")
{
    CHECK(version_for(json{}) == "1.0");
    CHECK(version_for(parsed(R"({"supportedInterfaces":[]})")) == "1.0");
    CHECK(
        version_for(parsed(R"({"supportedInterfaces":[{"protocolVersion":"0.3"},{"protocolVersion":"1.0"}]})")) == "1.0"
    );
    CHECK(version_for(parsed(R"({"supportedInterfaces":[{"protocolVersion":"0.3"}]})")) == "0.3");
    CHECK(version_for(parsed(R"({"protocolVersion":"0.3.0","url":"http://h/"})")) == "0.3");
}

TEST_CASE("Messages, tasks and events of both generations are read, with the text of all their parts")
{
    const auto message = read_result(R"({"message":{"role":"ROLE_AGENT","parts":[{"text":"a"},{"data":{"n":1}}]}})");
    CHECK(message.result);
    CHECK(message.text == "a\n{\"n\":1}");
    CHECK(message.failure.empty());
    const auto task = read_result(
        R"({"kind":"task","id":"t","status":{"state":"input-required","message":{"parts":[{"kind":"text","text":"Where?"}]}},)"
        R"("artifacts":[{"parts":[{"kind":"file","file":{"name":"a.png"}}]},{"parts":[{"kind":"text","text":"b"}]}]})"
    );
    CHECK(task.text == "Where?\n[a.png]\nb");
    CHECK(task.state == "input-required");
    CHECK(task.task == "t");
    const auto status =
        read_result(R"({"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}})");
    CHECK(status.text.empty());
    CHECK(status.state == "input-required");
    CHECK(status.task == "t");
    const auto first = read_result(R"({"artifactUpdate":{"taskId":"t","artifact":{"parts":[{"text":"He"}]}}})");
    CHECK_FALSE(first.goes_on);
    const auto next =
        read_result(R"({"kind":"artifact-update","append":true,"artifact":{"parts":[{"kind":"text","text":"llo"}]}})");
    CHECK(next.goes_on);
    CHECK(next.text == "llo");
    CHECK(failure_of("failed") == "the task has failed");
    CHECK(failure_of("completed").empty());
    CHECK(failure_of("input-required").empty());
}

TEST_CASE("Results of tools, their progress, and errors of every kind are read")
{
    const auto content =
        read_result(R"({"content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"},)"
                    R"({"type":"resource","resource":{"uri":"f:a","text":"b"}},{"type":"resource_link","uri":"f:c"}],)"
                    R"("structuredContent":{"n":1}})");
    CHECK(content.text == "a\n[image/png]\nb\n[f:c]");
    CHECK(read_result(R"({"resultType":"complete","content":[],"structuredContent":{"n":1}})").text == R"({"n":1})");
    const auto bad = read_result(R"({"content":[{"type":"text","text":"no"}],"isError":true})");
    CHECK(bad.text == "no");
    CHECK(bad.failure == "the tool reports an error");
    CHECK_FALSE(read_result(R"({"resultType":"input_required","inputRequests":{}})").failure.empty());
    const auto progress =
        read(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"total":3,"message":"half"}})"
        );
    CHECK(progress.progress == "1 of 3: half");
    CHECK_FALSE(progress.result);
    CHECK(
        read(R"({"error":{"code":-32603,"message":"No.","data":{"code":"upstream_refused"}}})").failure ==
        "No. (upstream_refused)"
    );
    CHECK(
        read(R"({"error":{"code":-32001,"message":"No.","data":[{"reason":"TASK_NOT_FOUND"}]}})").failure ==
        "No. (TASK_NOT_FOUND)"
    );
    CHECK(read(R"({"error":{"code":"forbidden","message":"No."}})").failure == "No. (forbidden)");
    CHECK(read(R"({"error":{"code":-32602,"message":"No."}})").failure == "No. (-32602)");
    for (const auto* odd : {"1", "[]", "{}", R"({"result":1})", R"({"error":"x"})", R"({"method":"ping","id":1})"}) {
        CAPTURE(odd);
        CHECK_FALSE(read(odd).result);
    }
}

TEST_CASE("Tools are a table with the names of their arguments, and nothing in it commands the terminal")
{
    CHECK(
        tools_table(
            parsed(R"([{"name":"echo","description":"Says it\nagain","inputSchema":{"properties":{"text":{},"n":{}}}},)"
                   R"({"name":"\u001b[2J"}])")
        ) ==
        "TOOL       ARGUMENTS  DESCRIPTION\n"
        "echo       text, n    Says it\n"
        "\\u001b[2J\n"
    );
}

TEST_SUITE_END();
