// Signing agent cards: A2A 1.0 section 8.4, JWS (RFC 7515) over the card's canonical form (RFC 8785). The card is as
// signable_card() leaves it. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "core/json/json.hpp"
#include "jose/json_web_key.hpp"

#include <string>

namespace a2a {

// `signatures`, made with `key`, take the place of the card's own: one over the card as it stands, and if that is another
// text a second one over what the SDKs verify, which leave out what is empty. `key_set_url` may be empty. Fails with
// internal.
core::result<> sign_card(core::json& card, const jose::json_web_key& key, const std::string& key_set_url);

// The same as a value of its own: what `signatures` is to be.
core::result<core::json>
signatures_of(const core::json& card, const jose::json_web_key& key, const std::string& key_set_url);

}  // namespace a2a
