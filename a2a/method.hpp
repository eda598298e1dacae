// The JSON-RPC methods of A2A, as a bounded set for metrics, log and policy. One enumerator per name on the wire: 0.2
// and 0.3 (types.ts of 0.2.0 to 0.3.0) and 1.0 (specification 1.0.1 section 9.4) name the same operation differently,
// and both are worth telling apart. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace a2a {

enum class method : std::uint8_t {
    // 0.2 and 0.3.
    message_send,
    message_stream,
    tasks_get,
    tasks_list,  // not in the specification; the Go SDK of 0.3 sends it
    tasks_cancel,
    tasks_resubscribe,
    push_config_set,
    push_config_get,
    push_config_list,
    push_config_delete,
    authenticated_extended_card,      // the name that 0.2.6 lists
    get_authenticated_extended_card,  // 0.3.0
    // 1.0.
    send_message,
    send_streaming_message,
    get_task,
    list_tasks,
    cancel_task,
    subscribe_to_task,
    create_push_config,
    get_push_config,
    list_push_configs,
    delete_push_config,
    get_extended_agent_card,
    // Any other name: extension methods, garbage.
    other,
};

inline constexpr std::size_t method_count = static_cast<std::size_t>(method::other) + 1;

// Exact and case-sensitive, as JSON-RPC 2.0 section 4 has it. Does not allocate.
method find_method(std::string_view wire_name) noexcept;

// The name on the wire; "other" for method::other.
std::string_view name(method m) noexcept;

// Whether the answer may be an event stream.
bool streaming(method m) noexcept;

// Whether a call that may already have been processed may be sent again: reads only, and never `other`.
bool safe_to_repeat(method m) noexcept;

}  // namespace a2a
