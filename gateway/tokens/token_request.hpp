// Requests of OAuth 2.0 for a token, and what their answers mean: the client credentials grant (RFC 6749 section 4.4), and token
// exchange (RFC 8693). Pure.
#pragma once

#include "core/agent_credentials.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/secret.hpp"
#include "gateway/model/credential_checks.hpp"
#include "net/client/fetch.hpp"

#include <chrono>
#include <cstddef>

namespace gateway::tokens {

inline constexpr std::size_t max_token_answer = 64 * 1024;  // bytes
inline constexpr std::size_t max_token = 16 * 1024;         // bytes
inline constexpr std::chrono::seconds token_timeout{5};
inline constexpr std::chrono::minutes usual_life{5};  // of a token whose server does not say
inline constexpr std::chrono::hours longest_life{24};

// For the client itself, whatever its grant. It shows who it is by a header field or in the form (section 2.3.1).
net::fetch_request token_request(const core::oauth_client& client);

// For somebody whose token is exchanged (RFC 8693 section 2.1).
net::fetch_request exchange_request(const core::oauth_client& client, const model::exchange_request& asked);

struct granted_token {
    core::secret text;
    core::duration life{};
};

// Fails with upstream_credentials: another status than 200, no JSON object, no bearer token of 1 to max_token visible ASCII
// characters, a life that is not a whole number of seconds, at least 1. The detail quotes the answer only where it is one of the
// error codes of section 5.2 and RFC 8707.
core::result<granted_token> read_token(const net::fetch_response& answer);

// Reads the answer to an exchange, which has to say that the token is an access token or a JWT (RFC 8693 section 2.2.1).
// Fails with forbidden if the server refuses whose token it was, or that they get one for the agent.
core::result<granted_token> read_exchanged_token(const net::fetch_response& answer);

// How long a token is used before the next one is asked for: 80 % of its life or until 30 s before its end, what is shorter, but
// at least half of its life.
core::duration renewal_after(core::duration life) noexcept;

}  // namespace gateway::tokens
