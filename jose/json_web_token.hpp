// JSON Web Tokens (RFC 7519) as JWS in compact form (RFC 7515 section 7.1), read as RFC 8725 advises. Pure: the caller
// brings the clock and the keys. Any thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "jose/json_web_key.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jose {

inline constexpr std::size_t max_token_size = 16 * 1024;   // bytes; a longer token is refused unread
inline constexpr std::size_t max_token_verifications = 8;  // keys that are tried with one token

// The conditions for accepting a token.
struct token_policy {
    std::string issuer;                     // `iss`, compared byte for byte
    std::vector<std::string> audiences;     // `aud` names one of them; empty: no token may have `aud`
    std::vector<jws_algorithm> algorithms;  // `alg` is one of them
    core::duration leeway{30'000};          // by which clocks may differ
    // A token without `aud` names one of them as `client_id`, and its `token_use` is `access`. Empty: every token needs `aud`.
    std::vector<std::string> clients = {};
};

class json_web_token {
public:
    // Reads a token and verifies nothing. Fails with unauthenticated if the text is not three parts of base64url, or its
    // header or claims are not JSON objects that every reader understands alike (a name twice, a number that a double cannot
    // hold); if the header names an algorithm that is not asymmetric, brings its own key (`jwk`, `jku`, `x5u`, `x5c`), has
    // `crit` or `b64`, or says that the token is of another kind (`typ`, `cty`).
    static core::result<json_web_token> parse(std::string_view text);

    // The claims of what looks like a token, whatever is wrong with the rest of it, and unverified: good for choosing who checks it.
    // Null if readers may disagree about them. Nothing: it does not look like one.
    static std::optional<core::json> claims_in(std::string_view text);

    jws_algorithm algorithm() const noexcept { return algorithm_; }
    const std::string& kid() const noexcept { return kid_; }  // empty: the header has none
    const core::json& claims() const noexcept { return claims_; }

    // Whether a key may have signed it, by `kid` and algorithm. False for all: a newer key set may have the key.
    bool may_be_signed_by(const json_web_key& key) const noexcept;

    // Whether one of the keys signed it. Of the keys that may have, the first max_token_verifications are tried.
    bool signed_by(std::span<const json_web_key> keys) const;

    // Whether `aud`, or what stands for it, says that the token is for the holder of the policy.
    bool is_for(const token_policy& policy) const;

    // Whether the claims hold now: `iss`, `aud`, `exp`, `nbf`, `iat`. `exp` must be there. Fails with unauthenticated; the
    // detail names the claim.
    core::result<> check(const token_policy& policy, core::wall_time now) const;

    // When it expires, leeway not included; at most the year 2200. check() has passed.
    core::wall_time expires_at() const;

private:
    json_web_token() = default;

    std::string signed_text_;  // header and claims as they came
    std::string signature_;
    jws_algorithm algorithm_ = jws_algorithm::es256;
    std::string kid_;
    core::json claims_;
};

}  // namespace jose
