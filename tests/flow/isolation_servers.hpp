// The servers of the callers that have equal ids and different rights: each says what it was told, and notices who may not call it.
#pragma once

#include "tests/support/plain_agent.hpp"
#include "tests/support/script.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flow::isolation {

using test_support::plain_exchange;
using json = nlohmann::json;

inline constexpr std::size_t callers = 50;
inline constexpr std::size_t kinds = 10;
inline const std::string last_chunk = "0\r\n\r\n";

// What went wrong, of callers and servers alike.
class findings {
public:
    void add(std::string what)
    {
        const std::lock_guard lock{mutex_};
        ++count_;
        if (some_.size() < 10) {
            some_.push_back(std::move(what));
        }
    }

    std::size_t count() const { return count_; }

    std::string some() const
    {
        std::string all;
        for (const auto& each : some_) {
            all += each + '\n';
        }
        return all;
    }

private:
    std::mutex mutex_;
    std::size_t count_ = 0;
    std::vector<std::string> some_;
};

// "mk-<caller>-<step>." stands in each argument, and in each answer to it.
inline std::string mark_of(std::size_t caller, std::size_t step)
{
    return "mk-" + std::to_string(caller) + '-' + std::to_string(step) + '.';
}

inline std::set<std::string> marks_in(std::string_view text)
{
    std::set<std::string> all;
    for (auto at = text.find("mk-"); at != std::string_view::npos; at = text.find("mk-", at + 1)) {
        all.emplace(text.substr(at, text.find('.', at) + 1 - at));
    }
    return all;
}

inline bool has_scope(std::size_t caller)
{
    return caller % 5 == 0;
}

// Called by those whose number has its parity; `deep` by those with the scope. All of them keep what they were told under the same ids.
class servers {
public:
    servers(std::size_t parity, findings& wrong)
        : parity_{parity},
          wrong_{wrong}
    {
    }

    bool mcp(const plain_exchange& asked, bool modern)
    {
        const auto call = json::parse(asked.body, nullptr, /*allow_exceptions=*/false);
        const auto session = field(asked.head, "mcp-session-id: ");
        if (!call.is_object()) {
            return answer(asked, asked.head.starts_with("GET") ? "405 No" : "200 OK");
        }
        const auto method = call.value("method", "");
        if (method == "server/discover" && modern) {
            return result(
                asked,
                call,
                {{"resultType", "complete"},
                 {"supportedVersions", {"2026-07-28"}},
                 {"capabilities", {{"tools", json::object()}}},
                 {"ttlMs", 0},
                 {"cacheScope", "private"}}
            );
        }
        if (method == "initialize" && !modern) {
            return begin(asked, call);
        }
        if (method == "tools/list") {
            return result(asked, call, tools(modern));
        }
        if (method == "tools/call") {
            return modern ? called_modern(asked, call) : called(asked, call, session);
        }
        if (call.contains("id") && method.empty()) {
            answered(session, call["result"]["content"].value("mark", "nothing"));
        }
        return answer(asked, call.contains("id") && !method.empty() ? "400 No" : "202 OK");
    }

