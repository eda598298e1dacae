#include "config/access_members.hpp"

#include "config/access_values.hpp"

#include <utility>

namespace config {

access_members::access_members(const field& f, const node& map, access_map kind, problem_list& problems)
    : path_{f.path},
      at_{f.at},
      problems_{problems},
      given_{read_members(map, f.path, keys_of(kind), problems)}
{
}

const field* access_members::require(std::string_view key, std::string_view expected) const
{
    const auto* f = find(key);
    if (f == nullptr) {
        problems_.add(at_, join(path_, key), "is missing; expected " + std::string{expected});
    }
    return f;
}

bool access_members::require_one(std::string_view first, std::string_view second, std::string_view expected) const
{
    const auto* one = find(first);
    const auto* other = find(second);
    if (one != nullptr && other != nullptr) {
        problems_.add(other->at, other->path, "stands beside " + one->path + "; expected one of the two");
    } else if (one == nullptr && other == nullptr) {
        require(first, std::string{expected} + ", or `" + std::string{second} + '`');
    }
    return (one == nullptr) != (other == nullptr);
}

core::principal access_members::principal(std::string id, const std::string& provider) const
{
    core::principal described;
    described.id = std::move(id);
    described.provider = provider;
    if (const auto* f = find("scopes")) {
        described.scopes = read_scopes(*f, emptiness::allowed, problems_);
    }
    if (const auto* f = find("groups")) {
        described.groups = read_texts(*f, emptiness::allowed, problems_);
    }
    if (const auto* f = find("tenant")) {
        described.tenant = read_short_text(*f, "the name of a tenant", problems_).value_or("");
    }
    if (const auto* f = find("claims")) {
        described.claims = read_claims(*f, emptiness::allowed, problems_);
    }
    return described;
}

void show_principal(const core::principal& principal, core::json& shown)
{
    if (!principal.scopes.empty()) {
        shown["scopes"] = principal.scopes;
    }
    if (!principal.groups.empty()) {
        shown["groups"] = principal.groups;
    }
    if (!principal.tenant.empty()) {
        shown["tenant"] = principal.tenant;
    }
    if (!principal.claims.empty()) {
        shown["claims"] = shown_claims(principal.claims);
    }
}

}  // namespace config
