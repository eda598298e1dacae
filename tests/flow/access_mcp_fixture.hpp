// What the tests of MCP with several principals share: servers that see one identity and know every task and state, over HTTP and as
// programs, and clients of both eras.
#pragma once

#include "tests/flow/access_fixture.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flow::mcp_states {

using core::json;

// A tool `task` becomes a task, one with `task` in its params too; `ask` is answered with a state, and with it is done. `web` of the
// cases, over HTTP, in either era.
class state_server {
public:
    test_support::script operator()(const test_support::recorded_request& asked)
    {
        const std::lock_guard lock{mutex_};
        const auto call = core::parse_json(asked.body);
        if (asked.method == "GET") {
            return events(status_notes());
        }
        if (!call || !call->contains("method") || !call->contains("id")) {
            return test_support::answer(asked.method == "POST" ? 202 : 200, "");
        }
        const auto method = (*call)["method"].get<std::string>();
        const auto params = call->value("params", json::object());
        id_ = (*call)["id"];
        if (method == "initialize") {
            const json begun{
                {"protocolVersion", "2025-11-25"},
                {"capabilities", {{"tools", json::object()}, {"tasks", json::object()}}},
                {"serverInfo", {{"name", "s"}, {"version", "1"}}}
            };
            return test_support::answer_json(result(begun), {{"Mcp-Session-Id", "one"}});
        }
        if (method == "subscriptions/listen") {
            return listened(params);
        }
        return answered(method, params);
    }

private:
    static test_support::script events(const std::vector<std::string>& messages)
    {
        std::string body;
        for (const auto& each : messages) {
            body += "event: message\ndata: " + each + "\n\n";
        }
        return test_support::answer(200, body, {{"Content-Type", "text/event-stream"}});
    }

    std::string result(const json& of) const { return json{{"jsonrpc", "2.0"}, {"id", id_}, {"result", of}}.dump(); }

    test_support::script failed() const
    {
        return test_support::answer_json(
            json{{"jsonrpc", "2.0"}, {"id", id_}, {"error", {{"code", -32602}, {"message", "unknown"}}}}.dump()
        );
    }

    std::vector<std::string> status_notes() const
    {
        std::vector<std::string> notes;
        for (const auto& each : tasks_) {
            notes.push_back(json{
                {"jsonrpc", "2.0"},
                {"method", "notifications/tasks/status"},
                {"params", {{"taskId", each}, {"status", "working"}}}
            }.dump());
        }
        return notes;
    }

    test_support::script listened(const json& params) const
    {
        std::vector<std::string> all{json{
            {"jsonrpc", "2.0"},
            {"method", "notifications/subscriptions/acknowledged"},
            {"params", {{"notifications", params.value("notifications", json::object())}}}
        }.dump()};
        const auto notes = status_notes();
        all.insert(all.end(), notes.begin(), notes.end());
        all.push_back(result({{"resultType", "complete"}}));
        return events(all);
    }

    test_support::script answered(const std::string& method, const json& params)
    {
        if (method == "tasks/list") {
            json list = json::array();
            for (const auto& each : tasks_) {
                list.push_back({{"taskId", each}, {"status", "working"}});
            }
            return test_support::answer_json(result({{"tasks", list}}));
        }
        if (method.starts_with("tasks/")) {
            const auto task = params.value("taskId", "");
            if (std::ranges::find(tasks_, task) == tasks_.end()) {
                return failed();
            }
            if (method == "tasks/result") {
                const json related{{"io.modelcontextprotocol/related-task", {{"taskId", task}}}};
                const json question{
                    {"jsonrpc", "2.0"},
                    {"id", 7},
                    {"method", "elicitation/create"},
                    {"params", {{"_meta", related}}}
                };
                return events({question.dump(), result({{"content", json::array()}, {"_meta", related}})});
            }
            return test_support::answer_json(result({{"resultType", "complete"}, {"taskId", task}, {"of", method}}));
        }
        const auto name = params.value("name", "");
        if (params.contains("task") || name == "task") {
            tasks_.push_back("t" + std::to_string(tasks_.size() + 1));
            const json task{{"taskId", tasks_.back()}, {"status", "working"}};
            const json created{{"resultType", "task"}, {"taskId", tasks_.back()}, {"status", "working"}};
            return test_support::answer_json(result(params.contains("task") ? json{{"task", task}} : created));
        }
        if (name == "ask" && !params.contains("requestState")) {
            return test_support::answer_json(
                result({{"resultType", "input_required"}, {"requestState", "s-1"}, {"inputRequests", json::object()}})
            );
        }
        if (name == "ask") {
            return params["requestState"] == "s-1"
                       ? test_support::answer_json(result({{"resultType", "complete"}, {"content", json::array()}}))
                       : failed();
        }
        if (method == "tools/list" || method == "prompts/list") {
            const auto kind = method.substr(0, method.find('/'));
            return test_support::answer_json(
                result({{kind, {{{"name", "plain"}}, {{"name", "gold"}}}}, {"resultType", "complete"}})
            );
        }
        return test_support::answer_json(result({{"resultType", "complete"}, {"content", json::array()}}));
    }

