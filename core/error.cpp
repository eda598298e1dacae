#include "core/error.hpp"

#include <stdexcept>

namespace core {
namespace {

struct wording {
    std::string_view name;
    std::string_view message;
};

// One case for each code; over 60 lines: splitting the table would hide a missing one.
constexpr wording words(errc code) noexcept
{
    switch (code) {
        case errc::bad_request:
            return {"bad_request", "The request is malformed."};
        case errc::not_found:
            return {"not_found", "There is nothing at this address."};
        case errc::method_not_allowed:
            return {"method_not_allowed", "This address does not take this method."};
        case errc::request_timeout:
            return {"request_timeout", "The request did not arrive in time."};
        case errc::body_too_large:
            return {"body_too_large", "The request body is over the limit."};
        case errc::target_too_long:
            return {"target_too_long", "The request target is over the limit."};
        case errc::header_too_large:
            return {
                "header_too_large",
                "The request's head is over limits.header, has over limits.header_fields fields, or one of over "
                "limits.header_value bytes."
            };
        case errc::unsupported_media_type:
            return {"unsupported_media_type", "The body must be sent as application/json."};
        case errc::expectation_failed:
            return {"expectation_failed", "The only expectation supported is 100-continue."};
        case errc::misdirected_request:
            return {"misdirected_request", "This gateway does not answer for that host name."};
        case errc::loop_detected:
            return {"loop_detected", "The request comes back to this gateway over and over."};
        case errc::not_implemented:
            return {"not_implemented", "The gateway does not do this."};
        case errc::http_version_not_supported:
            return {"http_version_not_supported", "Only HTTP/1.1 and HTTP/1.0 are spoken here."};
        case errc::agent_not_found:
            return {"agent_not_found", "No such agent."};
        case errc::task_not_found:
            return {"task_not_found", "Task not found."};
        case errc::agent_read_only:
            return {"agent_read_only", "The configuration declares this agent; it is changed there."};
        case errc::extension_required:
            return {"extension_required", "The agent requires extensions that the call does not name."};
        case errc::extended_card_unsupported:
            return {"extended_card_unsupported", "This agent has no extended card."};
        case errc::extended_card_not_configured:
            return {"extended_card_not_configured", "No extended card of this agent is configured to be shown."};
        case errc::version_not_supported:
            return {"version_not_supported", "This version of A2A is not supported; 0.3 and 1.0 are."};
        case errc::operation_unsupported:
            return {"operation_unsupported", "This agent cannot do that."};
        case errc::version_conflict:
            return {"version_conflict", "The agent has another version."};
        case errc::handover_failed:
            return {"handover_failed", "No other process has taken over; this one serves as before."};
        case errc::admin_only:
            return {"admin_only", "This method is for the admin listener."};
        case errc::unauthenticated:
            return {"unauthenticated", "This needs a valid credential."};
        case errc::forbidden:
            return {"forbidden", "This credential does not allow it."};
        case errc::rate_limited:
            return {"rate_limited", "Too many requests; try again later."};
        case errc::not_acceptable:
            return {"not_acceptable", "The field Accept must allow application/json or text/event-stream."};
        case errc::origin_forbidden:
            return {"origin_forbidden", "Pages of this origin may not call the gateway."};
        case errc::session_not_found:
            return {"session_not_found", "Session not found."};
        case errc::session_required:
            return {"session_required", "This server takes messages in a session only; begin one with initialize."};
        case errc::header_mismatch:
            return {"header_mismatch", "The header fields say something else than the body."};
        case errc::version_unsupported:
            return {"version_unsupported", "This protocol version is not supported."};
        case errc::input_expired:
            return {"input_expired", "The state of this call is not known or no longer good; begin the call again."};
        case errc::events_gone:
            return {"events_gone", "The events after Last-Event-ID are not kept here; go on without it."};
        case errc::caller_gone:
            return {"caller_gone", "The caller went away."};
        case errc::parse_error:
            return {"parse_error", "The body is not valid JSON."};
        case errc::invalid_request:
            return {"invalid_request", "The body is not a JSON-RPC 2.0 request."};
        case errc::method_not_found:
            return {"method_not_found", "There is no such method."};
        case errc::invalid_params:
            return {"invalid_params", "The parameters do not fit the method."};
        case errc::too_large:
            return {"too_large", "The result does not fit into the answer to this batch; send the call by itself."};
        case errc::upstream_unresolved:
            return {"upstream_unresolved", "The agent's host name could not be resolved."};
        case errc::upstream_refused:
            return {"upstream_refused", "The agent could not be reached."};
        case errc::upstream_forbidden:
            return {"upstream_forbidden", "The agent's address is not one that this gateway may connect to."};
        case errc::upstream_proxy:
            return {"upstream_proxy", "The proxy did not connect the gateway to the agent."};
        case errc::upstream_tls:
            return {"upstream_tls", "The TLS connection to the agent failed."};
        case errc::upstream_reset:
            return {"upstream_reset", "The agent closed the connection before its answer was complete."};
        case errc::upstream_protocol:
            return {"upstream_protocol", "The agent's answer does not follow its protocol."};
        case errc::upstream_status:
            return {"upstream_status", "The agent answered with a status that cannot be used."};
        case errc::upstream_timeout:
            return {"upstream_timeout", "The agent did not answer in time."};
        case errc::upstream_credentials:
            return {"upstream_credentials", "The gateway has no valid credential for the agent; try again."};
        case errc::event_too_large:
            return {"event_too_large", "An event of the agent's stream is over the limit."};
        case errc::message_too_large:
            return {"message_too_large", "A message of the MCP server is over the limit."};
        case errc::answer_untranslatable:
            return {"answer_untranslatable", "The agent's answer cannot be translated for this caller."};
        case errc::card_not_json:
            return {"card_not_json", "The agent's card is not a JSON object."};
        case errc::card_invalid:
            return {"card_invalid", "The agent's card is not usable."};
        case errc::card_signature:
            return {"card_signature", "The agent's card is not signed by a key that this gateway trusts."};
        case errc::card_unrewritable:
            return {"card_unrewritable", "The agent's card cannot be made to point at this gateway."};
        case errc::card_too_large:
            return {"card_too_large", "The agent's card is over the limit."};
        case errc::session_not_started:
            return {"session_not_started", "The session with this agent has not been started."};
        case errc::session_not_ready:
            return {"session_not_ready", "The session with this agent is not ready yet."};
        case errc::session_failed:
            return {"session_failed", "The session with this agent has not begun yet; it is tried again."};
        case errc::session_misconfigured:
            return {"session_misconfigured", "The session with this agent cannot begin as it is configured."};
        case errc::session_crashed:
            return {"session_crashed", "The session with this agent ended; it is being started again."};
        case errc::circuit_open:
            return {"circuit_open", "The agent has failed too often; calls to it are paused."};
        case errc::draining:
            return {"draining", "The gateway is shutting down."};
        case errc::overloaded:
            return {"overloaded", "The gateway is at its limit."};
        case errc::session_limit:
            return {"session_limit", "This agent has as many sessions as it may have; try again later."};
        case errc::access_unavailable:
            return {"access_unavailable", "The credential could not be checked; try again."};
        case errc::extended_card_incomplete:
            return {
                "extended_card_incomplete",
                "The overlays of this agent leave its card without a name or description."
            };
        case errc::store_full:
            return {"store_full", "The disk of the store is full."};
        case errc::store_failed:
            return {"store_failed", "The store failed."};
        case errc::config_invalid:
            return {"config_invalid", "The configuration is not valid."};
        case errc::internal:
            return {"internal", "The gateway failed."};
    }
    return {"internal", "The gateway failed."};
}

}  // namespace

std::string_view name(errc code) noexcept
{
    return words(code).name;
}

std::string_view message(errc code) noexcept
{
    return words(code).message;
}

std::string_view name(side from) noexcept
{
    switch (from) {
        case side::caller:
            return "caller";
        case side::upstream:
            return "upstream";
        case side::gateway:
            return "gateway";
    }
    return "gateway";
}

void throw_exception_from_error(const error& e, const boost::source_location& where)
{
    throw std::logic_error(where.to_string() + ": " + std::string(name(e.code)) + ": " + e.detail);
}

}  // namespace core
