// Calls of tools as tasks of A2A: parts of results, events, questions and their answers.
#include "mcp/bridge/a2a_task.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

std::string answer(std::string_view result)
{
    return R"({"jsonrpc":"2.0","id":1,"result":)" + std::string{result} + '}';
}

mcp::tool_outcome outcome(const std::string& text)
{
    const auto event = mcp::read_call_event(text);
    REQUIRE(event.outcome);
    return *event.outcome;
}

constexpr std::string_view form =
    R"({"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}})";

}  // namespace

TEST_CASE("Each block of content becomes a part, and what has no word in A2A becomes data")
{
    struct row {
        std::string_view result;
        std::string_view parts;
    };
    const std::vector<row> rows{
        {R"({"content":[{"type":"text","text":"a\u00e9"}]})", R"([{"text":"a\u00e9"}])"},
        {R"({"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]})",
         R"([{"raw":"AA==","mediaType":"image/png"}])"},
        {R"({"content":[{"type":"audio","data":"AA==","mimeType":"audio/wav"}]})",
         R"([{"raw":"AA==","mediaType":"audio/wav"}])"},
        {R"({"content":[{"type":"resource_link","uri":"a:b","name":"n","mimeType":"text/x"}]})",
         R"([{"url":"a:b","mediaType":"text/x","filename":"n"}])"},
        {R"({"content":[{"type":"resource","resource":{"uri":"a:b","text":"t"}}]})",
         R"([{"text":"t","metadata":{"uri":"a:b"}}])"},
        {R"({"content":[{"type":"resource","resource":{"uri":"a:b","blob":"AA==","mimeType":"x/y"}}]})",
         R"([{"raw":"AA==","mediaType":"x/y","metadata":{"uri":"a:b"}}])"},
        {R"({"content":[],"structuredContent":{"n":12345678901234567890.10}})",
         R"([{"data":{"n":12345678901234567890.10},"mediaType":"application/json"}])"},
        {R"({"resultType":"complete","content":[{"type":"text","text":"a"}],"structuredContent":[1]})",
         R"([{"text":"a"},{"data":[1],"mediaType":"application/json"}])"},
        {R"({"content":[{"type":"new","x":1},7]})",
         R"([{"data":{"type":"new","x":1},"mediaType":"application/json"},{"data":7,"mediaType":"application/json"}])"},
        {R"({"content":[{"type":"text","text":7}]})",
         R"([{"data":{"type":"text","text":7},"mediaType":"application/json"}])"},
        {R"({"content":[]})", ""},
    };
    for (const auto& [result, parts] : rows) {
        CAPTURE(result);
        const auto read = outcome(answer(result));
        CHECK(!read.failed);
        CHECK(read.parts == parts);
    }
}

TEST_CASE("A call fails with the reason that the tool, the server or the text itself gives")
{
    struct row {
        std::string text;
        std::string_view parts;
    };
    const std::vector<row> rows{
        {answer(R"({"isError":true,"content":[{"type":"text","text":"no"}]})"), R"([{"text":"no"}])"},
        {answer(R"({"isError":true,"content":[]})"), R"([{"text":"the tool failed and does not say why"}])"},
        {R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool"}})", R"([{"text":"Unknown tool"}])"
        },
        {R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":""}})", R"([{"text":"error -32603"}])"},
        {answer("{}"), R"([{"text":"the server's answer is not the result of a tool"}])"},
        {answer("7"), R"([{"text":"the server's answer is not the result of a tool"}])"},
        {answer(R"({"resultType":"task","content":[]})"),
         R"([{"text":"the server's answer is not the result of a tool"}])"},
        {"{", R"([{"text":"the server's answer is not a message of MCP"}])"},
        {answer(R"({"resultType":"input_required"})"), R"([{"text":"the server asks for what cannot be read"}])"},
        {answer(R"({"resultType":"input_required","inputRequests":{"k":{"method":"roots/list"}}})"),
         R"([{"text":"the server asks for what callers of A2A are not asked for: roots/list"}])"},
        {answer(
             R"({"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"url","url":"https://a/"}}}})"
         ),
         R"([{"text":"the server asks for what callers of A2A are not asked for: elicitation/create"}])"},
    };
    for (const auto& [text, parts] : rows) {
        CAPTURE(text);
        const auto read = outcome(text);
        CHECK(read.failed);
        CHECK(read.parts == parts);
    }
}

