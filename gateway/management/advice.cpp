#include "gateway/management/advice.hpp"

#include <algorithm>
#include <array>

namespace gateway::management {
namespace {

using core::errc;

// An exhaustive switch: a new code does not compile without its sentence.
std::string_view what_to_do(errc code) noexcept
{
    switch (code) {
        case errc::bad_request:
            return "Correct the client; detail in the access line says which rule of HTTP it breaks.";
        case errc::not_found:
            return "Compare the client's address with the endpoints on the agent's page.";
        case errc::method_not_allowed:
            return "Use one of the methods in the header Allow of the answer.";
        case errc::request_timeout:
            return "Look at the client's network; timeouts.header and timeouts.body are the limits.";
        case errc::body_too_large:
            return "Send less, or raise limits.body.";
        case errc::target_too_long:
            return "Send parameters in the body, or raise limits.target.";
        case errc::header_too_large:
            return "Send fewer or shorter fields, or raise limits.header, limits.header_fields or limits.header_value.";
        case errc::unsupported_media_type:
            return "Send JSON with Content-Type: application/json, not compressed.";
        case errc::expectation_failed:
            return "Send no Expect, or Expect: 100-continue.";
        case errc::misdirected_request:
            return "Add the host name to hosts, or use one that the gateway answers for.";
        case errc::loop_detected:
            return "Look for an agent whose url leads back to this gateway.";
        case errc::not_implemented:
            return "Use a method that the agent has; for A2A calls of an MCP server remove bridge: false.";
        case errc::http_version_not_supported:
            return "Use a client that speaks HTTP/1.1.";
        case errc::agent_not_found:
            return "Compare the id with the list of agents; a disabled agent is not served.";
        case errc::task_not_found:
            return "Ask with the credential that began the task; a task of another principal is not shown.";
        case errc::agent_read_only:
            return "Change the agent in the configuration, then reload.";
        case errc::extension_required:
            return "Name the extensions of the agent's card in A2A-Extensions.";
        case errc::extended_card_unsupported:
            return "Use the public card; an MCP server has an extended one with extended_card: managed.";
        case errc::extended_card_not_configured:
            return "Set extended_card for the agent if its extended card is to be shown.";
        case errc::version_not_supported:
            return "Send A2A-Version 0.3 or 1.0.";
        case errc::operation_unsupported:
            return "Use an operation that the agent's generation of A2A has.";
        case errc::version_conflict:
            return "Read the agent again and repeat the change with its new version.";
        case errc::handover_failed:
            return "Look at the log of the process that should have taken over.";
        case errc::admin_only:
            return "Send the method to the admin listener, with the scopes cardea:read and cardea:write.";
        case errc::unauthenticated:
            return "Send a credential that a provider of access accepts; WWW-Authenticate names them.";
        case errc::forbidden:
            return "Grant the principal the right in the policies of the agent or in access.rules.";
        case errc::rate_limited:
            return "Wait for Retry-After, or raise the limit in rate_limits.";
        case errc::not_acceptable:
            return "Let Accept allow application/json and text/event-stream.";
        case errc::origin_forbidden:
            return "Add the page's origin to cors.origins if its scripts may call.";
        case errc::session_not_found:
            return "Begin a new session with initialize.";
        case errc::session_required:
            return "Begin with initialize, or allow calls without a session with sessionless.";
        case errc::header_mismatch:
            return "Use a client whose fields MCP-Protocol-Version, Mcp-Method and Mcp-Name are those of its body.";
        case errc::version_unsupported:
            return "Use one of the versions in data.supported.";
        case errc::input_expired:
            return "Begin the call again.";
        case errc::events_gone:
            return "Connect again without Last-Event-ID.";
        case errc::caller_gone:
            return "Nothing, unless many callers leave: then compare their patience with the agent's p99.";
        case errc::parse_error:
            return "Send one JSON document, nested at most 64 deep.";
        case errc::invalid_request:
            return "Send one JSON-RPC 2.0 request at a time.";
        case errc::method_not_found:
            return "Compare the method's name with the documentation.";
        case errc::invalid_params:
            return "Correct the parameters that the answer names.";
        case errc::too_large:
            return "Send the call by itself, or raise limits.rpc_answer.";
        case errc::upstream_unresolved:
            return "Correct the host name in the agent's url, or the name server of this machine.";
        case errc::upstream_refused:
            return "Start the agent, or correct its url; a firewall between here and there looks alike.";
        case errc::upstream_forbidden:
            return "Declare the agent in the configuration if a private address is meant.";
        case errc::upstream_tls:
            return "Renew the agent's certificate, or trust its authority with tls.ca_file.";
        case errc::upstream_proxy:
            return "Let the proxy connect to the agent, or name the agent's host in no_proxy.";
        case errc::upstream_reset:
            return "Look at the agent's log: it ends connections before its answer is complete.";
        case errc::upstream_protocol:
            return "Look at detail in the access line; the agent's url may lead to another kind of server.";
        case errc::upstream_status:
            return "Look at the agent's log; detail in the access line has its status.";
        case errc::upstream_timeout:
            return "Look at the agent's load, or raise its timeout.";
        case errc::upstream_credentials:
            return "Look at credentials in the agent's settings, and at the log of its OAuth server.";
        case errc::event_too_large:
            return "Let the agent send smaller events, or raise limits.sse_event.";
        case errc::message_too_large:
            return "Let the server send smaller messages, or raise max_message.";
        case errc::answer_untranslatable:
            return "Let the caller use the agent's own generation of A2A; detail in the access line says what did not "
                   "fit.";
        case errc::card_not_json:
            return "Correct card_url, or the agent, so that its card is a JSON object.";
        case errc::card_invalid:
            return "Correct the agent's card; cardea card lint says what is wrong.";
        case errc::card_unrewritable:
            return "Set url and speaks of the agent so that they fit one of the interfaces in its card.";
        case errc::card_too_large:
            return "Let the agent shorten its card, or raise cards.max_size.";
        case errc::card_signature:
            return "Sign the card with one of the agent's trusted_keys, or add its key to them.";
        case errc::session_not_started:
            return "Ask for the card or call the agent once: that starts it.";
        case errc::session_not_ready:
            return "Wait; if it stays so, look at the session's state and stderr.";
        case errc::session_failed:
            return "Look at the reason of the session and at the program's stderr, correct it, then restart the "
                   "session.";
        case errc::session_crashed:
            return "Look at the program's stderr, correct what it complains of, then restart the session.";
        case errc::session_misconfigured:
            return "Correct command, args, env or the credential of the agent; a reload starts it again.";
        case errc::circuit_open:
            return "Mend the agent; then reset its breaker, or wait for the next trial.";
        case errc::draining:
            return "Wait for the new process, or start the gateway again.";
        case errc::overloaded:
            return "Look at the limits and the load on the page of the gateway.";
        case errc::session_limit:
            return "Raise the agent's max_sessions, or let clients end sessions that they do not use.";
        case errc::access_unavailable:
            return "Look at the address of the provider's keys: the gateway cannot fetch them.";
        case errc::extended_card_incomplete:
            return "Correct the agent's overlays: they remove the card's name or description.";
        case errc::store_full:
            return "Make room on the disk of the store.";
        case errc::store_failed:
            return "Look at the disk and the rights of the store's file; the log has the failure.";
        case errc::config_invalid:
            return "Correct the problems that are listed, then reload.";
        case errc::internal:
            return "This is a bug of the gateway: report it with the line internal_error of the log.";
    }
    return {};
}

struct reason_row {
    std::string_view reason;
    advice words;
};

// Reasons of health that are no codes (judgement::reason).
constexpr std::array health_reasons{
    reason_row{"disabled", {"The agent is disabled.", "Remove disabled from its settings if it is to be served."}},
    reason_row{
        "unusable",
        {"The stored agent has settings that this version does not know.", "Write it again, or remove it."}
    },
    reason_row{"inline_card", {"Its card is in the configuration, and no call of it has worked yet.", "Try it once."}},
    reason_row{
        "not_fetched",
        {"Nobody has asked for its card yet.", "Refresh its card, or wait for the first request."}
    },
    reason_row{"card_stale", {"Its card is older than it may be served.", "Refresh its card."}},
    reason_row{
        "calls_failing",
        {"More than half of its calls of the last five minutes failed.",
         "Open the calls of the agent and look at their codes."}
    }
};

}  // namespace

advice advice_for(errc code) noexcept
{
    return {core::message(code), what_to_do(code)};
}

advice advice_for(::mcp::session_reason reason) noexcept
{
    using enum ::mcp::session_reason;
    switch (reason) {
        case none:
            return {};
        case start_failed:
            return {
                "The server could not be started or reached.",
                "Correct its command or url; stderr and detail say what failed."
            };
        case start_timeout:
            return {"The server accepted no connection in time.", "Look at its load, or raise timeouts.initialize."};
        case probe_failed:
            return {
                "The server did not say which era it speaks.",
                "Set era of the agent, or look at the server's log."
            };
        case exited:
            return {"The program ended.", "Correct what its stderr complains of, then restart the session."};
        case handshake_refused:
            return {
                "The server refused the handshake, or has no version in common with Cardea.",
                "Look at detail; update the server, or correct its credential."
            };
        case handshake_timeout:
            return {"The server did not answer the handshake in time.", "Look at its stderr and its load."};
        case ping_timeout:
            return {"The server does not answer pings.", "Look at its load; restart the session if it hangs."};
        case session_lost:
            return {
                "The server forgot the session.",
                "Nothing: Cardea has begun another; look for restarts of the server."
            };
        case stream_down:
            return {
                "The stream of notifications is down.",
                "Look at proxies between here and the server; calls work without it."
            };
        case refresh_failed:
            return {"A list of the server could not be read.", "Look at detail; the last list stays in use."};
        case unreachable:
            return {"Nobody is at the server's address any more.", "Start the server, or correct its url."};
        case era_changed:
            return {"The server speaks another era of MCP by now.", "Nothing: Cardea begins again in that era."};
    }
    return {};
}

advice advice_for(std::string_view reason) noexcept
{
    const auto* const known = std::ranges::find(health_reasons, reason, &reason_row::reason);
    if (known != health_reasons.end()) {
        return known->words;
    }
    const auto rows = core::error_rows();
    if (const auto row = std::ranges::find(rows, reason, &core::error_row::name); row != rows.end()) {
        return advice_for(row->code);
    }
    for (std::size_t i = 0; i < ::mcp::session_reasons; ++i) {
        const auto each = static_cast<::mcp::session_reason>(i);
        if (::mcp::name(each) == reason) {
            return advice_for(each);
        }
    }
    return {};
}

}  // namespace gateway::management
