// Push notification configurations where they stand in requests and answers, so that one can be replaced and everything
// around it stays the text that it was; and what an agent sends to such an address. For a gateway that delivers
// notifications itself: the agent gets the gateway's address, and the caller reads its own back. Pure; any thread.
//
// What one reader could take for a configuration and another one not is refused: agents read names without regard to
// case (Go) or with underscores (ProtoJSON), and would notify the caller themselves.
//
// Sources: types.ts and a2a.proto of 0.3.0, a2a.proto of 1.0.1; specification 0.3.0 section 9.5, 1.0.1 section 4.3.3.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "a2a/dialect/event.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace a2a {

// Views into the text that it was found in.
struct placed_push_config {
    std::string_view object;
    std::string_view url;             // raw; always a string
    std::string_view token;           // raw; empty: absent
    std::string_view authentication;  // the same
};

// The one in the params of a JSON-RPC request or in the body of an HTTP+JSON one, or none. `payload` must be JSON. Fails
// with invalid_params, and with the member's path, for what readers could understand differently, and for one in the params of a
// method that A2A does not have (operation::none).
translation<std::vector<placed_push_config>>
find_requested_push(dialect from, operation what, std::string_view payload);

// Those in the result of a JSON-RPC answer or in the body of an HTTP+JSON one. `result` must be JSON.
std::vector<placed_push_config> find_answered_push(dialect from, operation what, std::string_view result);

// The replacements in a configuration: raw values; empty: the member goes.
struct push_replacement {
    placed_push_config at;
    std::string url;
    std::string token;
    std::string authentication;
};

// `text` with these replaced, which were found in it and have the order in which they stand there. Other members keep their
// bytes and their order.
std::string with_push_configs(std::string_view text, std::span<const push_replacement> replaced);

// How a receiver wants to be shown who notifies it: the value of `Authorization` as `scheme credentials`, of the raw
// authentication of a configuration, whatever its generation. Empty: it does not say, or not with credentials.
std::string push_authorization(std::string_view authentication);

// The raw authentication that has an agent send `Authorization: Bearer <token>`; `token` needs no escapes.
std::string bearer_push_authentication(generation of, std::string_view token);

// A notification that an agent sends to a callback.
struct push_notification {
    generation version = generation::v03;
    event_kind kind = event_kind::unknown;  // 0.3 sends tasks only
    std::string task;                       // its id; empty: it is a message of no task
};

// Fails with invalid_agent_response for what is no JSON, nested deeper than the limit, or no event.
translation<push_notification> read_notification(std::string_view body, const translation_limits& limits);

// Appends the body as `to` has it. 0.3 has tasks only: what it is told of an update, which a task has to be fetched for, is the
// caller's to see (`kind`). Fails with invalid_agent_response; `out` is undefined then.
translation<> translate_notification(std::string_view body, generation from, generation to, std::string& out);

}  // namespace a2a
