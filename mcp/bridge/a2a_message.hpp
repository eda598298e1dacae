// A message of A2A 1.0 to an agent that is a server of MCP: what SendMessage and SendStreamingMessage say, as far as a call of a tool
// can be made of it (a2a.proto of 1.0.1, `SendMessageRequest`, `Message`, `Part`). Pure; any thread.
#pragma once

#include "a2a/dialect/dialect.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcp {

inline constexpr std::size_t most_message_parts = 64;
inline constexpr std::size_t longest_a2a_id = 256;  // bytes of a task's, a context's or a skill's

struct a2a_message {
    std::string context;  // `contextId`; empty: a new one
    std::string task;     // `taskId`; empty: the message begins a task
    std::string
        skill;  // that `skillId` or `skill` in the metadata of the message, else of the request, names; empty: none
    std::string text;   // of all parts of text, with line ends between them; empty: none says anything
    std::string data;   // of the only data part, raw and compact; empty: there is none
    bool waits = true;  // for the end of the task, or for a question: not `returnImmediately`
};

// `params`: raw, of a body that has been checked as JSON; empty: none. Fails with invalid_params and the member: not such a message, a
// role that is not the user's, no part, a part with no content or two, a file, two data parts, an id that is too long; with
// push_not_supported for a push configuration.
a2a::translation<a2a_message> read_a2a_message(std::string_view params);

}  // namespace mcp
