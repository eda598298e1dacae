// Keys and signatures of JOSE: JWS (RFC 7515), JWK (RFC 7517), their algorithms (RFC 7518 section 3, RFC 8037), thumbprints
// (RFC 7638). Asymmetric algorithms only: `none` and HS* do not exist here. OpenSSL does the cryptography. Any thread.
#pragma once

#include "core/error.hpp"
#include "core/json.hpp"

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace a2a {

enum class jws_algorithm : std::uint8_t { es256, es384, es512, rs256, rs384, rs512, ps256, ps384, ps512, eddsa };

std::string_view name(jws_algorithm algorithm) noexcept;

// By the name of an `alg` member.
std::optional<jws_algorithm> jws_algorithm_named(std::string_view name) noexcept;

// A public key, and with one of our own also the private one.
class jose_key {
public:
    // A member of a key set. Fails with card_signature: no signing key of a kind that is known, or a weak one (RSA below
    // 2048 bits). Private members are ignored.
    static core::result<jose_key> from_jwk(const core::json& jwk);

    // A private key, unencrypted: EC on P-256, P-384 or P-521, RSA, Ed25519. `kid` may be empty: the thumbprint then. Fails
    // with config_invalid; the detail holds nothing of the text.
    static core::result<jose_key> from_pem(std::string_view text, std::string kid);

    const std::string& kid() const noexcept { return kid_; }

    // RFC 7638 with SHA-256.
    std::string thumbprint() const;

    // The public half, with kid, alg and use.
    core::json jwk() const;

    // What a private key signs with: the algorithm of its curve, RS256, EdDSA.
    jws_algorithm algorithm() const noexcept { return algorithm_; }

    // Whether `signature` (as JWS has it, not in base64) is this key's over `message`. An algorithm of another kind of key,
    // or another than the JWK is for, is not.
    bool verifies(jws_algorithm algorithm, std::string_view message, std::string_view signature) const;

    // Fails with internal.
    core::result<std::string> sign(std::string_view message) const;

private:
    struct free_key {
        void operator()(EVP_PKEY* key) const noexcept;
    };
    using key_pointer = std::unique_ptr<EVP_PKEY, free_key>;

    jose_key(key_pointer key, std::string kid, jws_algorithm algorithm, bool only);

    bool usable_with(jws_algorithm algorithm) const noexcept;
    core::json public_members() const;

    key_pointer key_;
    std::string kid_;
    jws_algorithm algorithm_;
    bool only_;  // no other algorithm than this
};

// The keys of a JWK Set that can be used; others are passed over, as RFC 7517 section 5 asks. Fails with card_signature if
// it is no set.
core::result<std::vector<jose_key>> parse_key_set(std::string_view text);

}  // namespace a2a
