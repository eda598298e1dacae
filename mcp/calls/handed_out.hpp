// Values that a server hands out to a client and takes back from it: ids of tasks (MCP 2025-11-25, basic/utilities/tasks; SEP-2663) and
// `requestState` (MCP 2026-07-28, basic/patterns). Where a server sees one identity for all callers, clients get both sealed for
// their principal, so that they are good for nobody else. What is not known to be the client's own stays as the server wrote it, which
// opens nothing. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/calls/text_edits.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

// Bytes. A server's longer ones are not sealed, so that clients cannot use them.
inline constexpr std::size_t longest_task_id = 4096;
inline constexpr std::size_t longest_state = 512 * 1024;

// For whom it is sealed.
struct handed_out_to {
    const session_ids* ids = nullptr;  // not null
    session_binding binding;
};

struct opened_message {
    std::vector<text_edit> edits;    // that make it the server's
    std::vector<std::string> tasks;  // that it names, as the server calls them
};

// A client's message, read from `body`. `has_tasks`: the client may have tasks of its own, which its notifications and answers name
// (2025-11-25). Fails with invalid_params (the id of a task does not open, is no string, or lacks) and input_expired (the state does
// not open).
core::result<opened_message>
open_handed_out(const incoming& message, std::string_view body, const handed_out_to& client, bool has_tasks);

// The request that a message of the server answers: a request of the client that may be handed something; one of the modern
// era, whose answer says by its `resultType` that it hands out nothing; tasks/list; one that is handed nothing; or, on a stream that is
// resumed or that says what nobody asked for, it is not known what.
enum class handing : std::uint8_t { request, modern_request, task_list, other, unknown };

// Whether a task, as the server calls it, is known as the client's.
using owns_task = std::function<bool(std::string_view)>;

struct sealed_message {
    std::optional<std::string> text;  // nothing: as it came; empty: it is about a task of somebody else
    std::vector<std::string> tasks;   // that it hands out, which are the client's from now on
};

// Whether seal_handed_out() may change the message, which is no list.
bool may_hand_out(std::string_view message) noexcept;

// Whether the beginning of an answer to a modern_request says that it hands out nothing. False: it does, or that is not said yet.
bool hands_out_nothing(std::string_view beginning);

// A server's message as the client gets it. Of a list only the client's own tasks stay. Fails with upstream_protocol: a list that
// cannot be read.
core::result<sealed_message>
seal_handed_out(std::string_view message, const handed_out_to& client, handing what, const owns_task& owns);

}  // namespace mcp
