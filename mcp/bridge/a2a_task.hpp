// A call of a tool as a task of A2A 1.0 (a2a.proto of 1.0.1, `Task`, `TaskStatus`, `Artifact`, `StreamResponse`): its states, its events, and
// the answer of the server as one artifact or as the reason of a failure. Pure; any thread.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "a2a/dialect/enums.hpp"
#include "core/error.hpp"
#include "mcp/protocol/message.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

// Views; all text but `parts` and `artifact`, which are raw arrays of parts.
struct a2a_task_view {
    std::string_view id;
    std::string_view context;
    a2a::task_state state = a2a::task_state::submitted;
    std::string_view timestamp;   // of the state, RFC 3339
    std::string_view message_id;  // of the status's message; only with `parts`
    std::string_view parts;       // of that message; empty: the status has none
    std::string_view artifact;    // parts of the result; empty: there is none
};

// `Task`; without its artifact where a list leaves that out.
std::string task_text(const a2a_task_view& task, bool with_artifact = true);

// `StreamResponse`: what a stream begins with, and what follows.
std::string task_event(const a2a_task_view& task);
std::string status_event(const a2a_task_view& task);
std::string artifact_event(const a2a_task_view& task);

// `Message` of the agent; `parts`: a raw array.
std::string message_text(std::string_view id, std::string_view context, std::string_view parts);

// A raw array with one part of text.
std::string text_parts(std::string_view text);

// The last answer to a call of a tool, for a task of A2A.
struct tool_outcome {
    bool failed = false;  // `isError`, an error, or an answer that is none of tools/call
    std::string parts;    // a raw array: what the server sent, or why it failed; empty: nothing was sent
};

// A question of the server during a call (`elicitation/create`) and what may answer it.
class tool_question {
public:
    // `params`: raw, of the request. Fails with upstream_protocol: it is no question by a form.
    static core::result<tool_question> read(std::string_view params);

    // The parts of the status's message: the text, and data with `message` and `requestedSchema`.
    std::string parts() const;

    // The answer, a raw `ElicitResult`, in a message's data `{"action", "content"}`, or in its text where the form has one property
    // and that is a string. Fails with invalid_params.
    a2a::translation<std::string> answer(std::string_view data, const std::string& text) const;

    std::size_t bytes() const noexcept { return message_.capacity() + schema_.capacity(); }

private:
    std::string message_;
    std::string schema_;  // raw object
};

// One message of the server during a call.
struct call_event {
    struct question {
        std::string key;  // in `inputResponses`
        tool_question asked;
    };

    // What it is: the last answer, an answer that asks, or a notification of progress. None of them: nothing that callers hear of.
    std::optional<tool_outcome> outcome{};
    std::vector<question> questions{};
    std::string state{};                    // with questions: the server's `requestState`, raw; empty: none
    std::optional<std::string> progress{};  // `progress/total message`
};

// Blocks of content become parts: text, images and audio as bytes, links by their URL, embedded resources as text or bytes; structured
// content and blocks of an unknown type become data. Numbers keep their bytes. What is no message, no answer to tools/call, or asks for
// what bridge_capabilities do not declare, is the outcome of a call that failed.
call_event read_call_event(std::string_view text, message_limits limits = {});

}  // namespace mcp
