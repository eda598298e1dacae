#include "core/error.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace core {
namespace {

constexpr auto rows = std::to_array<error_row>({
#define ROW(code, http, rpc, rpc_http, grpc, ...) {errc::code, #code, http, rpc, rpc_http, grpc_code::grpc, __VA_ARGS__}
    // The columns: code, HTTP status, JSON-RPC code, HTTP status of a JSON-RPC answer, gRPC status, retryable, sentence, cause.
    // clang-format off
    // The caller's request.
    ROW(bad_request, 400, -31400, 400, invalid_argument, false,
        "The request is malformed.",
        "the HTTP framing breaks a [rule](architecture.md#framing), the path is ambiguous, or the request has two "
        "credentials, which the message names"),
    ROW(not_found, 404, -31404, 404, unimplemented, false,
        "There is nothing at this address.",
        "no route has this address. If a client has dropped the agent's id, or looks for a card at the origin, the "
        "message explains this"),
    ROW(method_not_allowed, 405, -31405, 405, unimplemented, false,
        "This address does not take this method.",
        "the header `Allow` lists the methods"),
    ROW(request_timeout, 408, -31408, 408, deadline_exceeded, true,
        "The request did not arrive in time.",
        "the head or the body did not arrive in time"),
    ROW(body_too_large, 413, -31413, 413, resource_exhausted, false,
        "The request body is over the limit.",
        "over `limits.body`, `limits.rpc_body` for `/rpc` and registrations on the traffic listener, or "
        "`limits.stream_body` where `relay_paths` apply; a message of a call by gRPC over `limits.grpc_message`"),
    ROW(target_too_long, 414, -31414, 414, resource_exhausted, false,
        "The request target is over the limit.",
        "over `limits.target`"),
    ROW(header_too_large, 431, -31431, 431, resource_exhausted, false,
        "The request's head is over limits.header, has over limits.header_fields fields, or one of over "
        "limits.header_value bytes.",
        "over `limits.header`, `limits.header_fields`, `limits.header_value`, or the limits of trailers or of "
        "[extensions](limits.md)"),
    ROW(unsupported_media_type, 415, -32005, 415, invalid_argument, false,
        "The body must be sent as application/json.",
        "the body is not sent as JSON in UTF-8 (`application/json`, `application/…+json`, `application/json-rpc`, "
        "`application/jsonrequest`), or is compressed"),
    ROW(expectation_failed, 417, -31417, 417, invalid_argument, false,
        "The only expectation supported is 100-continue.",
        "an `Expect` other than `100-continue`"),
    ROW(misdirected_request, 421, -31421, 421, unimplemented, false,
        "This gateway does not answer for that host name.",
        "`Host` is neither one of `hosts` nor a [name of an agent](configuration.md#names-of-agents); on loopback "
        "the default is the loopback names. Over HTTP/2 and TLS: nor the name asked for by SNI, nor one of the certificate"),
    ROW(loop_detected, 508, -31508, 508, resource_exhausted, false,
        "The request comes back to this gateway over and over.",
        "the request has passed this gateway twice already, or more than `limits.hops` gateways of this kind, or "
        "Cardea's own card fetch came back to it"),
    ROW(chain_limited, 508, -31508, 508, resource_exhausted, false,
        "The chain of calls that this one belongs to is too large.",
        "a chain, which is a trace that the caller began or a `contextId`, has more calls than "
        "[`chains`](operations/chains.md#limits) allows; `data.limit` is `in_flight` or `calls`"),
    ROW(not_implemented, 501, -31501, 501, unimplemented, false,
        "The gateway does not do this.",
        "an unknown method or transfer coding, or a call of A2A to an MCP server with `bridge: false`"),
    ROW(http_version_not_supported, 505, -31505, 505, unimplemented, false,
        "Only HTTP/2, HTTP/1.1 and HTTP/1.0 are spoken here.",
        "neither HTTP/1.1 nor HTTP/1.0"),
    ROW(agent_not_found, 404, -31404, 404, unimplemented, false,
        "No such agent.",
        "no agent has this id, or it is disabled"),
    ROW(agent_unnamed, 400, -31400, 400, invalid_argument, false,
        "The call names no agent, or two.",
        "a call by [gRPC](grpc.md#how-a-call-finds-its-agent) names no agent and there is no `grpc.default_agent`, or its host "
        "name, `tenant` and `cardea-agent` contradict each other"),
    ROW(grpc_method_unknown, 501, -31501, 501, unimplemented, false,
        "There is no such gRPC service or method.",
        "a call by [gRPC](grpc.md) of a service or a method that A2A does not have, and that is none of the agent's "
        "`relay_services`"),
    ROW(grpc_compressed, 501, -31501, 501, unimplemented, false,
        "The message must be sent without compression.",
        "a compressed message of a call by [gRPC](grpc.md) that Cardea has to read"),
    ROW(task_not_found, 404, -32001, 200, not_found, false,
        "Task not found.",
        "a call names a [task of another principal](security.md#tasks-of-other-principals)"),
    ROW(agent_read_only, 403, -31403, 403, permission_denied, false,
        "The configuration declares this agent; it is changed there.",
        "`/rpc`: the configuration declares the agent; change it there"),
    ROW(extension_required, 400, -32008, 200, failed_precondition, false,
        "The agent requires extensions that the call does not name.",
        "the agent's card requires extensions that a call of A2A 1.0 does not name in `A2A-Extensions`; "
        "`metadata.missing` of the `ErrorInfo` names their URIs, as one text, and to calls of 0.3 `data.missing`, as "
        "a list. For calls of 0.3 only with `extensions.enforce_0_3`"),
    ROW(extended_card_unsupported, 404, -32004, 200, failed_precondition, false,
        "This agent has no extended card.",
        "the extended card of an MCP server without `extended_card: managed`; in 1.0, with `auto`, of an agent whose "
        "card has no flag for it"),
    ROW(extended_card_not_configured, 404, -32007, 200, failed_precondition, false,
        "No extended card of this agent is configured to be shown.",
        "the extended card of an agent with `extended_card: off`; without providers, also with `managed`, or with "
        "`auto` and `bearer`, `credentials`, `headers` or a client certificate"),
    ROW(version_not_supported, 400, -32009, 200, failed_precondition, false,
        "This version of A2A is not supported; 0.3 and 1.0 are.",
        "a call of A2A whose `A2A-Version` is neither 0.2, 0.3 nor 1.0"),
    ROW(operation_unsupported, 400, -32004, 200, failed_precondition, false,
        "This agent cannot do that.",
        "a translated call: the agent's generation of A2A does not have the operation"),
    ROW(version_conflict, 409, -31409, 409, aborted, false,
        "The agent has another version.",
        "`/rpc`: the agent has another version than `ifVersion`"),
    ROW(handover_failed, 409, -31409, 409, failed_precondition, false,
        "No other process has taken over; this one serves as before.",
        "`POST /handover`: no other process has taken over"),
    ROW(admin_only, 403, -31403, 403, permission_denied, false,
        "This method is for the admin listener and needs the scopes cardea:read and cardea:write there.",
        "`/rpc`: a method that writes was sent to the traffic listener, or by a caller without the scopes "
        "`cardea:read` and `cardea:write`"),
    ROW(unauthenticated, 401, -31401, 401, unauthenticated, false,
        "This needs a valid credential.",
        "the request has no credential, or one that no provider of `access` accepts; `WWW-Authenticate` names every "
        "provider"),
    ROW(forbidden, 403, -31403, 403, permission_denied, false,
        "This credential does not allow it.",
        "the principal may know of the agent, but not call it, or not with this method (`WWW-Authenticate` names the "
        "[scopes](security.md#scopes-in-refusals) that it lacks); or it lacks the scope for `/rpc` or for the admin "
        "listener; a registration of an agent that did not register itself"),
    ROW(agent_contained, 403, -31403, 403, permission_denied, false,
        "An operator has stopped this agent for now.",
        "an operator [contains](operations/contain.md) the agent; `data.until` says for how long, if there is an end"),
    ROW(principal_contained, 403, -31403, 403, permission_denied, false,
        "An operator has stopped this caller for now.",
        "an operator [contains](operations/contain.md) the principal of the credential, or the agent that calls with "
        "it"),
    ROW(rate_limited, 429, -31429, 429, resource_exhausted, true,
        "Too many requests; try again later.",
        "a limit of [`rate_limits`](security.md#limit-callers) is reached; or `limits.failed_credentials` of the "
        "address is reached, or 32 of its credentials wait to be checked"),
    ROW(not_acceptable, 406, -31406, 406, invalid_argument, false,
        "The field Accept must allow application/json or text/event-stream.",
        "MCP: `Accept` excludes `application/json` and `text/event-stream`, or events where [only "
        "they](mcp.md#what-passes) can be the answer"),
    ROW(origin_forbidden, 403, -31403, 403, permission_denied, false,
        "Pages of this origin may not call the gateway.",
        "a web page that calls an MCP server, or whose browser asks whether it may call (`OPTIONS`), is neither of "
        "the gateway's origin nor of one of `cors.origins`; `admin`: a page of [another "
        "site](security.md#pages-of-other-sites) made the request; `admin` and `metrics`: it has come through a Cardea "
        "gateway"),
    ROW(session_not_found, 404, -32001, 404, not_found, false,
        "Session not found.",
        "MCP: the session id is not known here, has ended, was idle for too long, or belongs to another agent or "
        "principal"),
    ROW(session_required, 400, -31400, 400, failed_precondition, false,
        "This server takes messages in a session only; begin one with initialize.",
        "MCP: a message without a session to a server with `sessionless: refuse`, or about subscriptions to one with "
        "`sessions: shared`"),
    ROW(header_mismatch, 400, -32020, 400, invalid_argument, false,
        "The header fields say something else than the body.",
        "MCP: `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name` or `Mcp-Param-*` is missing or differs from the body"),
    ROW(version_unsupported, 400, -32022, 400, invalid_argument, false,
        "This protocol version is not supported.",
        "MCP: the protocol version is not known, or `initialize` came with `MCP-Protocol-Version` of the modern era; "
        "`data.supported` has those that serve"),
    ROW(input_expired, 400, -32602, 400, failed_precondition, false,
        "The state of this call is not known or no longer good; begin the call again.",
        "MCP: the `requestState` of a call that asked for input is forged, another principal's, too old or used"),
    ROW(events_gone, 400, -31400, 400, failed_precondition, false,
        "The events after Last-Event-ID are not kept here; go on without it.",
        "MCP: what followed the event of `Last-Event-ID` is [not kept any "
        "more](mcp.md#a-client-that-loses-its-connection), or the event is of no stream of the session"),
    ROW(caller_gone, 499, -31499, 499, cancelled, false,
        "The caller went away.",
        "in the log only: the caller has left"),
    // JSON-RPC 2.0 section 5.1.
    ROW(parse_error, 400, -32700, 200, invalid_argument, false,
        "The body is not valid JSON.",
        "the body is not JSON, or nested deeper than 64; the message of a call by gRPC is not protocol buffers"),
    ROW(invalid_request, 400, -32600, 200, invalid_argument, false,
        "The body is not a JSON-RPC 2.0 request.",
        "not one JSON-RPC 2.0 request; batches of calls are refused"),
    ROW(method_not_found, 404, -32601, 200, unimplemented, false,
        "There is no such method.",
        "`/rpc`: the method does not exist"),
    ROW(invalid_params, 400, -32602, 200, invalid_argument, false,
        "The parameters do not fit the method.",
        "`/rpc` and the directory: the agent is not named, or a parameter is wrong; a call names a task or a context "
        "[in a way that readers do not agree on](security.md#tasks-of-other-principals), or a context of another "
        "principal"),
    ROW(too_large, 413, -31413, 413, resource_exhausted, false,
        "The result does not fit into the answer to this batch; send the call by itself.",
        "`/rpc`: the results of the batch exceed `limits.rpc_answer`; send the call by itself"),
    // The agent behind the gateway.
    ROW(upstream_unresolved, 502, -32603, 502, unavailable, true,
        "The agent's host name could not be resolved.",
        "the name in the agent's `url` has no address, or the lookup failed"),
    ROW(upstream_refused, 502, -32603, 502, unavailable, true,
        "The agent could not be reached.",
        "nothing accepts connections at the agent's address"),
    ROW(upstream_forbidden, 502, -32603, 502, unavailable, false,
        "The agent's address is not one that this gateway may connect to.",
        "an agent that [registered itself](security.md#self-registration) names an address that is not public"),
    ROW(upstream_tls, 502, -32603, 502, unavailable, false,
        "The TLS connection to the agent failed.",
        "the agent's certificate or its TLS is [not accepted](operations/secure.md#tls-to-agents)"),
    ROW(upstream_proxy, 502, -32603, 502, unavailable, false,
        "The proxy did not connect the gateway to the agent.",
        "the [proxy](operations/agents.md#proxies) to the agent refuses, or makes no tunnel"),
    ROW(upstream_reset, 502, -32603, 502, unavailable, true,
        "The agent closed the connection before its answer was complete.",
        "the agent broke off before its answer was complete"),
    ROW(upstream_protocol, 502, -32603, 502, internal, false,
        "The agent's answer does not follow its protocol.",
        "the answer follows neither HTTP nor, of an MCP server, its protocol"),
    ROW(upstream_status, 502, -32603, 502, internal, false,
        "The agent answered with a status that cannot be used.",
        "the agent answered 3xx to a call ([not followed](operations/agents.md#redirects)), a page of HTML (a status "
        "of 400 or more stays), or not 200 to a card fetch; an MCP server [failed](mcp.md#sessions)"),
    ROW(upstream_timeout, 504, -32603, 504, deadline_exceeded, true,
        "The agent did not answer in time.",
        "connecting, the head of the answer or the card took too long"),
    ROW(upstream_credentials, 503, -31503, 503, unavailable, true,
        "The gateway has no valid credential for the agent; try again.",
        "the agent's OAuth server has given no token that still holds, or none in time"),
    ROW(event_too_large, 502, -32603, 502, resource_exhausted, false,
        "An event of the agent's stream is over the limit.",
        "an event of a stream exceeds `limits.sse_event`; if the stream has begun, it is cut"),
    ROW(message_too_large, 502, -32603, 502, resource_exhausted, false,
        "A message of the agent is over the limit.",
        "a message of an agent's answer by gRPC exceeds `limits.grpc_message`; in the log and in `agents/get`: a message "
        "of an MCP server exceeds `max_message`, or its answer to `initialize` or `server/discover` 256 KiB"),
    ROW(answer_untranslatable, 502, -32006, 200, internal, false,
        "The agent's answer cannot be translated for this caller.",
        "a translated call: the agent's answer is not an answer of A2A, cannot be said to this caller, or exceeds "
        "`limits.sse_event`"),
    ROW(card_not_json, 502, -32603, 502, internal, false,
        "The agent's card is not a JSON object.",
        "the document is not a JSON object, is nested deeper than 64, or has too many values"),
    ROW(card_invalid, 502, -32603, 502, internal, false,
        "The agent's card is not usable.",
        "the card is not an object, or has no name"),
    ROW(card_unrewritable, 502, -32603, 502, internal, false,
        "The agent's card cannot be made to point at this gateway.",
        "the card would still show the agent's address, or names no binding that Cardea can reach; `speaks` says "
        "what the agent speaks"),
    ROW(card_too_large, 502, -32603, 502, internal, false,
        "The agent's card is over the limit.",
        "over `cards.max_size`"),
    ROW(card_signature, 502, -32603, 502, internal, false,
        "The agent's card is not signed by a key that this gateway trusts.",
        "[no trusted key](operations/secure.md#signatures-of-cards) has signed the card"),
    ROW(card_held, 503, -31503, 503, unavailable, false,
        "The agent waits until an operator approves it.",
        "an agent that registered itself and has `pin: enforce` is not [approved](operations/pins.md) yet"),
    ROW(session_not_started, 503, -31503, 503, unavailable, true,
        "The session with this agent has not been started.",
        "an MCP server with `start: lazy` has not been started; [this request](mcp-trouble.md) starts it"),
    ROW(session_not_ready, 503, -31503, 503, unavailable, true,
        "The session with this agent is not ready yet.",
        "the session with the MCP server [is starting](mcp-trouble.md)"),
    ROW(session_failed, 503, -31503, 503, unavailable, true,
        "The session with this agent has not begun yet; it is tried again.",
        "the session with the MCP server [has never been ready](mcp-trouble.md); Cardea tries again"),
    ROW(session_crashed, 503, -31503, 503, unavailable, true,
        "The session with this agent ended; it is being started again.",
        "the session with the MCP server [ended](mcp-trouble.md); Cardea tries again"),
    ROW(session_misconfigured, 503, -31503, 503, unavailable, false,
        "The session with this agent cannot begin as it is configured.",
        "the program does not exist, or the server answers 401 or 403: [an operator has to act](mcp-trouble.md)"),
    // The gateway itself.
    ROW(circuit_open, 503, -31503, 503, unavailable, true,
        "The agent has failed too often; calls to it are paused.",
        "the agent has failed too often, and calls to it are paused: its "
        "[breaker](operations/failures.md#agents-that-fail) is open. `Retry-After` says when it is tried again"),
    ROW(draining, 503, -31503, 503, unavailable, true,
        "The gateway is shutting down.",
        "Cardea is shutting down: `agents/refreshCard`; in the log, streams that the shutdown ended"),
    ROW(overloaded, 503, -31503, 503, unavailable, true,
        "The gateway is at its limit.",
        "a limit of connections (the connection closes), streams, bytes or [calls of an "
        "agent](operations/failures.md#too-many-calls) is reached, as [limits](limits.md) says; `agents/refreshCard` "
        "on `listen` within `cards.min_ttl`; no descriptor is left; or the gateway is "
        "[overloaded](operations/failures.md#overload)"),
    ROW(session_limit, 503, -31503, 503, unavailable, true,
        "This agent has as many sessions as it may have; try again later.",
        "MCP: the agent has `max_sessions` sessions, or the principal half of them, and all are in use"),
    ROW(access_unavailable, 503, -31503, 503, unavailable, true,
        "The credential could not be checked; try again.",
        "the credential could not be checked: the keys of its issuer are not known, or too many credentials wait to "
        "be checked"),
    ROW(extended_card_incomplete, 500, -32603, 500, internal, false,
        "The overlays of this agent leave its card without a name or description.",
        "`overlays` leave the extended card without a name or a description"),
    ROW(store_full, 507, -31507, 507, resource_exhausted, false,
        "The disk of the store is full.",
        "the disk of the store is full; reading and `agents/delete` still work"),
    ROW(store_failed, 500, -32603, 500, internal, false,
        "The store failed.",
        "the store's file cannot be read or written"),
    ROW(store_unreachable, 503, -31503, 503, unavailable, true,
        "The gateway does not reach its store; nothing was written.",
        "the [database](operations/replicas.md) cannot be reached or answers too late, and nothing was written. After a start "
        "that has not read it yet: every route but `/healthz`"),
    ROW(store_newer, 503, -31503, 503, unavailable, false,
        "The store belongs to a newer version of the gateway, which alone writes to it.",
        "a newer version has moved the [database](operations/replicas.md) on; this one goes on serving, and writes nothing"),
    ROW(write_unknown, 503, -31503, 503, unavailable, false,
        "The store did not say whether it has written.",
        "the connection to the [database](operations/replicas.md) ended during a write, and no other could settle it: look "
        "before you write again"),
    ROW(config_invalid, 422, -31422, 422, invalid_argument, false,
        "The configuration is not valid.",
        "`POST /reload`: the configuration has problems, and nothing has changed. At a start, Cardea exits"),
    ROW(internal, 500, -32603, 500, internal, false,
        "The gateway failed.",
        "a bug"),
// clang-format on
#undef ROW
});

constexpr std::size_t index_of(errc code) noexcept
{
    return static_cast<std::size_t>(code) - static_cast<std::size_t>(errc::bad_request);
}

static_assert(rows.size() == index_of(errc::internal) + 1, "every code has a row");
static_assert(
    std::ranges::all_of(rows, [](const error_row& row) { return &row == &rows[index_of(row.code)]; }),
    "rows have the order of the codes"
);

}  // namespace

std::span<const error_row> error_rows() noexcept
{
    return rows;
}

const error_row& row_of(errc code) noexcept
{
    return rows[std::min(index_of(code), rows.size() - 1)];
}

grpc_code grpc_status(errc code, error_edition edition) noexcept
{
    // Specification 1.0.1 section 5.4 changed these.
    const bool changed = code == errc::operation_unsupported || code == errc::extended_card_unsupported ||
                         code == errc::version_not_supported;
    return changed && edition == error_edition::v1_0_0 ? grpc_code::unimplemented : row_of(code).grpc_status;
}

bool passes(unsigned status) noexcept
{
    return status == 408 || status == 429 || status == 502 || status == 503 || status == 504;
}

std::string_view name(side from) noexcept
{
    constexpr auto names = std::to_array<std::string_view>({"caller", "upstream", "gateway"});
    return names[static_cast<std::size_t>(from)];
}

void throw_exception_from_error(const error& e, const boost::source_location& where)
{
    throw std::logic_error(where.to_string() + ": " + std::string(name(e.code)) + ": " + e.detail);
}

}  // namespace core
