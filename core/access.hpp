// Who may reach what, as an operator configures it: providers that turn a caller's credential into a principal, and policies
// over principals. Values only; gateway/access/ acts on them.
#pragma once

#include "core/clock.hpp"
#include "core/secret.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace core {

// The pages that may read documents for everybody. `automatic` is `anyone` if callers need a credential, else `listed`.
enum class public_documents : std::uint8_t { automatic, anyone, listed };

// "auto", "anyone", "listed".
std::string_view name(public_documents d) noexcept;

// A claim and one of its values. A claim that is a list stands here once for each element; numbers and truth values stand
// as they are written in JSON.
using claim = std::pair<std::string, std::string>;

// The identity of a caller whose credential was accepted. Immutable once a provider has created it.
struct principal {
    std::string id;        // unique within its provider
    std::string provider;  // its name
    std::string tenant;    // empty: none
    std::vector<std::string> scopes;
    std::vector<std::string> groups;
    std::vector<claim> claims;

    friend bool operator==(const principal&, const principal&) = default;
};

// A principal by its name alone.
struct principal_name {
    std::string provider;
    std::string principal;  // its id

    friend auto operator<=>(const principal_name&, const principal_name&) = default;
};

// One condition. A list that is empty asks for nothing; of one that is not, the principal has at least one element. All
// lists together must hold.
struct access_rule {
    std::vector<std::string> principals = {};
    std::vector<std::string> providers = {};
    std::vector<std::string> scopes = {};
    std::vector<std::string> groups = {};
    std::vector<std::string> tenants = {};
    std::vector<claim> claims = {};
    std::vector<std::string> methods = {};  // JSON-RPC methods that the rule is for; only where calls are decided

    friend bool operator==(const access_rule&, const access_rule&) = default;
};

// Any of the rules suffices. Without a rule nobody is allowed, unless anyone is.
struct access_policy {
    bool anyone = false;  // anonymous callers too
    std::vector<access_rule> any_of;

    friend bool operator==(const access_policy&, const access_policy&) = default;
};

// The policies of agents that have none of their own.
struct access_default {
    std::vector<std::string> agents;  // ids, in which `*` is any text; empty: all agents
    std::optional<access_policy> discover;
    std::optional<access_policy> call;

    friend bool operator==(const access_default&, const access_default&) = default;
};

struct static_token_provider {
    secret token;
    principal bearer;

    friend bool operator==(const static_token_provider&, const static_token_provider&) = default;
};

// Where in a request an API key stands.
enum class credential_place : std::uint8_t { header, cookie, query };

// "header", "cookie", "query".
constexpr std::string_view name(credential_place place) noexcept
{
    switch (place) {
        case credential_place::header:
            return "header";
        case credential_place::cookie:
            return "cookie";
        case credential_place::query:
            break;
    }
    return "query";
}

struct api_key {
    std::string sha256;                // of the key: 64 lower-case hexadecimal digits
    std::optional<wall_time> expires;  // from then on it is refused
    bool disabled = false;
    principal owner;

    friend bool operator==(const api_key&, const api_key&) = default;
};

struct api_key_provider {
    credential_place place = credential_place::header;
    std::string field = "X-API-Key";  // the name of the header, the cookie or the query parameter
    std::vector<api_key> keys;

    friend bool operator==(const api_key_provider&, const api_key_provider&) = default;
};

