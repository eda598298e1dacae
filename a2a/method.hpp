// The methods of A2A, as a bounded set for metrics, log, policy and translation. One enumerator per JSON-RPC name on the
// wire: 0.2 and 0.3 (types.ts of 0.2.0 to 0.3.0) and 1.0 (specification 1.0.1 section 9.4) name the same operation
// differently, and both are worth telling apart. HTTP+JSON has no names but verbs and paths (specification 0.3.0 section
// 3.5.6, 1.0.1 section 11.3). Pure; any thread.
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

enum class generation : std::uint8_t {
    v03,  // 0.2 and 0.3
    v1,
};

// The operation of a method, whatever its generation and its binding call it.
enum class operation : std::uint8_t {
    send,
    stream,
    get,
    list,
    cancel,
    subscribe,
    create_push,
    get_push,
    list_push,
    delete_push,
    extended_card,
    none,  // of method::other
};

inline constexpr std::size_t operation_count = static_cast<std::size_t>(operation::none);

// How HTTP+JSON says an operation. The path begins with a slash and follows the address of the interface; `{task}` and
// `{config}` in it stand for ids, percent-encoded.
struct rest_route {
    std::string_view verb;
    std::string_view path;
};

// Exact and case-sensitive, as JSON-RPC 2.0 section 4 has it. Does not allocate.
method find_method(std::string_view wire_name) noexcept;

// The name on the wire; "other" for method::other.
std::string_view name(method m) noexcept;

operation operation_of(method m) noexcept;

// v03 for method::other.
generation generation_of(method m) noexcept;

// The method by which a generation says the operation; method::other for operation::none.
method method_for(operation what, generation of) noexcept;

// The specification's table names subscribe POST, and its protocol buffers GET; this is POST. Both empty for operation::none.
rest_route route_for(operation what, generation of) noexcept;

// Whether the answer may be an event stream.
bool streaming(operation what) noexcept;
bool streaming(method m) noexcept;

// Whether a call that may already have been processed may be sent again: reads only, and never `other`.
bool safe_to_repeat(method m) noexcept;

}  // namespace a2a
