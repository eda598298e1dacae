#include "mcp/bridge/agent_reply.hpp"

#include "core/json/json.hpp"
#include "mcp/calls/client_capabilities.hpp"
#include "mcp/translation/input_questions.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("mcp/bridge/agent_reply");

using core::json;
using mcp::agent_reply;

namespace {

std::string result(std::string_view raw)
{
    return R"({"jsonrpc":"2.0","id":1,"result":)" + std::string{raw} + "}";
}

std::string task(std::string_view state, std::string_view more = "", std::string_view said = "")
{
    auto status = R"({"state":")" + std::string{state} + R"(","timestamp":"2026-01-02T03:04:05Z")";
    if (!said.empty()) {
        status +=
            R"(,"message":{"messageId":"q1","role":"ROLE_AGENT","parts":[{"text":")" + std::string{said} + R"("}]})";
    }
    return R"({"id":"t-1","contextId":"c-1","status":)" + status + "}" + std::string{more} + "}";
}

agent_reply reply(std::initializer_list<std::string> texts)
{
    agent_reply out;
    for (const auto& each : texts) {
        REQUIRE(out.take(each).has_value());
    }
    return out;
}

json call(const agent_reply& of)
{
    return json::parse(of.call_result("send_message"));
}

constexpr std::string_view now = "2026-11-28T00:00:00Z";

}  // namespace

TEST_CASE("A message becomes the content of a completed call")
{
    const auto got =
        reply({result(R"({"message":{"messageId":"m","contextId":"c","role":"ROLE_AGENT","parts":[{"text":"hello"},)"
                      R"({"data":{"n":12345678901234567890}}]}})")});
    CHECK(got.settled());
    CHECK(
        got.call_result("send_message") ==
        R"({"content":[{"type":"text","text":"hello"},{"type":"text","text":"{\"n\":12345678901234567890}"}],)"
        R"("structuredContent":{"state":"completed","contextId":"c","data":[{"n":12345678901234567890}]},"isError":false})"
    );
}

TEST_CASE("Parts become the blocks that MCP has for them")
{
    const auto got = reply({result(
        R"({"task":)" +
        task(
            "TASK_STATE_COMPLETED",
            R"(,"artifacts":[{"artifactId":"a","parts":[{"raw":"aGk=","mediaType":"image/png"},)"
            R"({"raw":"aGk=","mediaType":"audio/wav"},{"raw":"aGk=","mediaType":"application/pdf","filename":"x.pdf"},)"
            R"({"url":"https://x.example/f","filename":"f","mediaType":"text/html"},{"unknown":1}]}])"
        ) +
        "}"
    )});
    CHECK(
        call(got)["content"].dump() ==
        R"([{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"audio","data":"aGk=","mimeType":"audio/wav"},)"
        R"({"type":"resource","resource":{"uri":"a2a:part/x.pdf","mimeType":"application/pdf","blob":"aGk="}},)"
        R"({"type":"resource_link","uri":"https://x.example/f","name":"f","mimeType":"text/html"}])"
    );
    CHECK(call(got)["structuredContent"].dump() == R"({"state":"completed","taskId":"t-1","contextId":"c-1"})");
}

TEST_CASE("Each state of a task has its result")
{
    struct row {
        std::string_view state;
        std::string_view name;
        bool settled;
        bool error;
        std::string_view of_extension;
    };
    for (const auto& each :
         {row{"TASK_STATE_SUBMITTED", "submitted", false, false, "working"},
          row{"TASK_STATE_WORKING", "working", false, false, "working"},
          row{"TASK_STATE_INPUT_REQUIRED", "input-required", true, false, "input_required"},
          row{"TASK_STATE_COMPLETED", "completed", true, false, "completed"},
          row{"TASK_STATE_FAILED", "failed", true, true, "completed"},
          row{"TASK_STATE_REJECTED", "rejected", true, true, "completed"},
          row{"TASK_STATE_AUTH_REQUIRED", "auth-required", true, true, "completed"},
          row{"TASK_STATE_CANCELED", "canceled", true, false, "cancelled"},
          row{"TASK_STATE_BREWING", "unknown", false, false, "working"}}) {
        CAPTURE(each.state);
        const auto got = reply({result(task(each.state))});
        CHECK(got.settled() == each.settled);
        const auto made = call(got);
        CHECK(made["isError"] == each.error);
        CHECK(made["structuredContent"]["state"] == each.name);
        CHECK(made["structuredContent"]["taskId"] == "t-1");
        CHECK_FALSE(made["content"].empty());
        const auto details = json::parse(got.task_details(now, true, "send_message"));
        CHECK(details["status"] == each.of_extension);
        CHECK(details["resultType"] == "complete");
        CHECK(details.contains("result") == (each.of_extension == "completed"));
        CHECK(details.contains("inputRequests") == (each.of_extension == "input_required"));
        CHECK(details["ttlMs"].is_null());
        CHECK(details["lastUpdatedAt"] == "2026-01-02T03:04:05Z");
    }
}

