#include "a2a/card/card_signature.hpp"

#include "core/base64.hpp"
#include "core/json/canonical_json.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace a2a {
namespace {

using core::errc;
using core::json;

constexpr std::string_view signatures_member = "signatures";
constexpr std::string_view requirements_member = "securityRequirements";

// Whether what is left of a value once it is lean is nothing.
bool says_nothing(const json& value)
{
    if (value.is_string()) {
        return value.get_ref<const std::string&>().empty();
    }
    return value.is_null() || (value.is_structured() && std::ranges::all_of(value, says_nothing));
}

// Makes it lean. Whether nothing is left.
bool drop_empty(json& value);

bool drop_empty(json::array_t& elements)
{
    std::size_t kept = 0;
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (drop_empty(elements[i])) {
            continue;
        }
        if (kept != i) {
            elements[kept] = std::move(elements[i]);
        }
        ++kept;
    }
    elements.resize(kept);
    return kept == 0;
}

bool drop_empty(json::object_t& members)
{
    std::vector<bool> nothing;
    nothing.reserve(members.size());
    for (auto& [key, member] : members) {
        nothing.push_back(drop_empty(member));
    }
    const auto kept = static_cast<std::size_t>(std::ranges::count(nothing, false));
    if (kept == members.size()) {
        return kept == 0;
    }
    json::object_t lean;
    lean.reserve(kept);
    std::size_t i = 0;
    for (auto& [key, member] : members) {
        if (!nothing[i++]) {
            lean.emplace_back(key, std::move(member));
        }
    }
    members = std::move(lean);
    return kept == 0;
}

bool drop_empty(json& value)
{
    if (value.is_array()) {
        return drop_empty(value.get_ref<json::array_t&>());
    }
    if (value.is_object()) {
        return drop_empty(value.get_ref<json::object_t&>());
    }
    return says_nothing(value);
}

template <class Json>
Json* object_in(Json& parent, const char* member)
{
    const auto found = parent.is_object() ? parent.find(member) : parent.end();
    return found == parent.end() || !found->is_object() ? nullptr : &*found;
}

// The two flags of a2a.proto that have no presence: whoever holds the card as a message cannot tell false from nothing.
// `see` gets the object and the name of each that may be there.
template <class Json, class See>
void see_flags(Json& card, See see)
{
    if (auto* capabilities = object_in(card, "capabilities"); capabilities != nullptr) {
        const auto extensions = capabilities->find("extensions");
        if (extensions != capabilities->end() && extensions->is_array()) {
            for (auto& each : *extensions) {
                see(each, "required");
            }
        }
    }
    if (auto* schemes = object_in(card, "securitySchemes"); schemes != nullptr) {
        for (auto& scheme : *schemes) {
            auto* oauth = object_in(scheme, "oauth2SecurityScheme");
            auto* flows = oauth == nullptr ? nullptr : object_in(*oauth, "flows");
            if (auto* flow = flows == nullptr ? nullptr : object_in(*flows, "authorizationCode"); flow != nullptr) {
                see(*flow, "pkceRequired");
            }
        }
    }
}

void drop_false_defaults(json& card)
{
    see_flags(card, [](json& object, const char* flag) {
        const auto found = object.is_object() ? object.find(flag) : object.end();
        if (found != object.end() && *found == false) {
            object.erase(found);
        }
    });
}

bool has_false_defaults(const json& card)
{
    bool some = false;
    see_flags(card, [&some](const json& object, const char* flag) {
        const auto* found = core::member(object, flag);
        some = some || (found != nullptr && *found == false);
    });
    return some;
}

