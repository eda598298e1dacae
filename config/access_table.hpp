// Every key of the maps below `access`, of the rules of a policy, and of an agent's credentials, once: how it is written and what it means. Messages
// about unknown keys, the JSON Schema and docs/configuration.md follow from it. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace config {

enum class access_map : std::uint8_t {
    access,
    static_token,
    api_key,
    key,
    jwt,
    oidc,
    azure_ad,
    gcp_iap,
    http_verifier,
    aws_sigv4,
    mtls,
    agents_rule,
    policy_rule,
    credentials,
    basic,
    agent_key,
    oauth2
};

enum class access_form : std::uint8_t {
    on_off,
    list_of_providers,
    list_of_rules,
    type_name,
    name,
    text,
    texts,
    secret,
    path,
    claims,
    query_word,
    list_of_keys,
    hash,
    scrypt_hash,
    time,
    algorithms,
    secure_url,
    leeway,
    verifier_timeout,
    verifier_cache,
    certificate_name,
    policy,
    basic_map,
    agent_key_map,
    oauth2_map,
    client_authentication,
    oauth_grant
};

struct access_key {
    access_map of;
    std::string_view name;
    access_form form;
    std::string_view usual;  // what holds if the key is not given, or is_required
    std::string_view meaning;
};

inline constexpr std::string_view is_required = "required";

std::span<const access_key> all_access_keys();

// The keys of one kind of map.
std::vector<std::string_view> keys_of(access_map map);

// As docs/configuration.md says it.
std::string written_as(access_form form);

struct provider_type {
    std::string_view name;
    access_map map;
};
inline constexpr auto provider_types = std::to_array<provider_type>(
    {{"static_token", access_map::static_token},
     {"api_key", access_map::api_key},
     {"jwt", access_map::jwt},
     {"oidc", access_map::oidc},
     {"azure_ad", access_map::azure_ad},
     {"gcp_iap", access_map::gcp_iap},
     {"http_verifier", access_map::http_verifier},
     {"aws_sigv4", access_map::aws_sigv4},
     {"mtls", access_map::mtls}}
);

// Signature algorithms with a public key (RFC 7518 section 3.1, RFC 8037).
inline constexpr auto token_algorithms = std::to_array<std::string_view>(
    {"ES256", "ES384", "ES512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "EdDSA"}
);

// The words that are a policy.
inline constexpr std::string_view word_anyone = "anyone";
inline constexpr std::string_view word_authenticated = "authenticated";
inline constexpr std::string_view word_nobody = "nobody";

// The words that `caller_credentials` may be.
inline constexpr std::string_view word_drop = "drop";
inline constexpr std::string_view word_passthrough = "passthrough";

}  // namespace config
