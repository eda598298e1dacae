// The answers that the gateway gives itself: cards, errors, management, admin pages.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "net/server/caller_exchange.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::responses {

struct answer {
    unsigned status = 200;
    std::string_view reason;                             // a constant; empty: the one that the status has
    std::string_view content_type = "application/json";  // a constant
    std::string fields;                                  // further header lines, each with its CRLF
    std::string body;
    std::string_view rest;             // follows the body
    std::string_view end;              // follows that
    std::shared_ptr<const void> kept;  // what these two lie in; given up when the answer is out
};

inline constexpr std::uint64_t usual_retry_after = 5;  // seconds

// {"error":{…}} with Cardea-Error; for 503 with Retry-After. `agent` is an id of ours, or empty.
answer error_answer(core::errc code, std::string_view agent, std::uint64_t retry_after = usual_retry_after);

// Whole seconds until asking may help, for Retry-After: at least 1, at most 300, since what is waited for may come sooner.
std::uint64_t retry_after(core::steady_time now, core::steady_time again_at) noexcept;

// Replaces the Retry-After that a 503 has.
void set_retry_after(answer& of, std::uint64_t seconds);

// An error with a message of this case's, which may quote what the caller sent.
answer explained_answer(core::errc code, std::string_view message);

// An error with the code's own message, and a list of what is wrong in `error.problems`.
answer problems_answer(core::errc code, core::json problems);

// 501 to whoever calls an MCP server as an agent of A2A: with the raw id of the call; empty: it is no JSON-RPC, or a notification.
answer no_calls_answer(std::string_view agent, std::string_view id);

// A JSON-RPC error to the call with this raw id (JSON text; empty: null).
answer jsonrpc_error_answer(core::errc code, std::string_view agent, std::string_view id);

// An error to a call whose id may be empty: a notification has none to answer to, and gets the plain form.
answer call_error(core::errc code, std::string_view agent, std::string_view id);

// An error to a call of an MCP server, with the status of the code: MCP's clients read it (basic/transports, "Streamable
// HTTP"). `data`: members of its own in the error's data, JSON object text; empty: the usual ones.
answer mcp_error_answer(core::errc code, std::string_view agent, std::string_view id, std::string_view data = {});

// Into the data of such an error: the status with which the server answered, which says whether a later attempt may succeed.
void add_upstream_status(std::string& body, unsigned status);

// Into the body of an error that names `retryable`: a later attempt may succeed, whatever its code says.
void set_retryable(std::string& body);

// Into the data of an error that is not retryable: a further member, which is a text. An ErrorInfo of A2A 1.0 has it in its metadata.
void add_to_data(std::string& body, std::string_view name, std::string_view text);

// An error to a caller of A2A's HTTP+JSON, as its generation writes errors (A2A 1.0.1 section 11.6; docs/protocol-profile.md).
// `said`: a message of this case's; empty: that of the code.
answer rest_error_answer(
    core::errc code,
    std::string_view agent,
    ::a2a::generation of,
    ::a2a::error_profile profile,
    std::string_view said = {}
);

// A refusal in words of A2A, made by a2a::append_refusal(), with the headers of `code`.
answer refusal_answer(core::errc code, unsigned status, std::string body);

// 401 with the JSON-RPC error by which A2X says that a credential is needed. A2A 1.0 gives that code another meaning, so that
// only callers of 0.3 get it. `id` is raw; empty: it is not known.
answer a2x_unauthenticated_answer(std::string_view id);

// A whole answer, head included, for a connection that is closed at once.
std::string refusal_of_connection();

// 405 with what would be allowed (RFC 9110 section 15.5.6).
answer method_not_allowed(std::string_view allowed);

// To OPTIONS that goes no further than the gateway (RFC 9110 section 9.3.7): 204 with every method that is known.
answer options_answer();

// Writes the status line and a Date to `head`, which caller_exchange::complete_head() ends.
void begin_head(std::string& head, const net::caller_exchange& caller, unsigned status, std::string_view reason = {});

// Sends the whole answer; to HEAD without its body. Fails with caller_gone.
net::routine<core::result<>> send_answer(net::caller_exchange& caller, answer reply);

}  // namespace gateway::responses
