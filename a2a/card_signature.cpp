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

bool empty(const json& value)
{
    if (value.is_string()) {
        return value.get_ref<const std::string&>().empty();
    }
    return value.is_structured() && value.empty();
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
        auto out = json::array();
        for (const auto& each : value) {
            out.push_back(sorted_by_bytes(each));
        }
        return out;
    }
    if (!value.is_object()) {
        return value;
    }
    std::vector<std::pair<std::string, const json*>> members;
    for (const auto& [key, member] : value.items()) {
        members.emplace_back(key, &member);
    }
    std::ranges::sort(members, {}, &std::pair<std::string, const json*>::first);
    auto out = json::object();
    for (const auto& [key, member] : members) {
        out[key] = sorted_by_bytes(*member);
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
    all.push_back(escaped_ascii(core::to_text(sorted_by_bytes(lean))));
    for (auto& each : all) {
        each = base64url(each);
    }
    const auto same = std::unique(all.begin(), all.end());
    all.erase(same, all.end());
    return all;
}

}  // namespace

json without_empty_members(json value)
{
    if (value.is_array()) {
        auto kept = json::array();
        for (auto& each : value) {
            if (auto lean = without_empty_members(std::move(each)); !empty(lean)) {
                kept.push_back(std::move(lean));
            }
        }
        return kept;
    }
    if (value.is_object()) {
        auto kept = json::object();
        for (auto each = value.begin(); each != value.end(); ++each) {
            if (auto lean = without_empty_members(std::move(each.value())); !empty(lean)) {
                kept[each.key()] = std::move(lean);
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

core::result<card_signature> verify_card(const json& card, std::span<const jose_key> keys)
{
    auto signatures = card_signatures(card);
    if (signatures.empty()) {
        return core::upstream_error(errc::card_signature, "no signature that could be verified");
    }
    const auto signed_texts = payloads(card);
    std::string why;
    for (auto& each : signatures) {
        bool known = false;
        for (const auto& key : keys) {
            if (!key.kid().empty() && key.kid() != each.kid) {
                continue;
            }
            known = true;
            const bool verified = std::ranges::any_of(signed_texts, [&](const std::string& payload) {
                return key.verifies(each.algorithm, each.protected_header + '.' + payload, each.signature);
            });
            if (verified) {
                return std::move(each);
            }
        }
        why += (why.empty() ? "" : "; ") + each.kid + (known ? ": the signature is wrong" : ": no such key");
    }
    return core::upstream_error(errc::card_signature, std::move(why));
}

core::result<> sign_card(json& card, const jose_key& key, const std::string& key_set_url)
{
    card.erase(std::string{signatures_member});
    json header = {{"alg", name(key.algorithm())}, {"typ", "JOSE"}, {"kid", key.kid()}};
    if (!key_set_url.empty()) {
        header["jku"] = key_set_url;
    }
    const auto encoded = base64url(core::to_text(header));
    auto made = key.sign(encoded + '.' + base64url(canonical_json(card)));
    if (!made) {
        return std::move(made).error();
    }
    card[std::string{signatures_member}] = json::array({{{"protected", encoded}, {"signature", base64url(*made)}}});
    return {};
}

}  // namespace a2a