TEST_CASE("A stream adds up to its task")
{
    auto got = reply(
        {result(R"({"task":)" + task("TASK_STATE_SUBMITTED") + "}"),
         result(R"({"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING","message":)"
                R"({"messageId":"s","role":"ROLE_AGENT","parts":[{"text":"half done"}]}}}})")}
    );
    CHECK(got.take_news() == "half done");
    CHECK_FALSE(got.take_news());
    const auto artifact = [](std::string_view text, std::string_view append) {
        return result(
            R"({"artifactUpdate":{"taskId":"t-1","artifact":{"artifactId":"a","parts":[{"text":")" + std::string{text} +
            R"("}]},"append":)" + std::string{append} + "}}"
        );
    };
    REQUIRE(got.take(artifact("one ", "false")).has_value());
    REQUIRE(got.take(artifact("two", "true")).has_value());
    CHECK_FALSE(got.settled());
    REQUIRE(
        got.take(result(R"({"statusUpdate":{"taskId":"t-1","status":{"state":"TASK_STATE_COMPLETED"}}})")).has_value()
    );
    CHECK(call(got)["content"].dump() == R"([{"type":"text","text":"one two"}])");
    REQUIRE(got.take(artifact("new", "false")).has_value());
    CHECK(call(got)["content"][0]["text"] == "new");
    // A snapshot without artifacts takes none away.
    REQUIRE(got.take(result(task("TASK_STATE_COMPLETED"))).has_value());
    CHECK(call(got)["content"][0]["text"] == "new");
}

TEST_CASE("A question is a form of one text, and its answer a message")
{
    const auto got = reply({result(task("TASK_STATE_INPUT_REQUIRED", "", "Which one?"))});
    REQUIRE(got.asks());
    const auto answer = result(got.question_result());
    const auto asked = mcp::read_asked_input(answer);
    REQUIRE(asked.has_value());
    REQUIRE(asked->has_value());
    REQUIRE((*asked)->requests.size() == 1);
    const auto& request = (*asked)->requests.front();
    CHECK(mcp::may_be_asked(mcp::client_capabilities::read(R"({"elicitation":{}})"), request));
    CHECK(json::parse(request.params)["message"] == "Which one?");
    const auto state = mcp::read_asked_state(json::parse((*asked)->state).get<std::string>());
    REQUIRE(state.has_value());
    CHECK(state->task == "t-1");
    CHECK(state->context == "c-1");
    CHECK(state->key == got.question_key());

    const auto responses = [&](std::string_view raw) {
        return R"({")" + state->key + R"(":)" + std::string{raw} + "}";
    };
    const auto text = mcp::answer_given(responses(R"({"action":"accept","content":{"answer":"the red"}})"), state->key);
    REQUIRE(text.has_value());
    CHECK(text->text == "the red");
    const auto data = mcp::answer_given(responses(R"({"action":"accept","content":{"a":1,"b":"x"}})"), state->key);
    REQUIRE(data.has_value());
    CHECK(data->data == R"({"a":1,"b":"x"})");
    CHECK(mcp::answer_given(responses(R"({"action":"decline"})"), state->key).value().declined);
    CHECK(mcp::answer_given(responses(R"({"action":"cancel"})"), state->key).value().declined);
    CHECK_FALSE(mcp::answer_given(responses(R"({"action":"accept","content":{}})"), state->key));
    CHECK_FALSE(mcp::answer_given("{}", state->key));
    CHECK_FALSE(mcp::answer_given("", state->key));
    CHECK_FALSE(mcp::read_asked_state("{}"));
    CHECK_FALSE(mcp::read_asked_state("nonsense"));
}

TEST_CASE("A client that is not asked reads the question and how to answer it")
{
    const auto got = reply({result(task("TASK_STATE_INPUT_REQUIRED", "", "Which one?"))});
    const auto made = call(got);
    CHECK(made["content"][0]["text"] == "Which one?");
    CHECK(
        made["content"][1]["text"] ==
        "The agent asks for more. Answer with send_message, with taskId t-1 and contextId c-1."
    );
    CHECK(json::parse(got.task_details(now, false, "send_message"))["status"] == "completed");
}