    std::mutex mutex_;
    std::vector<std::string> tasks_;
    json id_;
};

// The same as a program, whose tasks all processes share: a line of a file each.
inline constexpr const char* shell_server = R"sh(
while read -r line; do
  printf '%s\n' "$line" >> got
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\)[,}].*/\1/p')
  task=$(printf '%s' "$line" | sed -n 's/.*"taskId":"\([^"]*\)".*/\1/p')
  state=$(printf '%s' "$line" | sed -n 's/.*"requestState":"\([^"]*\)".*/\1/p')
  begin='{"jsonrpc":"2.0","id":'$id',"result":'
  unknown='{"jsonrpc":"2.0","id":'$id',"error":{"code":-32602,"message":"unknown"}}'
  touch tasks
  case "$line" in
    *'"method":"initialize"'*)
      echo "$begin"'{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{}},"serverInfo":{"name":"shell","version":"1"}}}';;
    *'"method":"server/discover"'*)
      echo "$begin"'{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"shell","version":"1"}}}}';;
    *'"method":"notifications/'*) ;;
    *'"method":"tasks/list"'*)
      list=$(sed 's/.*/{"taskId":"&","status":"working"}/' tasks | paste -sd, -)
      echo "$begin"'{"tasks":['"$list"']}}';;
    *'"method":"tasks/'*)
      method=$(printf '%s' "$line" | sed -n 's/.*"method":"\([^"]*\)".*/\1/p')
      if grep -qx "$task" tasks; then echo "$begin"'{"resultType":"complete","taskId":"'$task'","of":"'$method'"}}'; else echo "$unknown"; fi;;
    *'"task":{'*|*'"name":"task"'*)
      case "$line" in *'"name":"wait"'*) while [ ! -e go ]; do sleep 0.01; done;; esac
      n=$(wc -l < tasks)
      new=t$((n + 1))
      echo $new >> tasks
      echo '{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"'$new'","status":"working"}}'
      case "$line" in
        *'"task":{'*) echo "$begin"'{"task":{"taskId":"'$new'","status":"working"}}}';;
        *) echo "$begin"'{"resultType":"task","taskId":"'$new'","status":"working"}}';;
      esac;;
    *'"name":"ask"'*)
      if [ -z "$state" ]; then echo "$begin"'{"resultType":"input_required","requestState":"s-1","inputRequests":{}}}'
      elif [ "$state" = s-1 ]; then echo "$begin"'{"resultType":"complete","content":[]}}'
      else echo "$unknown"; fi;;
    *'"method":"tools/list"'*) echo "$begin"'{"resultType":"complete","tools":[{"name":"plain","inputSchema":{}},{"name":"gold","inputSchema":{}}]}}';;
    *'"method":"prompts/list"'*) echo "$begin"'{"resultType":"complete","prompts":[{"name":"plain"},{"name":"gold"}]}}';;
    *) echo "$begin"'{"resultType":"complete","content":[]}}';;
  esac
done
)sh";

// One way to reach a server.
struct way {
    std::string agent;
    bool modern;
};

inline const std::vector<way> ways{{"web", false}, {"web", true}, {"old", false}, {"new", true}};

inline core::agent mcp_agent(const std::string& id, core::mcp_era era)
{
    core::agent record;
    record.id = id;
    record.speaks = core::protocol::mcp;
    record.discover = anyone;
    record.call = anyone;
    auto& server = record.mcp.emplace();
    server.start = core::mcp_start::lazy;
    server.era = era;
    server.warm = 0;
    return record;
}

// With `web`, `free`, which is not bound, and the programs `old` and `new`. Anybody may call them.
struct mcp_servers {
    test_support::scratch_directory folder;
    std::shared_ptr<state_server> state = std::make_shared<state_server>();
    test_support::scripted_agent agent{[state = state](const auto& asked) { return (*state)(asked); }};

