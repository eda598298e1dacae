// What the tests of MCP clients that call an agent of A2A share: an agent with tasks, the gateway before it, and the texts of clients.
#pragma once

#include "tests/flow/access_fixture.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flow::agent_tools {

using namespace test_support;
using json = nlohmann::json;

inline constexpr std::string_view tasks_extension =
    R"({"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{"form":{}}})";

// An agent whose tasks go as their message says: `ask`, `fail`, `auth`, `work` (until somebody cancels or finishes it), `cut` (the same, and the
// stream breaks off), anything else is done at once.
class task_keeper {
public:
    explicit task_keeper(bool streams)
        : streams_{streams}
    {
    }

    std::string card() const
    {
        return R"({"name":"Tasks","description":"Has tasks.","version":"3","supportedInterfaces":[{"url":"http://127.0.0.1:9/",)"
               R"("protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":)" +
               std::string{streams_ ? "true" : "false"} +
               R"(},"defaultInputModes":["text"],"defaultOutputModes":["text"],"skills":[{"id":")" + skill() +
               R"(","name":"S","description":"Does it","tags":["t"]}]})";
    }

    script operator()(const recorded_request& asked)
    {
        const auto call = json::parse(asked.body, nullptr, /*allow_exceptions=*/false);
        if (!call.is_object() || !call.contains("method") || call["method"] == "tools/list") {
            return answer_json(card());
        }
        const std::lock_guard lock{mutex_};
        if (ill_ != 0) {
            return ill_ > 0 ? then(raw({}), {close_now{}})
                            : answer_json(
                                  R"({"jsonrpc":"2.0","id":)" + call["id"].dump() + R"(,"error":{"code":)" +
                                  std::to_string(ill_) + R"(,"message":"broken here"}})"
                              );
        }
        const auto method = call["method"].get<std::string>();
        const auto& params = call["params"];
        const auto id = call["id"].dump();
        const auto reply = [&id](const json& result) {
            return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result.dump() + "}";
        };
        if (!method.starts_with("Send")) {
            const auto task = tasks_.find(params["id"].get<std::string>());
            if (task == tasks_.end() || method == "SubscribeToTask") {
                return answer_json(
                    R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32001,"message":"unknown here"}})"
                );
            }
            if (method == "CancelTask") {
                set_state(task->second, "CANCELED", "");
            }
            return answer_json(reply(task->second));
        }
        auto& task = begin(params["message"]);
        if (method == "SendMessage") {
            return answer_json(reply({{"task", task}}));
        }
        const bool goes_on = task["status"]["state"] == "TASK_STATE_WORKING";
        const auto event = "data: " + reply({{"task", task}}) + "\n\n";
        if (!goes_on || text_ == "cut") {
            const field_list type{{"Content-Type", "text/event-stream"}};
            const std::string head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100000\r\n\r\n";
            return goes_on ? then(raw({head + event}), {close_now{}}) : answer(200, event, type);
        }
        return then(event_stream(), {});
    }

    // The only task ends.
    void finish()
    {
        const std::lock_guard lock{mutex_};
        for (auto& [id, task] : tasks_) {
            task["artifacts"] = json::array({{{"artifactId", "a"}, {"parts", {{{"text", "the result"}}}}}});
            set_state(task, "COMPLETED", "");
        }
    }

    json first() const
    {
        const std::lock_guard lock{mutex_};
        return tasks_.empty() ? json{} : tasks_.begin()->second;
    }

    // Calls are answered with an error of this code from now on; 1: the connection ends instead.
    void fall_ill(int code)
    {
        const std::lock_guard lock{mutex_};
        ill_ = code;
    }

    // The only task has an artifact of this size.
    void grow(std::size_t size)
    {
        const std::lock_guard lock{mutex_};
        tasks_.begin()->second["artifacts"] =
            json::array({{{"artifactId", "a"}, {"parts", {{{"text", std::string(size, 'x')}}}}}});
    }

    void rename_skill(std::string id)
    {
        const std::lock_guard lock{mutex_};
        skill_ = std::move(id);
    }