std::optional<card_signature> read_signature(const json& each)
{
    const auto encoded = core::text_member(each, "protected");
    const auto header_text = core::from_base64url(encoded);
    auto signature = core::from_base64url(core::text_member(each, "signature"));
    if (!header_text || !signature || signature->empty()) {
        return std::nullopt;
    }
    const auto header = core::parse_json(*header_text, {.bytes = 16 * 1024, .depth = 8});
    if (!header || !header->is_object() || header->contains("crit") || header->contains("b64")) {
        return std::nullopt;
    }
    const auto algorithm = jose::jws_algorithm_named(core::text_member(*header, "alg"));
    auto kid = core::text_member(*header, "kid");
    if (!algorithm || kid.empty()) {
        return std::nullopt;
    }
    return card_signature{
        encoded,
        std::move(*signature),
        *algorithm,
        std::move(kid),
        core::text_member(*header, "jku")
    };
}

// The texts that may have been signed, in the ways that are in use; the specification leaves room for more than one.
std::vector<std::string> payloads(const json& card, std::vector<std::string_view> without)
{
    std::vector<std::string> all{core::canonical_json(card, {.without = without}).text};
    auto lean = core::canonical_json(card, {.lean = true, .without = without});
    if (lean.left_out) {
        all.push_back(std::move(lean.text));
    }
    const auto* bare = &card;
    json copy;
    if (has_false_defaults(card)) {
        copy = card;
        drop_false_defaults(copy);
        bare = &copy;
        all.push_back(core::canonical_json(copy, {.lean = true, .without = without}).text);
    }
    all.push_back(core::canonical_json(*bare, {.lean = true, .python = true, .without = std::move(without)}).text);
    std::ranges::sort(all);
    const auto same = std::ranges::unique(all);
    all.erase(same.begin(), same.end());
    for (auto& each : all) {
        each = core::base64url(each);
    }
    return all;
}

}  // namespace

json without_empty_members(json value)
{
    drop_empty(value);
    return value;
}

std::vector<card_signature> card_signatures(const json& card)
{
    std::vector<card_signature> found;
    const auto* all = core::member(card, signatures_member);
    if (all == nullptr || !all->is_array()) {
        return found;
    }
    for (std::size_t i = 0; i < std::min(all->size(), max_card_signatures); ++i) {
        if (auto each = read_signature((*all)[i])) {
            found.push_back(std::move(*each));
        }
    }
    return found;
}

namespace {

// A key without a name may be anybody's.
bool may_be(const jose::json_web_key& key, const card_signature& of)
{
    return key.kid().empty() || key.kid() == of.kid;
}

bool signed_one_of(
    const std::vector<std::string>& texts,
    const card_signature& signature,
    const jose::json_web_key& key
)
{
    return std::ranges::any_of(texts, [&](const std::string& payload) {
        return key.verifies(signature.algorithm, signature.protected_header + '.' + payload, signature.signature);
    });
}

}  // namespace

card_verification::card_verification(const json& card)
    : card_{card},
      signatures_{card_signatures(card)}
{
}

void card_verification::prepare(std::span<const jose::json_web_key> keys)
{
    const bool needed = std::ranges::any_of(signatures_, [&](const card_signature& each) {
        return std::ranges::any_of(keys, [&](const jose::json_web_key& key) { return may_be(key, each); });
    });
    if (needed && texts_.empty()) {
        texts_ = payloads(card_, {signatures_member});
    }
}

bool card_verification::signed_by(const card_signature& signature, const jose::json_web_key& key)
{
    if (texts_.empty()) {
        texts_ = payloads(card_, {signatures_member});
    }
    return signed_one_of(texts_, signature, key);
}

// The JavaScript SDK (1.3) leaves the security schemes out of what it signs if it is given its own message type. Such a
// signature vouches for a card whose schemes anybody may have written. To find that out costs as much as everything before:
// it is done once.
std::string_view card_verification::why_not(const card_signature& signature, const jose::json_web_key& key)
{
    if (!std::exchange(explained_, true)) {
        constexpr std::string_view schemes = "securitySchemes";
        if (core::member(card_, schemes) != nullptr &&
            signed_one_of(payloads(card_, {signatures_member, schemes}), signature, key)) {
            return ": the signature does not cover securitySchemes";
        }
    }
    return ": the signature is wrong";
}

