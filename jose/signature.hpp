// Signatures of JOSE: the algorithms (RFC 7518 section 3, RFC 8037), the kinds of key they need, and signing and verifying with a key of
// OpenSSL, in the form of JWS (RFC 7515). Asymmetric algorithms only: `none` and HS* do not exist here. Any thread.
#pragma once

#include "core/error.hpp"

#include <openssl/types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jose {

// A deleter that calls a function of OpenSSL.
template <auto Free>
struct freed_by {
    void operator()(auto* object) const noexcept { Free(object); }
};

inline const unsigned char* bytes_of(std::string_view text) noexcept
{
    return reinterpret_cast<const unsigned char*>(text.data());
}

enum class jws_algorithm : std::uint8_t { es256, es384, es512, rs256, rs384, rs512, ps256, ps384, ps512, eddsa };

std::string_view name(jws_algorithm algorithm) noexcept;

// By the name of an `alg` member.
std::optional<jws_algorithm> jws_algorithm_named(std::string_view name) noexcept;

enum class key_kind : std::uint8_t { p256, p384, p521, rsa, ed25519 };

struct algorithm_facts {
    jws_algorithm algorithm;
    std::string_view name;
    std::string_view digest;  // empty: the algorithm has its own
    key_kind kind;
    bool pss;
};

inline constexpr std::array<algorithm_facts, 10> all_algorithms{{
    {jws_algorithm::es256, "ES256", "SHA256", key_kind::p256, false},
    {jws_algorithm::es384, "ES384", "SHA384", key_kind::p384, false},
    {jws_algorithm::es512, "ES512", "SHA512", key_kind::p521, false},
    {jws_algorithm::rs256, "RS256", "SHA256", key_kind::rsa, false},
    {jws_algorithm::rs384, "RS384", "SHA384", key_kind::rsa, false},
    {jws_algorithm::rs512, "RS512", "SHA512", key_kind::rsa, false},
    {jws_algorithm::ps256, "PS256", "SHA256", key_kind::rsa, true},
    {jws_algorithm::ps384, "PS384", "SHA384", key_kind::rsa, true},
    {jws_algorithm::ps512, "PS512", "SHA512", key_kind::rsa, true},
    {jws_algorithm::eddsa, "EdDSA", "", key_kind::ed25519, false},
}};

struct curve_facts {
    key_kind kind;
    std::string_view name;   // RFC 7518 section 6.2.1.1
    const char* group;       // OpenSSL's
    std::size_t coordinate;  // bytes
};

inline constexpr std::array<curve_facts, 3> curves{{
    {key_kind::p256, "P-256", "prime256v1", 32},
    {key_kind::p384, "P-384", "secp384r1", 48},
    {key_kind::p521, "P-521", "secp521r1", 66},
}};

inline const algorithm_facts& facts_of(jws_algorithm algorithm) noexcept
{
    return *std::ranges::find(all_algorithms, algorithm, &algorithm_facts::algorithm);
}

inline const curve_facts* curve_of(key_kind kind) noexcept
{
    const auto* found = std::ranges::find(curves, kind, &curve_facts::kind);
    return found == curves.end() ? nullptr : found;
}

// Whether `signature` (not in base64) is this key's over `message`. The key is of the algorithm's kind.
bool verifies(EVP_PKEY& key, jws_algorithm algorithm, std::string_view message, std::string_view signature);

// A signature, not in base64. The key is private and of the algorithm's kind. Fails with internal.
core::result<std::string> sign(EVP_PKEY& key, jws_algorithm algorithm, std::string_view message);

}  // namespace jose
