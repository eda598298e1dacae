// Keys of JOSE: JWK (RFC 7517, RFC 7518 section 6, RFC 8037) and sets of them, thumbprints (RFC 7638). OpenSSL does the
// cryptography. Any thread.
#pragma once

#include "core/error.hpp"
#include "core/json/json.hpp"
#include "jose/signature.hpp"

#include <openssl/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jose {

// A public key, and with one of our own also the private one.
class json_web_key {
public:
    // A member of a key set. Fails with card_signature: no signing key of a kind that is known, or a weak one (RSA below
    // 2048 bits). Private members are ignored.
    static core::result<json_web_key> from_jwk(const core::json& jwk);

    // A private key, unencrypted: EC on P-256, P-384 or P-521, RSA, Ed25519. `kid` may be empty: the thumbprint then. Fails
    // with config_invalid; the detail holds nothing of the text.
    static core::result<json_web_key> from_pem(std::string_view text, std::string kid);

    const std::string& kid() const noexcept { return kid_; }

    // RFC 7638 with SHA-256.
    std::string thumbprint() const;

    // The public half, with kid, alg and use.
    core::json jwk() const;

    // The algorithm of a private key: that of its curve, RS256, EdDSA.
    jws_algorithm algorithm() const noexcept { return algorithm_; }

    // Whether the key is of the algorithm's kind, and its JWK is for no other algorithm.
    bool usable_with(jws_algorithm algorithm) const noexcept;

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

    json_web_key(key_pointer key, std::string kid, jws_algorithm algorithm, bool only);

    core::json public_members() const;

    key_pointer key_;
    std::string kid_;
    jws_algorithm algorithm_;
    bool only_;  // no other algorithm than this
};

inline constexpr std::size_t max_keys_in_set = 1000;

// The keys of a JWK Set that can be used; others are passed over, as RFC 7517 section 5 asks. Fails with card_signature if
// it is no set, or has more keys than max_keys_in_set.
core::result<std::vector<json_web_key>> parse_key_set(std::string_view text);

}  // namespace jose
