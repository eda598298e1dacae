// Requests: one call of any operation from the caller's dialect to the agent's. Pure; any thread.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "a2a/dialect/rest_target.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace a2a {

// How to translate what an agent answers. Made by translate_request().
struct exchange {
    dialect caller;
    dialect agent;
    operation asked = operation::none;
    operation sent =
        operation::none;        // another: 0.3 may ask for a push configuration without its id, 1.0 for the list only
    bool first_config = false;  // `sent` is the list, and its first element is what was asked for
    bool without_history = false;  // the caller asked for no history, and the agent cannot be asked for none
};

// Views that must outlive the call. The body of HTTP+JSON and the params of JSON-RPC must be JSON (core::scan_jsonrpc()
// has checked the latter); a body is checked here, unless it is said to be.
struct incoming_request {
    dialect from;
    operation what = operation::none;
    std::string_view payload;             // JSON-RPC: the raw params; HTTP+JSON: the body; empty: there is none
    std::string_view id;                  // of the JSON-RPC call that goes out, raw; empty: a notification
    const rest_target* target = nullptr;  // HTTP+JSON only
    bool checked = false;                 // the body is JSON, nested no deeper than the limit
};

struct request_options {
    // The tenant of the agent's interface, decoded; empty: it has none. A caller's own tenant takes precedence.
    std::string_view tenant;
    translation_limits limits;
    // A task is asked for with all of its history if no length is said: some agents of 0.3 send none otherwise.
    bool whole_history = false;
};

// The request as the agent is sent it. Its buffers are reused: keep one for many calls.
struct outgoing_request {
    std::string_view verb;  // a constant; JSON-RPC is always POST
    std::string target;     // HTTP+JSON: behind the address of the interface; JSON-RPC: empty
    std::string body;       // empty: none
    std::size_t lost = 0;   // members that were dropped
};

// Replaces what is in `out`; after a failure that is undefined. `id` goes out as it stands. Fails with
//   parse_error, invalid_request   a body that is no JSON or nested too deep; larger than the limit
//   invalid_params                 a member that the agent's dialect cannot say, or that has the wrong type; a target over the limit
//   unsupported_operation          the list of tasks, which 0.3 does not have
//   method_not_found               operation::none
translation<exchange>
translate_request(const incoming_request& in, dialect to, const request_options& options, outgoing_request& out);

}  // namespace a2a
