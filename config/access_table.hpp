// The table of all keys of the maps below `access`, of the rules of a policy, of an agent's credentials, and of a bundle: how each is written,
// what it means, and the member it sets. The reader, the dump, the JSON Schema and docs/configuration.md follow from it. Pure.
#pragma once

#include "config/value_kind.hpp"
#include "core/json/json.hpp"

#include <array>
#include <cstdint>
#include <memory>
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
    oauth2,
    bundle,
    bundle_member,
    bundle_tools,
    bundle_list
};

struct access_key {
    access_map of;
    std::string_view name;
    std::shared_ptr<const any_key> key;
    std::string_view usual;  // the default, in words, or is_required
    std::string_view meaning;
};

inline constexpr std::string_view is_required = "required";

std::span<const access_key> all_access_keys();

// The keys of one kind of map.
std::vector<std::string_view> keys_of(access_map map);

// The JSON Schema of such a map.
core::json map_schema(access_map map);

core::json access_schema();
core::json policy_schema();

struct provider_type {
    std::string_view name;
    access_map map;
};
// In the order of core::provider_settings.
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
