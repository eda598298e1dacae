#include "gateway/management/advice.hpp"

#include "core/redaction.hpp"
#include "core/secret.hpp"
#include "core/utf8.hpp"
#include "gateway/model/terminal_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace gateway::management {
namespace {

using core::errc;

struct code_row {
    errc code;
    std::string_view what_to_do;
};

// In the order of the codes.
constexpr auto code_rows = std::to_array<code_row>({
    {errc::bad_request, "Correct the client; detail in the access line says which rule of HTTP it breaks."},
    {errc::not_found, "Compare the client's address with the endpoints on the agent's page."},
    {errc::method_not_allowed, "Use one of the methods in the header Allow of the answer."},
    {errc::request_timeout, "Look at the client's network; timeouts.header and timeouts.body are the limits."},
    {errc::body_too_large, "Send less, or raise limits.body."},
    {errc::target_too_long, "Send parameters in the body, or raise limits.target."},
    {errc::header_too_large,
     "Send fewer or shorter fields, or raise limits.header, limits.header_fields or limits.header_value."},
    {errc::unsupported_media_type, "Send JSON with Content-Type: application/json, not compressed."},
    {errc::expectation_failed, "Send no Expect, or Expect: 100-continue."},
    {errc::misdirected_request, "Add the host name to hosts, or use one that the gateway answers for."},
    {errc::loop_detected, "Look for an agent whose url leads back to this gateway."},
    {errc::chain_limited,
     "Run cardea edges to see which agents call each other; raise chains.in_flight or chains.calls if they should."},
    {errc::not_implemented, "Use a method that the agent has; for A2A calls of an MCP server remove bridge: false."},
    {errc::http_version_not_supported, "Use a client that speaks HTTP/1.1."},
    {errc::agent_not_found, "Compare the id with the list of agents; a disabled agent is not served."},
    {errc::agent_unnamed,
     "Name one agent: by its host name, the tenant of its card or cardea-agent; or set grpc.default_agent."},
    {errc::grpc_method_unknown, "Use a method that A2A has, or add the service to the agent's relay_services."},
    {errc::grpc_compressed, "Send the message without compression."},
    {errc::task_not_found, "Ask with the credential that began the task; a task of another principal is not shown."},
    {errc::agent_read_only, "Change the agent in the configuration, then reload."},
    {errc::extension_required, "Name the extensions of the agent's card in A2A-Extensions."},
    {errc::extended_card_unsupported,
     "Use the public card; an MCP server has an extended one with extended_card: managed."},
    {errc::extended_card_not_configured, "Set extended_card for the agent if its extended card is to be shown."},
    {errc::version_not_supported, "Send A2A-Version 0.3 or 1.0."},
    {errc::operation_unsupported, "Use an operation that the agent's generation of A2A has."},
    {errc::version_conflict, "Read the agent again and repeat the change with its new version."},
    {errc::handover_failed, "Look at the log of the process that should have taken over."},
    {errc::admin_only, "Send the method to the admin listener, with the scopes cardea:read and cardea:write."},
    {errc::unauthenticated, "Send a credential that a provider of access accepts; WWW-Authenticate names them."},
    {errc::forbidden, "Grant the principal the right in the policies of the agent or in access.rules."},
    {errc::agent_contained, "Release the agent with cardea agents release, once what it did is mended."},
    {errc::principal_contained, "Release the principal with cardea principals release, once its key is replaced."},
    {errc::rate_limited, "Wait for Retry-After, or raise the limit in rate_limits."},
    {errc::not_acceptable, "Let Accept allow application/json and text/event-stream."},
    {errc::origin_forbidden, "Add the page's origin to cors.origins if its scripts may call."},
    {errc::session_not_found, "Begin a new session with initialize."},
    {errc::session_required, "Begin with initialize, or allow calls without a session with sessionless."},
    {errc::header_mismatch,
     "Use a client whose fields MCP-Protocol-Version, Mcp-Method and Mcp-Name are those of its body."},
    {errc::version_unsupported, "Use one of the versions in data.supported."},
    {errc::input_expired, "Begin the call again."},
    {errc::events_gone, "Connect again without Last-Event-ID."},
    {errc::caller_gone, "Nothing, unless many callers leave: then compare their patience with the agent's p99."},
    {errc::parse_error, "Send one JSON document, nested at most 64 deep."},
    {errc::invalid_request, "Send one JSON-RPC 2.0 request at a time."},
    {errc::method_not_found, "Compare the method's name with the documentation."},
    {errc::invalid_params, "Correct the parameters that the answer names."},
    {errc::too_large, "Send the call by itself, or raise limits.rpc_answer."},
    {errc::upstream_unresolved, "Correct the host name in the agent's url, or the name server of this machine."},
    {errc::upstream_refused, "Start the agent, or correct its url; a firewall that blocks looks the same."},
    {errc::upstream_forbidden, "If the agent really has a private address, declare it in the configuration."},
    {errc::upstream_tls, "Renew the agent's certificate, or trust its authority with tls.ca_file."},
    {errc::upstream_proxy, "Let the proxy connect to the agent, or name the agent's host in no_proxy."},
    {errc::upstream_reset, "Look at the agent's log: it ends connections before its answer is complete."},
    {errc::upstream_protocol, "Look at detail in the access line; the agent's url may lead to another kind of server."},
    {errc::upstream_status, "Look at the agent's log; detail in the access line has its status."},
    {errc::upstream_timeout, "Look at the agent's load, or raise its timeout."},
    {errc::upstream_credentials, "Look at credentials in the agent's settings, and at the log of its OAuth server."},
    {errc::event_too_large, "Let the agent send smaller events, or raise limits.sse_event."},
    {errc::message_too_large, "Let the server send smaller messages, or raise max_message."},
    {errc::answer_untranslatable,
     "Let the caller use the agent's own generation of A2A; detail in the access line says what did not "
     "fit."},
    {errc::card_not_json, "Correct card_url, or the agent, so that its card is a JSON object."},
    {errc::card_invalid, "Correct the agent's card; cardea card lint says what is wrong."},
    {errc::card_unrewritable, "Set url and speaks of the agent so that they fit one of the interfaces in its card."},
    {errc::card_too_large, "Let the agent shorten its card, or raise cards.max_size."},
    {errc::card_signature, "Sign the card with one of the agent's trusted_keys, or add its key to them."},
    {errc::card_held, "Compare what waits with cardea agents pins --diff, then cardea agents approve."},
    {errc::session_not_started, "Ask for the card or call the agent once: that starts it."},
    {errc::session_not_ready, "Wait; if it stays so, look at the session's state and stderr."},
    {errc::session_failed,
     "Look at the reason of the session and at the program's stderr, correct it, then restart the "
     "session."},
    {errc::session_crashed, "Look at the program's stderr, correct what it complains of, then restart the session."},
    {errc::session_misconfigured, "Correct command, args, env or the credential of the agent; a reload starts it again."
    },
    {errc::circuit_open, "Mend the agent; then reset its breaker, or wait for the next trial."},
    {errc::draining, "Wait for the new process, or start the gateway again."},
    {errc::overloaded, "Look at the limits and the load on the page of the gateway."},
    {errc::session_limit, "Raise the agent's max_sessions, or let clients end sessions that they do not use."},
    {errc::access_unavailable, "Look at the address of the provider's keys: the gateway cannot fetch them."},
    {errc::extended_card_incomplete, "Correct the agent's overlays: they remove the card's name or description."},
    {errc::store_full, "Make room on the disk of the store."},
    {errc::store_failed, "Look at the disk and the rights of the store's file; the log has the failure."},
    {errc::store_unreachable, "Look at the database and the way to it; the log has the reason. Calls go on meanwhile."},
    {errc::store_newer, "Replace this process by the newer version, as the others."},
    {errc::write_unknown, "Read the agent with --fresh, then write again if it is not what you wanted."},
    {errc::config_invalid, "Correct the problems that are listed, then reload."},
    {errc::internal, "This is a bug of the gateway: report it with the line internal_error of the log."},
});

constexpr std::size_t index_of(errc code) noexcept
{
    return static_cast<std::size_t>(code) - static_cast<std::size_t>(errc::bad_request);
}

static_assert(code_rows.size() == index_of(errc::internal) + 1, "every code has a sentence");
static_assert(
    std::ranges::all_of(code_rows, [](const code_row& row) { return &row == &code_rows[index_of(row.code)]; }),
    "sentences have the order of the codes"
);

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
    return {core::message(code), code_rows[std::min(index_of(code), code_rows.size() - 1)].what_to_do};
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

namespace {

constexpr std::size_t longest_sentence = 200;  // bytes

// The length of a credential that `text` begins with, in quotes or not, and how much stands before it.
std::pair<std::size_t, std::size_t> credential_in(std::string_view text)
{
    const bool quoted = text.starts_with('"') || text.starts_with('\'');
    const auto from = quoted ? std::size_t{1} : std::size_t{0};
    const auto end = quoted ? text.find(text.front(), 1) : text.find_first_of(" \t\r\n\"'&;,)");
    return {from, std::min(end, text.size()) - from};
}

// The length of a user with a password at the beginning of an authority; 0: there is none.
std::size_t user_in(std::string_view text)
{
    const auto authority = text.substr(0, text.find_first_of("/?# \t\r\n\"'<>"));
    const auto at = authority.rfind('@');
    return at == authority.npos || authority.substr(0, at).find(':') == authority.npos ? 0 : at;
}

// With a mask for what looks like a credential that the configuration does not know of.
std::string without_credentials(std::string_view text)
{
    constexpr std::array signs{"bearer ", "password=", "token=", "secret=", "api_key=", "://"};
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    std::string out;
    while (!text.empty()) {
        const auto* const sign = std::ranges::find_if(signs, [&](std::string_view each) {
            return std::ranges::equal(text.substr(0, each.size()), each, {}, lower);
        });
        if (sign == signs.end()) {
            out += text.front();
            text.remove_prefix(1);
            continue;
        }
        const std::string_view name{*sign};
        out += text.substr(0, name.size());
        text.remove_prefix(name.size());
        auto [from, length] = name == "://" ? std::pair{std::size_t{0}, user_in(text)} : credential_in(text);
        // A word: `Bearer token is missing`.
        if (length == 0 || (name == "bearer " && length < core::redaction::shortest)) {
            continue;
        }
        out.append(text.substr(0, from)).append(core::masked);
        text.remove_prefix(from + length);
    }
    return out;
}

// The sentence with more in it, cut before its full stop.
std::string extended(std::string_view sentence, const std::string& more)
{
    std::string out{sentence.substr(0, sentence.size() - 1)};
    out += model::printable(more);
    while (out.ends_with('.')) {
        out.pop_back();
    }
    if (out.size() >= longest_sentence) {
        out = std::string{core::cut_utf8(out, longest_sentence - 4)} + "…";
    }
    return out + '.';
}

// The name of an environment variable that a program misses, as its last words say; empty: they say none.
std::string missing_variable(std::string_view words)
{
    constexpr std::array signs{"missing", "required", "not set", "must be set", "undefined", "not found", "unset"};
    if (std::ranges::none_of(signs, [&](std::string_view sign) { return words.find(sign) != words.npos; })) {
        return {};
    }
    const auto fits = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; };
    for (std::size_t at = 0; at < words.size();) {
        const auto end = static_cast<std::size_t>(std::ranges::find_if_not(words.substr(at), fits) - words.begin());
        const auto word = words.substr(at, end - at);
        if (word.size() >= 3 && word.size() <= 64 && (word.find('_') != word.npos || word.size() >= 4) &&
            std::ranges::any_of(word, [](char c) { return c >= 'A' && c <= 'Z'; }) && word != "ERROR" &&
            word != "WARN" && word != "FATAL" && word != "INFO") {
            return std::string{word};
        }
        at = end + 1;
    }
    return {};
}

agent_words words_of_session(const sessions::session_facts& session, const std::vector<std::string>& complaints)
{
    const auto reason = session.failure ? session.failure->reason : session.reason;
    const auto detail = without_credentials(session.failure ? session.failure->detail : session.detail);
    const auto words = advice_for(reason);
    if (words.why.empty()) {
        return {};
    }
    const auto last = std::ranges::find_if(complaints.rbegin(), complaints.rend(), [](const auto& line) {
        return line.find_first_not_of(" \t\r") != line.npos;
    });
    const auto wrote = last == complaints.rend() ? std::string{} : without_credentials(*last);
    // A detail of a program that ended begins with its exit code or signal, and may have its last words.
    const bool ended = reason == ::mcp::session_reason::exited && detail.starts_with("exit code");
    auto more = ended ? " with " + detail : detail.empty() ? std::string{} : " (" + detail + ')';
    if (!wrote.empty() && detail.find(wrote) == detail.npos) {
        more += "; it wrote: " + wrote;
    }
    agent_words out{extended(words.why, more), std::string{words.what_to_do}};
    if (const auto variable = missing_variable(wrote); !variable.empty()) {
        out.what_to_do = "Set " + variable + " in env of the agent, then restart the session.";
    }
    return out;
}

}  // namespace

agent_words words_of(
    const judgement& judged,
    const cards::card_status* card,
    const sessions::session_facts* session,
    const std::vector<std::string>& complaints
)
{
    if (judged.reason.empty()) {
        return {};
    }
    const bool about_session = judged.reason.starts_with("session_") || judged.status == health::degraded;
    if (session != nullptr && about_session && judged.reason != "calls_failing") {
        if (auto words = words_of_session(*session, complaints); !words.why.empty()) {
            return words;
        }
    }
    const auto words = advice_for(judged.reason);
    const bool of_card = card != nullptr && card->failure && core::name(card->failure->code) == judged.reason;
    auto detail = of_card ? without_credentials(card->failure->detail) : std::string{};
    if (constexpr std::string_view prefix = "fetch: "; detail.starts_with(prefix)) {
        detail.erase(0, prefix.size());
    }
    if (!detail.empty()) {
        detail = " (" + detail + ')';
    }
    if (words.why.empty()) {
        return {};
    }
    return {extended(words.why, detail), std::string{words.what_to_do}};
}

}  // namespace gateway::management