    config::settings settings() const
    {
        auto all = guarded(agent.url("/rpc"));
        all.agents.clear();
        for (const auto* id : {"web", "free"}) {
            auto record = mcp_agent(id, core::mcp_era::automatic);
            record.url = agent.url("/mcp");
            record.mcp->bind = record.id == "web";
            all.agents.push_back(std::move(record));
        }
        for (const auto& [id, era] :
             {std::pair{"old", core::mcp_era::legacy}, std::pair{"new", core::mcp_era::modern}}) {
            auto record = mcp_agent(id, era);
            auto& server = *record.mcp;
            server.transport = core::mcp_transport::stdio;
            server.command = "sh";
            server.arguments = {"-c", shell_server};
            server.directory = folder.path().string();
            all.agents.push_back(std::move(record));
        }
        return all;
    }  // namespace

    // How many messages have reached the servers, or how many with this text.
    std::size_t reached(std::string_view with = {}) const
    {
        std::size_t count = 0;
        for (std::size_t i = 0; i < agent.request_count(); ++i) {
            count += agent.request(i).body.find(with) != std::string::npos ? 1 : 0;
        }
        std::ifstream in{folder.file("got")};
        for (std::string line; std::getline(in, line);) {
            count += line.find(with) != std::string::npos ? 1 : 0;
        }
        return count;
    }
};

// A client of one era, in a session of its own if that era has them.
class mcp_client {
public:
    mcp_client(std::uint16_t port, way to, field_list who)
        : port_{port},
          to_{std::move(to)},
          fields_{std::move(who)}
    {
        fields_.emplace_back("Accept", "application/json, text/event-stream");
        if (to_.modern) {
            return;
        }
        const auto begun = begin(port_, to_.agent, fields_);
        REQUIRE(begun.status == 200);
        fields_.emplace_back("Mcp-Session-Id", begun.header("Mcp-Session-Id"));
        fields_.emplace_back("MCP-Protocol-Version", "2025-11-25");
    }

    // A session, if the server is ready for one.
    static http_response begin(std::uint16_t port, const std::string& agent, field_list fields)
    {
        fields.emplace_back("Content-Type", "application/json");
        test_support::http_client caller{port};
        caller.send(test_support::request_text(
            "POST",
            "/agents/" + agent + "/mcp",
            fields,
            R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
            R"("capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}})"
        ));
        return caller.read_response();
    }

    http_response ask(std::string_view method, json params) const
    {
        test_support::http_client caller{port_};
        caller.send(text_of(method, std::move(params)));
        return caller.read_response();
    }

    // The whole request.
    std::string text_of(std::string_view method, json params) const
    {
        field_list fields;
        if (to_.modern) {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json::object();
            fields.emplace_back("MCP-Protocol-Version", "2026-07-28");
            fields.emplace_back("Mcp-Method", method);
            for (const auto* name : {"name", "taskId"}) {
                if (params.contains(name) && params[name].is_string()) {
                    fields.emplace_back("Mcp-Name", params[name].get<std::string>());
                }
            }
        }
        // The order of a client's members: the shell looks for the id in front.
        const auto body =
            R"({"jsonrpc":"2.0","id":7,"method":")" + std::string{method} + R"(","params":)" + params.dump() + "}";
        return posted(body, fields);
    }

    // The result; null: an error of an unknown task, state or name.
    json result(std::string_view method, const json& params) const
    {
        const auto got = ask(method, params);
        const auto message = message_of(got);
        CHECK(message["id"] == 7);
        if (message.contains("error")) {
            CHECK(message["error"]["code"] == -32602);
            return nullptr;
        }
        CHECK(got.status == 200);
        return message["result"];
    }

    http_response listen(const field_list& more = {}) const
    {
        auto fields = fields_;
        fields.insert(fields.end(), more.begin(), more.end());
        return request(port_, "GET", target(), fields);
    }

    // The id of a new task.
    std::string begin_task() const
    {
        const auto made = to_.modern ? result("tools/call", {{"name", "task"}})
                                     : result("tools/call", {{"name", "x"}, {"task", json::object()}});
        return (to_.modern ? made : made["task"])["taskId"].get<std::string>();
    }

    std::string session() const { return to_.modern ? "" : fields_[fields_.size() - 2].second; }

    // The last message of an answer that may be a stream.
    static json message_of(const http_response& got)
    {
        const auto at = got.body.rfind("data: {");
        return parsed(at == std::string::npos ? got.body : got.body.substr(at + 6, got.body.find('\n', at) - at - 6));
    }

private:
    std::string target() const { return "/agents/" + to_.agent + "/mcp"; }

    std::string posted(const std::string& body, const field_list& more = {}) const
    {
        auto fields = fields_;
        fields.insert(fields.end(), more.begin(), more.end());
        fields.emplace_back("Content-Type", "application/json");
        return test_support::request_text("POST", target(), fields, body);
    }

    std::uint16_t port_;
    way to_;
    field_list fields_;
};

}  // namespace flow::mcp_states