core::result<card_signature> card_verification::verify(std::span<const jose::json_web_key> keys)
{
    if (signatures_.empty()) {
        return core::upstream_error(errc::card_signature, "no signature that could be verified");
    }
    std::string why;
    for (const auto& each : signatures_) {
        std::string_view outcome = ": no such key";
        for (const auto& key : keys) {
            if (!may_be(key, each)) {
                continue;
            }
            if (left_ == 0) {
                outcome = ": too many signatures and keys to try";
                break;
            }
            --left_;
            if (signed_by(each, key)) {
                return each;
            }
            outcome = why_not(each, key);
        }
        constexpr std::size_t longest_shown = 64;
        why += (why.empty() ? "" : "; ") + each.kid.substr(0, longest_shown) + std::string{outcome};
    }
    return core::upstream_error(errc::card_signature, std::move(why));
}

core::result<card_signature> verify_card(const json& card, std::span<const jose::json_web_key> keys)
{
    return card_verification{card}.verify(keys);
}

namespace {

// Takes out a member that stays as it is. What holds its place keeps it only if the member says something.
std::optional<json> take(json& object, const std::string& name)
{
    const auto found = object.is_object() ? object.find(name) : object.end();
    if (found == object.end()) {
        return std::nullopt;
    }
    auto holds = says_nothing(*found) ? json{} : json(true);
    return std::exchange(*found, std::move(holds));
}

// Where its place was kept it stands there, else at the end.
void give_back(json& object, const std::string& name, std::optional<json> value)
{
    if (value) {
        object[name] = std::move(*value);
    }
}

// Takes the requirements of skills, which stay as they are; an empty skill, which goes, has none.
std::vector<std::optional<json>> take_requirements(json& card)
{
    std::vector<std::optional<json>> taken;
    const auto skills = card.find("skills");
    if (skills == card.end() || !skills->is_array() || std::ranges::any_of(*skills, says_nothing)) {
        return taken;
    }
    taken.reserve(skills->size());
    for (auto& skill : *skills) {
        taken.push_back(take(skill, std::string{requirements_member}));
    }
    return taken;
}

}  // namespace

json signable_card(json card)
{
    // Required, empty or not.
    constexpr std::array required{
        "description",
        "capabilities",
        "skills",
        "defaultInputModes",
        "defaultOutputModes",
    };
    const std::string requirements{requirements_member};
    drop_false_defaults(card);
    std::vector<std::pair<std::string, std::optional<json>>> whole;
    whole.emplace_back(requirements, take(card, requirements));
    for (const auto* member : required) {
        if (const auto* value = core::member(card, member); value != nullptr && says_nothing(*value)) {
            whole.emplace_back(member, take(card, member));
        }
    }
    auto of_skills = take_requirements(card);
    drop_empty(card);
    for (auto& [member, value] : whole) {
        give_back(card, member, std::move(value));
    }
    for (std::size_t i = 0; i < of_skills.size(); ++i) {
        give_back(card["skills"][i], requirements, std::move(of_skills[i]));
    }
    return card;
}

using core::json;

core::result<json> signatures_of(const json& card, const jose::json_web_key& key, const std::string& key_set_url)
{
    json header = {{"alg", name(key.algorithm())}, {"typ", "JOSE"}, {"kid", key.kid()}};
    if (!key_set_url.empty()) {
        header["jku"] = key_set_url;
    }
    const auto encoded = core::base64url(core::to_text(header));
    const std::vector<std::string_view> without{"signatures"};
    auto lean = core::canonical_json(card, {.lean = true, .without = without});
    std::vector<std::string> texts{std::move(lean.text)};
    if (lean.left_out) {
        texts.push_back(core::canonical_json(card, {.without = without}).text);
    }
    auto signatures = json::array();
    for (const auto& text : texts) {
        const auto signature = key.sign(encoded + '.' + core::base64url(text));
        if (!signature) {
            return signature.error();
        }
        signatures.push_back({{"protected", encoded}, {"signature", core::base64url(*signature)}});
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
