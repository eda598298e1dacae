// How A2A 0.3 and 1.0 write the same things in JSON: card, task, stream events, errors, method names.
// A2A specification 0.3.0 section 6 and types.ts; 1.0.1 sections 4 to 6 and 9 and a2a.proto. Pure functions.
#pragma once

#include "examples/work.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace examples {

enum class generation { v0_3, v1_0 };

enum class operation { send, stream, get, list, cancel, subscribe, push, extended_card };

// JSON-RPC 2.0 section 5.1; A2A 1.0.1 section 5.4.
enum class rpc_error {
    parse_error = -32700,
    invalid_request = -32600,
    method_not_found = -32601,
    invalid_params = -32602,
    task_not_found = -32001,
    task_not_cancelable = -32002,
    push_not_supported = -32003,
    unsupported_operation = -32004,
    content_type_not_supported = -32005,
    extended_card_not_configured = -32007,
    version_not_supported = -32009,
};

std::optional<operation> operation_named(generation spoken, std::string_view method);

// The agent's card, with `url` as its only address.
json card(generation spoken, const std::string& name, const std::string& url);

struct task_view {
    bool history = true;
    bool artifacts = true;
};

json task_json(generation spoken, const task& of, task_view view = {});

// A task as the result of a send or as an item of a stream.
json task_result(generation spoken, const task& of);

// An event as an item of a stream.
json event_json(generation spoken, const task& of, const task_event& event);

json response(const json& id, json result);
json error_response(generation spoken, const json& id, rpc_error code, std::string_view message);

// TASK_STATE_… as 1.0 writes it.
std::string_view state_name(generation spoken, task_state state);

}  // namespace examples
