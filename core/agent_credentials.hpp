// The credentials that the gateway sends to an agent, as an operator configures them. Values only.
#pragma once

#include "core/access.hpp"
#include "core/boxed.hpp"
#include "core/secret.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace core {

// RFC 7617.
struct basic_credentials {
    std::string username;
    secret password;

    friend bool operator==(const basic_credentials&, const basic_credentials&) = default;
};

struct key_credential {
    credential_place place = credential_place::header;
    std::string name;  // of the header, the cookie or the query parameter
    secret value;

    friend bool operator==(const key_credential&, const key_credential&) = default;
};

// How a client shows the token endpoint who it is (RFC 6749 section 2.3.1): by a header field, or in the form.
enum class client_authentication : std::uint8_t { basic, post };

// "basic", "post".
std::string_view name(client_authentication a) noexcept;

// For whom a client asks for a token: for itself (client credentials, RFC 6749 section 4.4), or for the caller, whose bearer
// token it exchanges for one that is for the agent (RFC 8693).
enum class oauth_grant : std::uint8_t { client_credentials, token_exchange };

// "client_credentials", "token_exchange".
std::string_view name(oauth_grant g) noexcept;

struct oauth_client {
    std::string token_url;  // https, or a loopback host
    std::string client_id;
    secret client_secret;
    std::vector<std::string> scopes;
    std::string audience;  // empty: none
    std::string resource;  // RFC 8707; empty: none
    client_authentication authentication = client_authentication::basic;
    oauth_grant grant = oauth_grant::client_credentials;

    friend bool operator==(const oauth_client&, const oauth_client&) = default;
};

// A secret alone is a bearer (RFC 6750 section 2.1).
using agent_credentials = std::variant<std::monostate, secret, basic_credentials, key_credential, boxed<oauth_client>>;

// Which credentials of a caller go on to the agent: all, or those in the header fields of these names, or none.
struct caller_credentials {
    bool all = false;
    std::vector<std::string> names;

    friend bool operator==(const caller_credentials&, const caller_credentials&) = default;
};

}  // namespace core
