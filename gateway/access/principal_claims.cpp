#include "gateway/access/principal_claims.hpp"

#include "config/access_tokens.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::access {
namespace {

using core::json;

bool has_control_character(std::string_view text)
{
    while (!text.empty()) {
        const auto point = core::first_code_point(text);
        if (point.value < 0x20 || (point.value >= 0x7F && point.value < 0xA0)) {
            return true;
        }
        text.remove_prefix(point.bytes);
    }
    return false;
}

std::vector<std::string> words_of(std::string_view text)
{
    std::vector<std::string> words;
    while (!text.empty()) {
        const auto word = text.substr(0, text.find(' '));
        if (!word.empty()) {
            words.emplace_back(word);
        }
        text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
    return words;
}

bool is_simple(const json& value)
{
    return value.is_string() || value.is_number() || value.is_boolean();
}

void add_claim(std::vector<core::claim>& claims, const std::string& name, const json& value)
{
    auto text = value.is_string() ? value.get<std::string>() : core::to_text(value);
    if (claims.size() < max_claims && text.size() <= max_claim_text) {
        claims.emplace_back(name, std::move(text));
    }
}

constexpr auto principal_members = [] {
    std::array<std::string_view, config::token_members.size()> names{};
    std::ranges::transform(config::token_members, names.begin(), &config::token_member::name);
    return names;
}();

void add_texts(std::vector<std::string>& texts, const json* list)
{
    if (list != nullptr) {
        auto more = texts_in(*list);
        texts.insert(texts.end(), std::move_iterator{more.begin()}, std::move_iterator{more.end()});
    }
}

std::vector<std::string> scopes_of(const json& claims, claim_style style)
{
    const auto* named = core::member(claims, "scope");
    named = named != nullptr ? named : core::member(claims, "scp");
    auto scopes = named == nullptr ? std::vector<std::string>{} : words_in(*named);
    if (style == claim_style::azure_ad) {
        add_texts(scopes, core::member(claims, "roles"));
    }
    return scopes;
}

std::vector<std::string> groups_of(const json& claims, claim_style style)
{
    std::vector<std::string> groups;
    add_texts(groups, core::member(claims, "groups"));
    if (style != claim_style::azure_ad) {
        add_texts(groups, core::member(claims, "roles"));
    }
    return groups;
}

std::string tenant_of(const json& claims)
{
    const auto* tenant = core::string_member(claims, "tid");
    tenant = tenant != nullptr ? tenant : core::string_member(claims, "tenant");
    return tenant != nullptr && tenant->size() <= max_claim_text ? *tenant : std::string{};
}

const std::string* id_of(const json& claims, claim_style style)
{
    const auto* email = style == claim_style::gcp_iap ? core::string_member(claims, "email") : nullptr;
    return email != nullptr ? email : core::string_member(claims, "sub");
}

}  // namespace

bool is_principal_id(std::string_view text)
{
    return !text.empty() && text.size() <= max_principal_id && !has_control_character(text);
}

std::vector<std::string> words_in(const json& value)
{
    return value.is_string() ? words_of(value.get_ref<const std::string&>()) : texts_in(value);
}

std::vector<std::string> texts_in(const json& value)
{
    std::vector<std::string> texts;
    for (const auto& each : value.is_array() ? value : json::array()) {
        if (each.is_string() && !each.get_ref<const std::string&>().empty()) {
            texts.push_back(each.get<std::string>());
        }
    }
    return texts;
}

std::vector<core::claim> claims_in(const json& object, std::span<const std::string_view> others)
{
    std::vector<core::claim> claims;
    for (const auto& [name, value] : object.items()) {
        if (std::ranges::find(others, name) != others.end() || name.size() > max_claim_text) {
            continue;
        }
        if (is_simple(value)) {
            add_claim(claims, name, value);
        } else if (value.is_array() && std::ranges::all_of(value, is_simple)) {
            for (const auto& each : value) {
                add_claim(claims, name, each);
            }
        }
    }
    return claims;
}

core::result<core::principal> principal_of(const json& claims, std::string provider, claim_style style)
{
    const auto* id = id_of(claims, style);
    if (id == nullptr || !is_principal_id(*id)) {
        return core::caller_error(core::errc::unauthenticated, "token: sub names nobody");
    }
    return core::principal{
        .id = *id,
        .provider = std::move(provider),
        .tenant = tenant_of(claims),
        .scopes = scopes_of(claims, style),
        .groups = groups_of(claims, style),
        .claims = claims_in(claims, principal_members)
    };
}

}  // namespace gateway::access