struct jwt_provider {
    std::string issuer;
    std::vector<std::string> audiences;
    std::vector<std::string> algorithms;  // names of RFC 7518
    std::string key_set_url;              // one of the two; the other is empty
    std::string key_set_file;
    duration leeway{30'000};
    std::vector<std::string> client_ids = {};  // of tokens without `aud`, such as Amazon Cognito's access tokens
    std::string scope_prefix = {};             // in front of each scope, where callers ask the issuer for it

    friend bool operator==(const jwt_provider&, const jwt_provider&) = default;
};

// The keys of the issuer are where its discovery document says (OpenID Connect Discovery 1.0 section 4).
struct oidc_provider {
    std::string issuer;
    std::vector<std::string> audiences;
    std::vector<std::string> algorithms;
    duration leeway{30'000};
    std::vector<std::string> client_ids = {};  // as in jwt_provider
    std::string scope_prefix = {};

    friend bool operator==(const oidc_provider&, const oidc_provider&) = default;
};

// Microsoft Entra ID.
struct azure_ad_provider {
    std::string tenant;  // the id of the directory
    std::vector<std::string> audiences;
    std::string key_set_file;  // empty: the keys are where Microsoft publishes them
    duration leeway{30'000};
    std::string scope_prefix = {};  // as in jwt_provider

    friend bool operator==(const azure_ad_provider&, const azure_ad_provider&) = default;
};

// Google Cloud's Identity-Aware Proxy, whose tokens are in a header of their own.
inline constexpr const char* iap_header = "X-Goog-IAP-JWT-Assertion";
struct gcp_iap_provider {
    std::vector<std::string> audiences;
    std::string key_set_file;  // empty: the keys are where Google publishes them
    duration leeway{30'000};

    friend bool operator==(const gcp_iap_provider&, const gcp_iap_provider&) = default;
};

// A service that says whose a bearer token is.
struct http_verifier_provider {
    std::string url;
    duration timeout{1'000};
    duration cache{5'000};  // for how long it is not asked about an accepted token again

    friend bool operator==(const http_verifier_provider&, const http_verifier_provider&) = default;
};

// Bearer tokens that hold a signed request to the Security Token Service of AWS, which says who signed it.
struct aws_sigv4_provider {
    std::vector<std::string> hosts;  // that may be asked, with their ports if they are not the usual ones

    friend bool operator==(const aws_sigv4_provider&, const aws_sigv4_provider&) = default;
};

// The part of a client certificate that is the principal's id: the first alternative name, the subject, or the SPIFFE id.
enum class certificate_name : std::uint8_t { san, subject, spiffe };

struct mtls_provider {
    std::string ca_file;  // PEM: who vouches for the certificates of clients
    certificate_name principal = certificate_name::san;

    friend bool operator==(const mtls_provider&, const mtls_provider&) = default;
};

using provider_settings = std::variant<
    static_token_provider,
    api_key_provider,
    jwt_provider,
    oidc_provider,
    azure_ad_provider,
    gcp_iap_provider,
    http_verifier_provider,
    aws_sigv4_provider,
    mtls_provider>;

struct access_provider {
    std::string name;  // unique
    provider_settings type;

    friend bool operator==(const access_provider&, const access_provider&) = default;
};

struct access_settings {
    bool open = false;                       // callers from elsewhere than this machine need no credential
    std::vector<access_provider> providers;  // tried in this order; empty: no credential is read
    std::vector<access_default> rules;       // of those that fit an agent, the first with the policy counts

    friend bool operator==(const access_settings&, const access_settings&) = default;
};

// Whether a scope may have these characters (RFC 6749 section 3.3).
constexpr bool is_scope(std::string_view text) noexcept
{
    for (const char c : text) {
        if (c <= ' ' || c > '~' || c == '"' || c == '\\') {
            return false;
        }
    }
    return !text.empty();
}

// Rights over the gateway itself, by the scopes that principals have.
inline constexpr const char* scope_read = "cardea:read";
inline constexpr const char* scope_write = "cardea:write";
inline constexpr const char* scope_register = "cardea:register";
inline constexpr const char* scope_metrics = "cardea:metrics";

// Who may use the admin listener: whoever reaches it, which must then be at a loopback address; whoever reaches it, wherever it
// is; or principals with the scopes above.
enum class admin_access : std::uint8_t { loopback, open, scopes };

// "loopback", "open", "scopes".
std::string_view name(admin_access a) noexcept;

// The token for registrations has an owner of this id and provider; no provider of the settings has that name.
inline constexpr const char* registration_owner = "register";

// Agents that register themselves.
struct registration_settings {
    secret token;                    // whoever sends it may register agents; empty: no token does
    std::vector<std::string> allow;  // addresses and blocks of core/ip.hpp that are not public and may be named
};

}  // namespace core