TEST_CASE("Progress is told in words, and no other notification or request is")
{
    const auto words = [](std::string_view params, std::string_view method = "notifications/progress") {
        const auto event = mcp::read_call_event(
            R"({"jsonrpc":"2.0","method":")" + std::string{method} + R"(","params":)" + std::string{params} + '}'
        );
        CHECK(!event.outcome);
        return event.progress.value_or("-");
    };
    CHECK(words(R"({"progressToken":1,"progress":1,"total":4,"message":"half"})") == "1/4 half");
    CHECK(words(R"({"progressToken":1,"progress":0.5})") == "0.5");
    CHECK(words(R"({"progressToken":1,"message":"x"})") == "x");
    CHECK(words(R"({"level":"info","data":"x"})", "notifications/message") == "-");
}

TEST_CASE("A question is shown as text and data, and answered by data or by the only string")
{
    const auto event = mcp::read_call_event(
        answer(R"({"resultType":"input_required","requestState":"st","inputRequests":{"k":)" + std::string{form} + "}}")
    );
    REQUIRE(event.questions.size() == 1);
    CHECK(event.state == R"("st")");
    CHECK(event.questions.front().key == "k");
    const auto& asked = event.questions.front().asked;
    CHECK(
        asked.parts() ==
        R"([{"text":"Sure?"},{"data":{"message":"Sure?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}},"mediaType":"application/json"}])"
    );
    CHECK(
        *asked.answer(R"({"action":"accept","content":{"ok":true}})", {}) ==
        R"({"action":"accept","content":{"ok":true}})"
    );
    CHECK(*asked.answer(R"({"action":"accept"})", {}) == R"({"action":"accept","content":{}})");
    CHECK(*asked.answer(R"({"action":"decline","content":{"ok":true}})", {}) == R"({"action":"decline"})");
    CHECK(*asked.answer(R"({"action":"cancel"})", "text") == R"({"action":"cancel"})");
    for (const auto* data : {"", "{}", "7", R"({"action":"yes"})", R"({"action":"accept","content":7})"}) {
        CAPTURE(data);
        CHECK(asked.answer(data, "yes").error().code == a2a::rpc_code::invalid_params);
    }
    const auto of_text =
        mcp::tool_question::read(R"({"message":"Name?","requestedSchema":{"properties":{"name":{"type":"string"}}}})");
    REQUIRE(of_text.has_value());
    CHECK(*of_text->answer({}, "Ada \"L\"") == R"({"action":"accept","content":{"name":"Ada \"L\""}})");
    CHECK(!of_text->answer({}, {}).has_value());
}

TEST_CASE("A task, its events and a message are written as A2A 1.0 has them")
{
    mcp::a2a_task_view task;
    task.id = "t";
    task.context = "c";
    task.timestamp = "2026-01-01T00:00:00.000Z";
    task.message_id = "t-1";
    task.state = a2a::task_state::completed;
    task.artifact = R"([{"text":"a"}])";
    CHECK(
        mcp::task_text(task) ==
        R"({"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-01T00:00:00.000Z"},)"
        R"("artifacts":[{"artifactId":"result","parts":[{"text":"a"}]}]})"
    );
    CHECK(mcp::task_text(task, false).find("artifacts") == std::string::npos);
    CHECK(
        mcp::artifact_event(task) ==
        R"({"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"result","parts":[{"text":"a"}]},"lastChunk":true}})"
    );
    task.state = a2a::task_state::input_required;
    task.parts = R"([{"text":"?"}])";
    CHECK(
        mcp::status_event(task) ==
        R"({"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_INPUT_REQUIRED",)"
        R"("message":{"messageId":"t-1","contextId":"c","taskId":"t","role":"ROLE_AGENT","parts":[{"text":"?"}]},)"
        R"("timestamp":"2026-01-01T00:00:00.000Z"}}})"
    );
    CHECK(
        mcp::message_text("m", "c", R"([{"text":"a"}])") ==
        R"({"messageId":"m","contextId":"c","role":"ROLE_AGENT","parts":[{"text":"a"}]})"
    );
}
