#include "a2a/card_signature.hpp"

#include "a2a/base64url.hpp"
#include "a2a/canonical_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace a2a {
namespace {

using core::errc;
using core::json;

constexpr std::string_view signatures_member = "signatures";
constexpr std::string_view requirements_member = "securityRequirements";

bool empty(const json& value)
{
    if (value.is_string()) {
        return value.get_ref<const std::string&>().empty();
    }
    return value.is_null() || (value.is_structured() && value.empty());
}

json* object_in(json& parent, const char* member)
{
    const auto found = parent.is_object() ? parent.find(member) : parent.end();
    return found == parent.end() || !found->is_object() ? nullptr : &*found;
}

void drop_if_false(json& object, const char* member)
{
    const auto found = object.is_object() ? object.find(member) : object.end();
    if (found != object.end() && *found == false) {
        object.erase(found);
    }
}

// The two flags of a2a.proto that have no presence: whoever holds the card as a message cannot tell false from nothing.
void drop_false_defaults(json& card)
{
    if (auto* capabilities = object_in(card, "capabilities"); capabilities != nullptr) {
        const auto extensions = capabilities->find("extensions");
        if (extensions != capabilities->end() && extensions->is_array()) {
            for (auto& each : *extensions) {
                drop_if_false(each, "required");
            }
        }
    }
    if (auto* schemes = object_in(card, "securitySchemes"); schemes != nullptr) {
        for (auto& scheme : *schemes) {
            auto* oauth = object_in(scheme, "oauth2SecurityScheme");
            auto* flows = oauth == nullptr ? nullptr : object_in(*oauth, "flows");
            if (auto* flow = flows == nullptr ? nullptr : object_in(*flows, "authorizationCode"); flow != nullptr) {
                drop_if_false(*flow, "pkceRequired");
            }
        }
    }
}

std::string text_of(const json& object, std::string_view member)
{
    const auto* found = core::string_member(object, member);
    return found == nullptr ? std::string{} : *found;
}

std::optional<card_signature> read_signature(const json& each)
{
    const auto encoded = text_of(each, "protected");
    const auto header_text = from_base64url(encoded);
    auto signature = from_base64url(text_of(each, "signature"));
    if (!header_text || !signature || signature->empty()) {
        return std::nullopt;
    }
    const auto header = core::parse_json(*header_text, {.bytes = 16 * 1024, .depth = 8});
    if (!header || !header->is_object() || header->contains("crit") || header->contains("b64")) {
        return std::nullopt;
    }
    const auto algorithm = jws_algorithm_named(text_of(*header, "alg"));
    auto kid = text_of(*header, "kid");
    if (!algorithm || kid.empty()) {
        return std::nullopt;
    }
    return card_signature{encoded, std::move(*signature), *algorithm, std::move(kid), text_of(*header, "jku")};
}

void append_code_unit(std::string& out, unsigned unit)
{
    constexpr std::string_view hex = "0123456789abcdef";
    out += "\\u";
    for (const unsigned shift : {12U, 8U, 4U, 0U}) {
        out += hex[(unit >> shift) & 0x0FU];
    }
}

// Every character outside of ASCII as an escape, which is what json.dumps() does; escapes stand in strings only.
std::string escaped_ascii(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x80) {
            out += text[i++];
            continue;
        }
        const unsigned more = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
        unsigned point = byte & (0x3FU >> more);
        for (unsigned k = 1; k <= more && i + k < text.size(); ++k) {
            point = (point << 6U) | (static_cast<unsigned char>(text[i + k]) & 0x3FU);
        }
        i += more + 1;
        if (point < 0x10000) {
            append_code_unit(out, point);
        } else {
            append_code_unit(out, 0xD800 + ((point - 0x10000) >> 10U));
            append_code_unit(out, 0xDC00 + ((point - 0x10000) & 0x3FFU));
        }
    }
    return out;
}

json sorted_by_bytes(const json& value)
{
    if (value.is_array()) {
        json::array_t out;
        out.reserve(value.size());
        for (const auto& each : value) {
            out.push_back(sorted_by_bytes(each));
        }
        return out;
    }
    if (!value.is_object()) {
        return value;
    }
    std::vector<const json::object_t::value_type*> members;
    members.reserve(value.size());
    for (const auto& each : value.get_ref<const json::object_t&>()) {
        members.push_back(&each);
    }
    std::ranges::sort(members, [](const auto* a, const auto* b) { return a->first < b->first; });
    json::object_t out;
    out.reserve(members.size());
    for (const auto* each : members) {
        out.emplace_back(each->first, sorted_by_bytes(each->second));
    }
    return out;
}

