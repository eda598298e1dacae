#include "a2a/card/card_signing.hpp"

#include "core/json/canonical_json.hpp"
#include "jose/base64url.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace a2a {

using core::json;

core::result<json> signatures_of(const json& card, const jose::json_web_key& key, const std::string& key_set_url)
{
    json header = {{"alg", name(key.algorithm())}, {"typ", "JOSE"}, {"kid", key.kid()}};
    if (!key_set_url.empty()) {
        header["jku"] = key_set_url;
    }
    const auto encoded = jose::base64url(core::to_text(header));
    const std::vector<std::string_view> without{"signatures"};
    auto lean = core::canonical_json(card, {.lean = true, .without = without});
    std::vector<std::string> texts{std::move(lean.text)};
    if (lean.left_out) {
        texts.push_back(core::canonical_json(card, {.without = without}).text);
    }
    auto signatures = json::array();
    for (const auto& text : texts) {
        const auto signature = key.sign(encoded + '.' + jose::base64url(text));
        if (!signature) {
            return signature.error();
        }
        signatures.push_back({{"protected", encoded}, {"signature", jose::base64url(*signature)}});
    }
    return signatures;
}

core::result<> sign_card(json& card, const jose::json_web_key& key, const std::string& key_set_url)
{
    auto signatures = signatures_of(card, key, key_set_url);
    if (!signatures) {
        return std::move(signatures).error();
    }
    card.erase("signatures");
    card["signatures"] = std::move(*signatures);
    return {};
}

}  // namespace a2a