private:
    std::string skill() const
    {
        const std::lock_guard lock{mutex_};
        return skill_;
    }

    static void set_state(json& task, const std::string& state, const std::string& said)
    {
        task["status"] = {{"state", "TASK_STATE_" + state}, {"timestamp", "2026-01-02T03:04:05Z"}};
        if (!said.empty()) {
            task["status"]["message"] = {
                {"messageId", "q"},
                {"role", "ROLE_AGENT"},
                {"parts", json::array({{{"text", said}}})}
            };
        }
    }

    json& begin(const json& message)
    {
        text_ = message["parts"][0].value("text", "");
        const bool goes_on = message.contains("taskId");
        const auto id = goes_on ? message["taskId"].get<std::string>() : "t" + std::to_string(tasks_.size() + 1);
        auto& task = tasks_[id];
        task["id"] = id;
        task["contextId"] = "c";
        const std::map<std::string, std::string> states{
            {"ask", "INPUT_REQUIRED"},
            {"fail", "FAILED"},
            {"auth", "AUTH_REQUIRED"},
            {"work", "WORKING"},
            {"cut", "WORKING"},
        };
        const auto found = states.find(text_);
        if (goes_on || found == states.end()) {
            task["artifacts"] = json::array({{{"artifactId", "a"}, {"parts", {{{"text", "you said " + text_}}}}}});
            set_state(task, "COMPLETED", "");
        } else {
            set_state(task, found->second, text_ == "ask" ? "Which one?" : text_);
        }
        return task;
    }

    bool streams_;
    mutable std::mutex mutex_;
    std::string text_;
    std::string skill_ = "s";
    int ill_ = 0;
    std::map<std::string, json> tasks_;
};

struct tools_gateway {
    explicit tools_gateway(bool streams, const relayed::adjustment& adjust = {})
        : tasks{std::make_shared<task_keeper>(streams)},
          x{[keeper = tasks](const recorded_request& asked) { return (*keeper)(asked); }, adjust}
    {
    }

    std::shared_ptr<task_keeper> tasks;
    mutable relayed x;
};

inline std::string modern_text(
    std::string_view method,
    const json& params,
    std::string_view capabilities = "{}",
    const field_list& further = {}
)
{
    auto all = params;
    all["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
    all["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json::parse(capabilities);
    field_list fields{
        {"Content-Type", "application/json"},
        {"Accept", "application/json, text/event-stream"},
        {"MCP-Protocol-Version", "2026-07-28"},
        {"Mcp-Method", std::string{method}}
    };
    for (const auto* name : {"name", "taskId"}) {
        if (params.contains(name)) {
            fields.emplace_back("Mcp-Name", params[name].get<std::string>());
        }
    }
    fields.insert(fields.end(), further.begin(), further.end());
    const json body{{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", all}};
    return request_text("POST", "/agents/a/mcp", fields, body.dump());
}

inline json result_of(const http_response& got)
{
    REQUIRE(got.status == 200);
    const bool events = got.header("Content-Type") == "text/event-stream";
    const auto last = got.body.rfind("data: ");
    const auto text = events ? got.body.substr(last + 6, got.body.find('\n', last) - last - 6) : got.body;
    const auto read = json::parse(text);
    CHECK(read["id"] == 7);
    return read.contains("result") ? read["result"] : read["error"];
}

inline json ask(
    std::uint16_t port,
    std::string_view method,
    const json& params,
    std::string_view capabilities = "{}",
    const field_list& further = {}
)
{
    http_client caller{port};
    caller.send(modern_text(method, params, capabilities, further));
    return result_of(caller.read_response());
}

inline json send_message(std::string_view text, const json& further = json::object())
{
    json arguments{{"message", text}};
    arguments.update(further);
    return {{"name", "send_message"}, {"arguments", arguments}};
}

inline json call_tool(const tools_gateway& with, const json& params, std::string_view capabilities = "{}")
{
    return ask(with.x.port(), "tools/call", params, capabilities);
}

inline bool has_called(const tools_gateway& with, std::string_view method)
{
    return with.x.agent.wait_for([method](const auto& all) {
        return std::ranges::any_of(all, [method](const auto& each) {
            return each.body.find("\"" + std::string{method} + "\"") != std::string::npos;
        });
    });
}

}  // namespace flow::agent_tools