// What was signed, in the ways that are in use; the specification leaves room for more than one.
std::vector<std::string> payloads(json card)
{
    card.erase(std::string{signatures_member});
    std::vector<std::string> all{canonical_json(card)};
    auto lean = without_empty_members(std::move(card));
    all.push_back(canonical_json(lean));
    drop_false_defaults(lean);
    lean = without_empty_members(std::move(lean));
    all.push_back(canonical_json(lean));
    all.push_back(escaped_ascii(core::to_text(sorted_by_bytes(lean))));
    for (auto& each : all) {
        each = base64url(each);
    }
    std::ranges::sort(all);
    const auto same = std::unique(all.begin(), all.end());
    all.erase(same, all.end());
    return all;
}

}  // namespace

json without_empty_members(json value)
{
    if (value.is_array()) {
        json::array_t kept;
        kept.reserve(value.size());
        for (auto& each : value) {
            if (auto lean = without_empty_members(std::move(each)); !empty(lean)) {
                kept.push_back(std::move(lean));
            }
        }
        return kept;
    }
    if (value.is_object()) {
        json::object_t kept;
        kept.reserve(value.size());
        for (auto& [key, member] : value.get_ref<json::object_t&>()) {
            if (auto lean = without_empty_members(std::move(member)); !empty(lean)) {
                kept.emplace_back(key, std::move(lean));
            }
        }
        return kept;
    }
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

bool signed_one_of(const std::vector<std::string>& texts, const card_signature& signature, const jose_key& key)
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

bool card_verification::signed_by(const card_signature& signature, const jose_key& key)
{
    if (texts_.empty()) {
        texts_ = payloads(card_);
    }
    return signed_one_of(texts_, signature, key);
}

// The JavaScript SDK (1.3) leaves the security schemes out of what it signs if it is given its own message type. Such a
// signature vouches for a card whose schemes anybody may have written. To find that out costs as much as everything before:
// it is done once.
std::string_view card_verification::why_not(const card_signature& signature, const jose_key& key)
{
    if (!std::exchange(explained_, true)) {
        auto bare = card_;
        if (bare.erase("securitySchemes") > 0 && signed_one_of(payloads(std::move(bare)), signature, key)) {
            return ": the signature does not cover securitySchemes";
        }
    }
    return ": the signature is wrong";
}

core::result<card_signature> card_verification::verify(std::span<const jose_key> keys)
{
    if (signatures_.empty()) {
        return core::upstream_error(errc::card_signature, "no signature that could be verified");
    }
    std::string why;
    for (const auto& each : signatures_) {
        std::string_view what = ": no such key";
        for (const auto& key : keys) {
            if (!key.kid().empty() && key.kid() != each.kid) {
                continue;
            }
            if (left_ == 0) {
                what = ": too many signatures and keys to try";
                break;
            }
            --left_;
            if (signed_by(each, key)) {
                return each;
            }
            what = why_not(each, key);
        }
        constexpr std::size_t longest_shown = 64;
        why += (why.empty() ? "" : "; ") + each.kid.substr(0, longest_shown) + std::string{what};
    }
    return core::upstream_error(errc::card_signature, std::move(why));
}

core::result<card_signature> verify_card(const json& card, std::span<const jose_key> keys)
{
    return card_verification{card}.verify(keys);
}

json signable_card(json card)
{
    drop_false_defaults(card);
    auto lean = without_empty_members(card);
    const auto keep = [](json& into, const json& from) {
        if (const auto* requirements = core::member(from, requirements_member)) {
            into[std::string{requirements_member}] = *requirements;
        }
    };
    keep(lean, card);
    // Required, empty or not.
    for (const auto* member : {"description", "capabilities", "skills", "defaultInputModes", "defaultOutputModes"}) {
        if (const auto* value = core::member(card, member); value != nullptr && !lean.contains(member)) {
            lean[member] = *value;
        }
    }
    const auto skills = lean.find("skills");
    const auto* all_skills = core::member(card, "skills");
    // An empty skill is gone: the two lists have nothing in common then that could be told.
    if (skills != lean.end() && all_skills != nullptr && skills->size() == all_skills->size()) {
        for (std::size_t i = 0; i < skills->size(); ++i) {
            keep((*skills)[i], (*all_skills)[i]);
        }
    }
    return lean;
}

core::result<> sign_card(json& card, const jose_key& key, const std::string& key_set_url)
{
    card.erase(std::string{signatures_member});
    json header = {{"alg", name(key.algorithm())}, {"typ", "JOSE"}, {"kid", key.kid()}};
    if (!key_set_url.empty()) {
        header["jku"] = key_set_url;
    }
    const auto encoded = base64url(core::to_text(header));
    std::vector<std::string> texts{canonical_json(without_empty_members(card))};
    if (auto whole = canonical_json(card); whole != texts.front()) {
        texts.push_back(std::move(whole));
    }
    auto made = json::array();
    for (const auto& text : texts) {
        const auto signature = key.sign(encoded + '.' + base64url(text));
        if (!signature) {
            return signature.error();
        }
        made.push_back({{"protected", encoded}, {"signature", base64url(*signature)}});
    }
    card[std::string{signatures_member}] = std::move(made);
    return {};
}

}  // namespace a2a
