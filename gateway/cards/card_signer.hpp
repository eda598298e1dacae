// The gateway's own key: what cards are signed with, and the keys that callers verify them with. Immutable; any thread.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "jose/json_web_key.hpp"

#include <memory>
#include <string>

namespace gateway::cards {

// Null without cards.signing_key and cards.retired_keys. Reads the files. Fails with config_invalid.
class card_signer;
core::result<std::shared_ptr<const card_signer>> make_signer(const config::card_settings& settings);

class card_signer {
public:
    card_signer(std::shared_ptr<const jose::json_web_key> key, std::string key_set);

    bool can_sign() const noexcept { return key_ != nullptr; }

    // Names the key, for what would otherwise have to be signed to be told apart.
    const std::string& kid() const noexcept { return key_->kid(); }

    // Works as a2a::signatures_of(), whose conditions hold; `public_base` is where callers find the key set.
    core::result<core::json> signatures_of(const core::json& card, const std::string& public_base) const;

    // A compact JWS over `body` without it (RFC 7515 appendix F), whose header has `jti` and where callers find the key set. Fails
    // with internal.
    core::result<std::string>
    detached_signature(std::string_view body, std::string_view jti, const std::string& public_base) const;

    // JWK Set (RFC 7517): this key and earlier ones.
    const std::string& key_set() const noexcept { return key_set_; }

private:
    std::shared_ptr<const jose::json_web_key> key_;
    std::string key_set_;
};

// For reading a configuration: whether the file can be used, the detail a predicate.
core::result<> check_signing_key(const std::string& path);
core::result<> check_key_set(const std::string& path);

}  // namespace gateway::cards