    bool a2a(const plain_exchange& asked)
    {
        const auto call = json::parse(asked.body, nullptr, /*allow_exceptions=*/false);
        const auto method = call.is_object() ? call.value("method", "") : std::string{};
        if (method == "GetTask") {
            const std::lock_guard lock{mutex_};
            return result(asked, call, tasks_[call["params"].value("id", "")]);
        }
        if (!method.starts_with("Send")) {
            return answer(asked, "404 No");
        }
        const auto& message = call["params"]["message"];
        const auto mark = message["parts"][0].value("text", "");
        check(mark, "send_message");
        json task;
        {
            const std::lock_guard lock{mutex_};
            const auto id = "t-" + std::to_string(tasks_.size());
            task = {
                {"id", id},
                {"contextId", message.value("contextId", "c-" + id)},
                {"status", {{"state", "TASK_STATE_COMPLETED"}}},
                {"artifacts", json::array({{{"artifactId", "a"}, {"parts", json::array({{{"text", mark}}})}}})}
            };
            tasks_[id] = task;
        }
        if (method == "SendMessage") {
            return result(asked, call, {{"task", task}});
        }
        auto working = task;
        working.erase("artifacts");
        const auto said = json::array({{{"text", mark}}});
        working["status"] = {
            {"state", "TASK_STATE_WORKING"},
            {"message", {{"messageId", "m"}, {"role", "ROLE_AGENT"}, {"parts", said}}}
        };
        const json ids{{"taskId", task["id"]}, {"contextId", task["contextId"]}};
        json artifact{{"artifact", task["artifacts"][0]}};
        json status{{"status", task["status"]}};
        artifact.update(ids);
        status.update(ids);
        return events(
            asked,
            {message_of(call, {{"task", working}}),
             message_of(call, {{"artifactUpdate", artifact}}),
             message_of(call, {{"statusUpdate", status}})}
        );
    }

private:
    static std::string field(std::string head, std::string_view name)
    {
        std::ranges::transform(head, head.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; });
        const auto at = head.find(name);
        return at == std::string::npos ? "" : head.substr(at + name.size(), head.find('\r', at) - at - name.size());
    }

    static bool
    answer(const plain_exchange& to, std::string_view status, std::string_view body = {}, std::string more = {})
    {
        return to.write(
            "HTTP/1.1 " + std::string{status} + "\r\nContent-Type: application/json\r\n" + more +
            "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string{body}
        );
    }

    static json message_of(const json& call, json result)
    {
        return {{"jsonrpc", "2.0"}, {"id", call["id"]}, {"result", std::move(result)}};
    }

    static bool result(const plain_exchange& to, const json& call, json what)
    {
        return answer(to, "200 OK", message_of(call, std::move(what)).dump());
    }

    // In a chunk of its own.
    static std::string event_of(const json& message)
    {
        const auto text = "data: " + message.dump() + "\n\n";
        std::ostringstream size;
        size << std::hex << text.size();
        return size.str() + "\r\n" + text + "\r\n";
    }

    static bool begin_events(const plain_exchange& to)
    {
        return to.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    }

    static bool events(const plain_exchange& to, const std::vector<json>& all)
    {
        std::string text;
        for (const auto& each : all) {
            text += event_of(each);
        }
        return begin_events(to) && to.write(text + last_chunk);
    }

    static json said(const std::string& text)
    {
        return {{"resultType", "complete"}, {"content", json::array({{{"type", "text"}, {"text", text}}})}};
    }

    static json tools(bool modern)
    {
        json list{{"tools", json::array()}};
        for (const auto* const name : {"mark", "ask", "deep"}) {
            const json schema{{"type", "object"}, {"properties", {{"mark", {{"type", "string"}}}}}};
            list["tools"].push_back({{"name", name}, {"description", "Says the mark"}, {"inputSchema", schema}});
        }
        if (modern) {
            list.update({{"resultType", "complete"}, {"ttlMs", 60'000}, {"cacheScope", "private"}});
        }
        return list;
    }

    static json question(const std::string& mark)
    {
        const json schema{{"type", "object"}, {"properties", {{"mark", {{"type", "string"}}}}}, {"required", {"mark"}}};
        return {{"method", "elicitation/create"}, {"params", {{"message", mark}, {"requestedSchema", schema}}}};
    }

    bool begin(const plain_exchange& asked, const json& call)
    {
        std::string id;
        {
            const std::lock_guard lock{mutex_};
            id = "s-" + std::to_string(++sessions_);
        }
        const json begun{
            {"protocolVersion", "2025-11-25"},
            {"capabilities", {{"tools", json::object()}}},
            {"serverInfo", {{"name", "s"}, {"version", "1"}}}
        };
        return answer(asked, "200 OK", message_of(call, begun).dump(), "Mcp-Session-Id: " + id + "\r\n");
    }

    static std::vector<json> progress(const json& params, const std::string& mark)
    {
        const auto meta = params.value("_meta", json::object());
        if (!meta.contains("progressToken")) {
            return {};
        }
        const json step{{"progressToken", meta["progressToken"]}, {"progress", 1}, {"message", mark}};
        return {{{"jsonrpc", "2.0"}, {"method", "notifications/progress"}, {"params", step}}};
    }

    bool called_modern(const plain_exchange& asked, const json& call)
    {
        const auto& params = call["params"];
        const auto mark = params["arguments"].value("mark", "");
        check(mark, params.value("name", ""));
        if (params["name"] != "ask") {
            auto all = progress(params, mark);
            all.push_back(message_of(call, said(mark)));
            return events(asked, all);
        }
        if (!params.contains("inputResponses")) {
            const json requests{{"k", question(mark)}};
            return result(
                asked,
                call,
                {{"resultType", "input_required"}, {"inputRequests", requests}, {"requestState", "st"}}
            );
        }
        return result(asked, call, said(mark + params["inputResponses"]["k"]["content"].value("mark", "nothing")));
    }

    bool called(const plain_exchange& asked, const json& call, const std::string& session)
    {
        const auto& params = call["params"];
        const auto mark = params["arguments"].value("mark", "");
        check(mark, params.value("name", ""));
        auto all = progress(params, mark);
        if (params["name"] != "ask") {
            all.push_back(message_of(call, said(mark)));
            return events(asked, all);
        }
        auto asks = question(mark);
        asks.update({{"jsonrpc", "2.0"}, {"id", 1}});
        if (!begin_events(asked) || !asked.write(event_of(asks))) {
            return false;
        }
        std::unique_lock lock{mutex_};
        const bool came = changed_.wait_for(lock, test_support::patience, [&] { return answers_.contains(session); });
        const auto given = came ? answers_.extract(session).mapped() : "nothing";
        lock.unlock();
        return asked.write(event_of(message_of(call, said(mark + given))) + last_chunk);
    }

    void answered(const std::string& session, std::string mark)
    {
        const std::lock_guard lock{mutex_};
        answers_[session] = std::move(mark);
        changed_.notify_all();
    }

    void check(const std::string& mark, const std::string& tool)
    {
        const auto caller = std::stoul(mark.substr(3));
        if (caller % 2 != parity_ || (tool == "deep" && !has_scope(caller))) {
            wrong_.add("a server of parity " + std::to_string(parity_) + " got " + tool + " of " + mark);
        }
    }

    std::size_t parity_;
    findings& wrong_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t sessions_ = 0;
    std::map<std::string, std::string> answers_;  // by session
    std::map<std::string, json> tasks_;
};

}  // namespace flow::isolation
