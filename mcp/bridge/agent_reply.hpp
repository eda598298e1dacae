// The reply of an A2A agent to one call, as far as its answers and events have told it, and the same as results of MCP. Pure; one thread.
#pragma once

#include "a2a/dialect/enums.hpp"
#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcp {

class raw_object;

// A content block that a part of A2A becomes.
struct reply_part {
    enum class kind : std::uint8_t { text, data, block };

    kind what = kind::text;
    std::string text;  // of text: itself; of data: the value, raw; else the whole block, raw
};

struct reply_artifact {
    std::string id;
    std::vector<reply_part> parts;
};

class agent_reply {
public:
    static constexpr std::size_t most_kept =
        16 * 1024 * 1024;  // bytes of what is kept of status, messages and artifacts
    static constexpr std::size_t most_artifacts = 1000;

    // One JSON-RPC response of A2A 1.0: an answer, or an event of a stream. Fails with upstream_protocol (no such response, or a
    // result of another shape) and event_too_large; then everything is as it was.
    core::result<> take(std::string_view response);

    // The agent's error, in words for the model; empty: there is none. Its code of JSON-RPC; 0: it has none.
    const std::string& failure() const noexcept { return failure_; }
    int failure_code() const noexcept { return failure_code_; }

    // The call failed on its way.
    void fail(std::string words) { failure_ = std::move(words); }

    // Something was told: a task, a message or an error.
    bool told() const noexcept { return has_message_ || !task_.empty() || !failure_.empty(); }

    // Nothing more comes without another call: a message, an error, the end of the task, or that it waits for its caller.
    bool settled() const noexcept;

    a2a::task_state state() const noexcept { return status_.state; }
    bool asks() const noexcept { return failure_.empty() && state() == a2a::task_state::input_required; }
    const std::string& task() const noexcept { return task_; }        // empty: none
    const std::string& context() const noexcept { return context_; }  // empty: none

    // The text of the latest status, which is told once: nothing if there is no new one.
    std::optional<std::string> take_news();

    // A result of tools/call, without `resultType`. `send_tool_name`: of the tool by which the caller goes on.
    std::string call_result(std::string_view send_tool_name) const;

    // The same with `resultType: "input_required"`: a form with one text, which asks what the agent asks. With asks().
    std::string question_result() const;

    // The result that hands the task out instead (SEP-2663). `now`: for a status without a time, RFC 3339. With a task.
    std::string task_handle(std::string_view now) const;

    // The result of tasks/get. `may_ask`: the client answers forms; else a question is a result.
    std::string task_details(std::string_view now, bool may_ask, std::string_view send_tool_name) const;

    // The key of its question in `inputRequests`, which no other question of the task has.
    std::string question_key() const;

    // What is kept now, as most_kept counts it.
    std::size_t bytes() const noexcept { return kept_; }

private:
    struct told_status {
        a2a::task_state state = a2a::task_state::unspecified;
        std::string time;               // empty: none
        std::string question;           // id of its message; empty: none
        std::vector<reply_part> parts;  // of its message
    };

    static told_status read_status(std::string_view raw);
    core::result<> take_result(std::string_view result);
    core::result<> take_task(std::string_view task);
    core::result<> take_status_update(std::string_view update);
    core::result<> take_artifact_update(std::string_view update);
    void take_context(const raw_object& from);
    core::result<> take_state(const raw_object& from, std::string id, std::vector<reply_artifact> artifacts);
    core::result<> take_message(std::string_view raw);
    void take_failure(std::string_view raw);
    core::result<> exchange_bytes(std::size_t before, std::size_t after);
    std::string status_text() const;
    bool is_error() const noexcept;
    std::string words_of_state(std::string_view send_tool_name) const;
    std::vector<const reply_part*> parts() const;
    void append_content(std::string& out, std::string_view last_words) const;
    void append_structure(std::string& out) const;
    void append_input_requests(std::string& out) const;
    std::string task_members(std::string_view status, std::string_view now) const;

    std::string task_;
    std::string context_;
    told_status status_;
    bool news_ = false;
    bool has_message_ = false;
    std::vector<reply_part> message_;
    std::vector<reply_artifact> artifacts_;
    std::string failure_;
    int failure_code_ = 0;
    std::size_t kept_ = 0;
};

// A message of the caller's for the question that was asked with `key`: the text of the only string of the answer's `content`, or all of
// that as data. Nothing: the client has not answered, or in another shape.
struct given_answer {
    bool declined = false;  // or cancelled
    std::string text;
    std::string data;  // raw object; empty: none
};

std::optional<given_answer> answer_given(std::string_view responses, std::string_view key);

// The state of a call that waits for an answer, as `requestState` before it is sealed, and the same read.
struct asked_state {
    std::string task;
    std::string context;
    std::string key;
};

std::string state_text(const asked_state& state);
std::optional<asked_state> read_asked_state(std::string_view text);

}  // namespace mcp
