// The methods that clients call (MCP 2024-11-05 to 2026-07-28; the extensions for tasks, SEP-2663, and events, SEP-3415). Pure; any
// thread.
#pragma once

#include "mcp/protocol/message.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace mcp {

enum class client_method : std::uint8_t {
    initialize,
    initialized,
    ping,
    discover,
    listen,
    tools_list,
    tools_call,
    prompts_list,
    prompts_get,
    resources_list,
    templates_list,
    resources_read,
    resources_subscribe,
    resources_unsubscribe,
    complete,
    set_level,
    cancelled,
    progress,
    roots_list_changed,
    tasks_get,
    tasks_update,
    tasks_cancel,
    tasks_result,
    tasks_list,
    events_list,
    events_poll,
    events_stream,
    events_subscribe,
    events_unsubscribe,
    other,
};

// `other` for every name that is not known, in this exact spelling.
client_method client_method_of(std::string_view name) noexcept;

// "tools/call"; empty for `other`.
std::string_view name(client_method method) noexcept;

// Whether 2026-07-28 or one of its extensions has it.
bool is_modern(client_method method) noexcept;

// Whether an answer of the modern era to it may ask for input (`input_required`).
bool may_need_input(client_method method) noexcept;

// Whether a request stays open until somebody ends it, however long it is silent.
bool stays_open(client_method method) noexcept;
bool stays_open(std::string_view name) noexcept;

// Whether a request may be sent again that the server may have got already: it only reads.
bool safe_to_repeat(client_method method) noexcept;

// The list that the method asks for.
std::optional<list_kind> list_of(client_method method) noexcept;

}  // namespace mcp
