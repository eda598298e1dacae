// Credentials that the gateway shows an agent: as header lines and as a part of the query. Pure; any thread.
#pragma once

#include "core/agent.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::model {

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

}  // namespace gateway::model
