// Facts that follow from an agent's record alone, and the credentials that the gateway shows the agent. Pure; any thread.
#pragma once

#include "core/agent.hpp"
#include "core/redaction.hpp"
#include "core/utf8.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::model {

// Secrets that the agent is given, be it an MCP server or not. `tokens`: of its OAuth server.
core::redaction secrets_of(const core::agent& record, std::initializer_list<std::string_view> tokens = {});

// Whether both mean the same session with an MCP server, however else they differ: what is asked, how and with what.
bool same_session(const core::agent& a, const core::agent& b);

// Digest of all that a session with the agent's MCP server depends on, secrets included: two processes compare it. Empty: the agent has none.
std::string session_fingerprint(const core::agent& record);

// An MCP server that logs callers in itself: their Authorization is for the server, and no credential for the gateway.
bool passes_logins(const core::agent& record);

// The gateway keeps a session with the agent's MCP server: for its card, or for callers.
bool needs_session(const core::agent& record);

// One session can serve both records.
bool keeps_session(const core::agent& a, const core::agent& b);

// Callers' sessions can serve both records. An inline card does not end them: it needs no session of the gateway's own.
bool same_callers_sessions(const core::agent& a, const core::agent& b);

// Credentials that the gateway shows an agent: as header lines and as a part of the query.
struct sent_credentials {
    std::vector<std::pair<std::string, core::secret>> headers;  // of the credentials, then those of `headers`
    core::secret query;                                         // `name=value&...`, encoded; empty: none
};

// `token`: what the agent's OAuth server gave; empty: none yet.
sent_credentials credentials_of(const core::agent& record, std::string_view token = {});

// Whether the agent's credentials come from an OAuth server. Null: no.
const core::oauth_client* oauth_client_of(const core::agent& record) noexcept;

// Whether calls have tokens of its callers, exchanged there, and only what the gateway asks for itself has a token of its own.
bool exchanges_tokens(const core::agent& record) noexcept;

// Text as a component of a query or a form: all but unreserved characters escaped (RFC 3986 section 2.3).
std::string encoded(std::string_view text);

// `target` (a URL, or a request target without fragment) with `query` instead of the parameters of those names; as it is if `query`
// is empty.
std::string with_query(std::string target, const core::secret& query);

// Text of an agent or a server for operators: at most 256 bytes, and nothing of what it was given to keep.
inline std::string shown_words(const core::redaction& secrets, std::string_view words)
{
    constexpr std::size_t longest = 256;
    return std::string{core::cut_utf8(secrets.apply(words, core::cut_utf8(words, longest).size()), longest)};
}

}  // namespace gateway::model
