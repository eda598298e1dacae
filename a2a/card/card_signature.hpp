// Signatures of agent cards: A2A 1.0 section 8.4, JWS (RFC 7515) with a detached payload over the card's canonical form (RFC
// 8785). Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "core/json/json.hpp"
#include "jose/json_web_key.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace a2a {

inline constexpr std::size_t max_card_signatures = 16;  // those beyond are not looked at: each costs a verification

struct card_signature {
    std::string protected_header;  // as it stands in the card: base64url
    std::string signature;         // decoded
    jose::jws_algorithm algorithm = jose::jws_algorithm::es256;
    std::string kid;
    std::string key_set_url;  // `jku`: where the signer says its keys are; not to be believed without a list
};

// The signatures of a card as its agent wrote it that could be verified: a known algorithm, a `kid`, nothing critical that
// is not understood (RFC 7515 section 4.1.11). None: the card counts as unsigned.
std::vector<card_signature> card_signatures(const core::json& card);

inline constexpr unsigned max_verifications =
    16;  // of a signature with a key, for one card: each reads all of the card

// Verifies the signatures of one card with one set of keys after the other, and builds what was signed only once.
class card_verification {
public:
    // `card`, as its agent wrote it, outlives this.
    explicit card_verification(const core::json& card);

    const std::vector<card_signature>& signatures() const noexcept { return signatures_; }

    // Builds what may have been signed, if it is needed with these keys and is not there yet. Takes as long as the rest, which
    // does so itself otherwise.
    void prepare(std::span<const jose::json_web_key> keys);

    // Works like verify_card(). All calls together try the first max_verifications pairs of a signature and a key that may fit.
    core::result<card_signature> verify(std::span<const jose::json_web_key> keys);

private:
    bool signed_by(const card_signature& signature, const jose::json_web_key& key);
    std::string_view why_not(const card_signature& signature, const jose::json_web_key& key);

    const core::json& card_;
    std::vector<card_signature> signatures_;
    std::vector<std::string> texts_;  // what may have been signed; built when a key may fit
    unsigned left_ = max_verifications;
    bool explained_ = false;
};

// The first of the card's signatures that one of the keys verifies; a key without `kid` may be anybody's. What was signed
// may have been made in any of the ways in use: the card as it stands; without members that are empty; also without a false
// that is the default; the latter as the Python SDK up to 1.1 wrote it. Fails with card_signature, which says of each
// signature why it does not count.
core::result<card_signature> verify_card(const core::json& card, std::span<const jose::json_web_key> keys);

// Prepares a card of 1.0 for signing: removes the members that verifiers treat differently when they are
// empty, or a false that is the default. Required members stay, and so do the lists of a security requirement: there,
// empty means something.
core::json signable_card(core::json card);

// Without members and elements that are null, "", [] or {}, or that become so.
core::json without_empty_members(core::json value);

// Signs a card that signable_card() returned. `signatures`, made with `key`, replace the card's own: one over the card as it is, and a
// second one, if that is another text, over what the SDKs verify, which leave out empty members. `key_set_url` may be empty. Fails with
// internal.
core::result<> sign_card(core::json& card, const jose::json_web_key& key, const std::string& key_set_url);

// Makes the value of `signatures` for sign_card().
core::result<core::json>
signatures_of(const core::json& card, const jose::json_web_key& key, const std::string& key_set_url);

}  // namespace a2a
