#include "gateway/access/token_claims.hpp"

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

void add_words(std::vector<std::string>& words, std::string_view text)
{
    while (!text.empty()) {
        const auto word = text.substr(0, text.find(' '));
        if (!word.empty()) {
            words.emplace_back(word);
        }
        text.remove_prefix(std::min(word.size() + 1, text.size()));
    }
}

void add_texts(std::vector<std::string>& texts, const json& list)
{
    for (const auto& each : list) {
        if (each.is_string() && !each.get_ref<const std::string&>().empty()) {
            texts.push_back(each.get<std::string>());
        }
    }
}

std::vector<std::string> scopes_of(const json& claims)
{
    std::vector<std::string> scopes;
    const auto* named = core::member(claims, "scope");
    named = named != nullptr ? named : core::member(claims, "scp");
    if (named != nullptr && named->is_string()) {
        add_words(scopes, named->get_ref<const std::string&>());
    } else if (named != nullptr && named->is_array()) {
        add_texts(scopes, *named);
    }
    return scopes;
}

std::vector<std::string> groups_of(const json& claims)
{
    std::vector<std::string> groups;
    for (const auto* name : {"groups", "roles"}) {
        const auto* list = core::member(claims, name);
        if (list != nullptr && list->is_array()) {
            add_texts(groups, *list);
        }
    }
    return groups;
}

std::string tenant_of(const json& claims)
{
    const auto* tenant = core::string_member(claims, "tid");
    tenant = tenant != nullptr ? tenant : core::string_member(claims, "tenant");
    return tenant != nullptr && tenant->size() <= max_claim_text ? *tenant : std::string{};
}

bool is_simple(const json& value)
{
    return value.is_string() || value.is_number() || value.is_boolean();
}

bool is_principal_member(std::string_view name)
{
    constexpr std::array<std::string_view, 7> members{"sub", "tid", "tenant", "scope", "scp", "groups", "roles"};
    return std::ranges::find(members, name) != members.end();
}

void add_claim(std::vector<core::claim>& claims, const std::string& name, const json& value)
{
    auto text = value.is_string() ? value.get<std::string>() : core::to_text(value);
    if (claims.size() < max_claims && text.size() <= max_claim_text) {
        claims.emplace_back(name, std::move(text));
    }
}

std::vector<core::claim> other_claims(const json& claims)
{
    std::vector<core::claim> others;
    for (const auto& [name, value] : claims.items()) {
        if (is_principal_member(name) || name.size() > max_claim_text) {
            continue;
        }
        if (is_simple(value)) {
            add_claim(others, name, value);
        } else if (value.is_array() && std::ranges::all_of(value, is_simple)) {
            for (const auto& each : value) {
                add_claim(others, name, each);
            }
        }
    }
    return others;
}

}  // namespace

core::result<core::principal> principal_of(const json& claims, std::string provider)
{
    const auto* subject = core::string_member(claims, "sub");
    if (subject == nullptr || subject->empty() || subject->size() > max_principal_id ||
        has_control_character(*subject)) {
        return core::caller_error(core::errc::unauthenticated, "token: sub names nobody");
    }
    return core::principal{
        .id = *subject,
        .provider = std::move(provider),
        .tenant = tenant_of(claims),
        .scopes = scopes_of(claims),
        .groups = groups_of(claims),
        .claims = other_claims(claims)
    };
}

}  // namespace gateway::access