TEST_CASE("Another question of a task has another key")
{
    auto got = reply({result(task("TASK_STATE_INPUT_REQUIRED", "", "Which one?"))});
    const auto first = got.question_key();
    REQUIRE(got
                .take(result(
                    R"({"id":"t-1","status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-01-02T03:04:06Z"}})"
                ))
                .has_value());
    CHECK(got.question_key() != first);
}

TEST_CASE("A task that is handed out has what the extension asks for")
{
    const auto got = reply({result(R"({"task":{"id":"t","status":{"state":"TASK_STATE_SUBMITTED"}}})")});
    CHECK(
        got.task_handle(now) ==
        R"({"taskId":"t","status":"working","createdAt":"2026-11-28T00:00:00Z","lastUpdatedAt":"2026-11-28T00:00:00Z",)"
        R"("ttlMs":null,"pollIntervalMs":1000,"resultType":"task"})"
    );
}

TEST_CASE("An error of the agent is a result for the model")
{
    const auto got = reply({R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no such task"}})"});
    CHECK(got.settled());
    const auto made = call(got);
    CHECK(made["isError"] == true);
    CHECK(made["content"][0]["text"].get<std::string>().find("no such task") != std::string::npos);
    CHECK(got.failure_code() == -32001);
    CHECK_FALSE(made.contains("structuredContent"));
}

TEST_CASE("Texts that are no answers change nothing")
{
    auto got = reply({result(task("TASK_STATE_WORKING"))});
    for (const auto* text :
         {"",
          "[]",
          "nonsense",
          R"({"jsonrpc":"2.0","method":"x"})",
          R"({"jsonrpc":"2.0","id":1,"result":7})",
          R"({"jsonrpc":"2.0","id":1,"result":{}})",
          R"({"jsonrpc":"2.0","id":1,"result":{"id":"t"}})",
          R"({"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t"}}})",
          R"({"jsonrpc":"2.0","id":1,"result":{"id":"t","status":{"state":"TASK_STATE_FAILED"},"artifacts":7}})"}) {
        CAPTURE(text);
        CHECK(got.take(text).error().code == core::errc::upstream_protocol);
        CHECK(got.state() == a2a::task_state::working);
    }
}

TEST_CASE("What is kept is limited, and what is told again counts once")
{
    const std::string long_text(1024 * 1024, 'x');
    const auto whole = result(task(
        "TASK_STATE_WORKING",
        R"(,"artifacts":[{"artifactId":"a","parts":[{"text":")" + long_text + R"("}]}])",
        "half"
    ));
    auto got = reply({whole});
    const auto once = got.bytes();
    CHECK(once > long_text.size());
    for (int i = 0; i < 40; ++i) {
        REQUIRE(got.take(whole).has_value());
    }
    CHECK(got.bytes() == once);
    const auto artifact = [](const std::string& text, std::string_view append) {
        return result(
            R"({"artifactUpdate":{"taskId":"t-1","artifact":{"artifactId":"a","parts":[{"text":")" + text +
            R"("}]},"append":)" + std::string{append} + "}}"
        );
    };
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(got.take(artifact("word ", "true")).has_value());
    }
    CHECK(got.bytes() == once + 5000);
    int added = 0;
    while (added < 100 && got.take(artifact(long_text, "true"))) {
        ++added;
    }
    CHECK(added == 14);
    const auto before = got.bytes();
    const auto content = call(got)["content"];
    CHECK(got.take(artifact(long_text, "true")).error().code == core::errc::event_too_large);
    CHECK(
        got.take(
               result(R"({"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":")" + long_text + R"("}]}})")
        )
            .error()
            .code == core::errc::event_too_large
    );
    CHECK(
        got.take(result(task("TASK_STATE_COMPLETED", "", std::string(2 * long_text.size(), 'y')))).error().code ==
        core::errc::event_too_large
    );
    CHECK(got.bytes() == before);
    CHECK(got.state() == a2a::task_state::working);
    CHECK(call(got)["content"] == content);
    REQUIRE(got.take(artifact("short", "false")).has_value());
    CHECK(got.bytes() < 10'000);
}

TEST_CASE("Many small parts count with what each of them takes")
{
    std::string parts;
    for (int i = 0; i < 10'000; ++i) {
        parts += R"({"data":0},)";
    }
    parts.pop_back();
    agent_reply got;
    int taken = 0;
    while (taken < 100 &&
           got.take(result(
               R"({"artifactUpdate":{"taskId":"t-1","append":true,"artifact":{"artifactId":"a","parts":[)" + parts +
               "]}}}"
           ))) {
        ++taken;
    }
    CHECK(taken >= 30);
    CHECK(taken < 50);
}
