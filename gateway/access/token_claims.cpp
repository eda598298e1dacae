#include "gateway/access/token_claims.hpp"

#include "config/access_tokens.hpp"
#include "gateway/access/principal_parts.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::access {
namespace {

using core::json;

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
