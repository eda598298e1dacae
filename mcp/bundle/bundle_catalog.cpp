#include "mcp/bundle/bundle_catalog.hpp"

#include "mcp/bundle/names.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace mcp {
namespace {

constexpr std::array<list_kind, 4> all_lists{
    list_kind::tools,
    list_kind::prompts,
    list_kind::resources,
    list_kind::templates
};
constexpr std::array<list_kind, 2> uri_lists{list_kind::resources, list_kind::templates};

std::uint64_t mixed(std::uint64_t sum, std::uint64_t next) noexcept
{
    // FNV-1a's prime, and a rotation, because the order counts.
    return std::rotl(sum ^ next, 23) * 0x100000001B3ULL;
}

}  // namespace

bundle_catalog::bundle_catalog(member_list members, std::span<const std::string> taken, std::size_t most_tools)
    : members_{std::move(members)}
{
    for (const auto list : all_lists) {
        take_entries(list, list == list_kind::tools ? most_tools : static_cast<std::size_t>(-1));
    }
    settle_names(list_kind::tools, taken);
    settle_names(list_kind::prompts, {});
    for (const auto list : uri_lists) {
        leave_out_shadows(list);
    }
    for (const auto list : all_lists) {
        for (const auto& entries : entries_[index_of(list)]) {
            const auto left_out = static_cast<std::size_t>(std::ranges::count(entries, nullptr));
            left_out_[index_of(list)] += left_out;
            shown_[index_of(list)] += entries.size() - left_out;
        }
    }
}

const shown_entry* bundle_catalog::at(std::size_t member, list_kind list, std::size_t index) const
{
    const auto& entries = entries_[index_of(list)][member];
    return index < entries.size() ? entries[index] : nullptr;
}

void bundle_catalog::take_entries(list_kind list, std::size_t most)
{
    for (const auto& member : members_) {
        auto& entries = entries_[index_of(list)].emplace_back();
        for (const auto& entry : (*member)[list]) {
            entries.push_back(most > 0 ? &entry : nullptr);
            most -= most > 0 ? 1 : 0;
        }
    }
}

// False: two entries have one name, or it is taken.
bool bundle_catalog::index_names(list_kind list, std::span<const std::string> taken)
{
    auto& by_exposed = by_exposed_[index_of(list)];
    by_exposed.clear();
    bool unique = true;
    walk(list, {}, {}, [&](place at, const shown_entry& entry) {
        unique = by_exposed.emplace(entry.exposed, at).second && unique;
        return true;
    });
    return unique && std::ranges::none_of(taken, [&](const std::string& each) { return by_exposed.contains(each); });
}

void bundle_catalog::settle_names(list_kind list, std::span<const std::string> taken)
{
    if (index_names(list, taken)) {
        return;
    }
    std::vector<name_claim> claims;
    std::vector<place> places;
    walk(list, {}, {}, [&](place at, const shown_entry& entry) {
        claims.push_back({members_[at.member]->as(), entry.own, entry.form});
        places.push_back(at);
        return true;
    });
    const auto names = settled_names(claims, members_.front()->name_length(), taken);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto*& entry = entries_[index_of(list)][places[i].member][places[i].index];
        if (names[i].exposed.empty()) {
            entry = nullptr;
        } else if (names[i].exposed != entry->exposed) {
            entry = &renamed_.emplace_back(renamed(*entry, names[i]));
        }
    }
    index_names(list, taken);
}

// The own resource of a member without a prefix may look like another member's prefixed one. The prefixed one is listed.
void bundle_catalog::leave_out_shadows(list_kind list)
{
    const auto bare = std::ranges::find_if(members_, [](const auto& each) { return each->scheme().empty(); });
    if (bare == members_.end()) {
        return;
    }
    for (const auto*& entry : entries_[index_of(list)][static_cast<std::size_t>(bare - members_.begin())]) {
        const bool shadows = std::ranges::any_of(members_, [&](const auto& other) {
            const auto own = other == *bare ? std::nullopt : own_uri(other->scheme(), entry->exposed);
            return own && other->place_of(list, *own);
        });
        entry = shadows ? nullptr : entry;
    }
}

bool bundle_catalog::sees(const bundle_sight& sight, std::size_t member, list_kind list) const
{
    return !sight.member || sight.member(member, list);
}

bool bundle_catalog::sees(const bundle_sight& sight, std::size_t member, list_kind list, const shown_entry& entry) const
{
    return sees(sight, member, list) && (!sight.entry || sight.entry(member, list, entry));
}

void bundle_catalog::walk(
    list_kind list,
    const bundle_sight& sight,
    place from,
    const std::function<bool(place at, const shown_entry& entry)>& visit
) const
{
    const auto& all = entries_[index_of(list)];
    for (auto member = from.member; member < all.size(); ++member) {
        if (!sees(sight, member, list)) {
            continue;
        }
        for (auto index = member == from.member ? from.index : 0; index < all[member].size(); ++index) {
            const auto* const entry = all[member][index];
            const bool seen = entry != nullptr && (!sight.entry || sight.entry(member, list, *entry));
            if (seen && !visit({member, index}, *entry)) {
                return;
            }
        }
    }
}

void bundle_catalog::each(
    list_kind list,
    const bundle_sight& sight,
    const std::function<void(std::size_t member, const shown_entry& entry)>& visit
) const
{
    walk(list, sight, {}, [&visit](place at, const shown_entry& entry) {
        visit(at.member, entry);
        return true;
    });
}

found_place bundle_catalog::find_named(list_kind list, std::string_view name, const bundle_sight& sight) const
{
    const auto& by_exposed = by_exposed_[index_of(list)];
    if (const auto found = by_exposed.find(name); found != by_exposed.end()) {
        const auto& [member, index] = found->second;
        const auto* const entry = at(member, list, index);
        if (sees(sight, member, list, *entry)) {
            return {.to = reach::one, .member = member, .own = entry->own, .entry = entry};
        }
    }
    found_place found;
    for (std::size_t member = 0; member < members_.size(); ++member) {
        const auto index = members_[member]->place_of(list, name);
        const auto* const entry = index ? at(member, list, *index) : nullptr;
        if (entry == nullptr || !sees(sight, member, list, *entry)) {
            continue;
        }
        found.full_forms.push_back(entry->exposed);
        if (found.full_forms.size() == 1) {
            found.member = member;
            found.own = entry->own;
            found.entry = entry;
        }
    }
    found.prefixed = false;
    return settled(std::move(found));
}

// One place is found, several are told apart by their full forms.
found_place bundle_catalog::settled(found_place found)
{
    found.to = found.full_forms.empty() ? reach::none : (found.full_forms.size() == 1 ? reach::one : reach::several);
    if (found.to == reach::several) {
        found.own.clear();
        found.entry = nullptr;
    } else {
        found.full_forms.clear();
    }
    return found;
}

// How a member stands to a URI of its own.
bundle_catalog::holding bundle_catalog::held(std::size_t member, std::string_view own, const bundle_sight& sight) const
{
    const auto& its = *members_[member];
    if (!sees(sight, member, list_kind::resources) || !its.admits(own)) {
        return {};
    }
    for (const auto list : uri_lists) {
        const auto index = its.place_of(list, own);
        if (!index) {
            continue;
        }
        const auto* const entry = at(member, list, *index);
        const bool seen = entry != nullptr && sees(sight, member, list, *entry);
        return seen ? holding{hold::has, entry} : holding{};
    }
    return {its.may_have(own) ? hold::has : hold::may, nullptr};
}

found_place bundle_catalog::find_uri(std::string_view uri, const bundle_sight& sight) const
{
    found_place unlisted;
    found_place bare;
    bare.prefixed = false;
    for (std::size_t member = 0; member < members_.size(); ++member) {
        const auto& scheme = members_[member]->scheme();
        const auto own = scheme.empty() ? std::nullopt : own_uri(scheme, uri);
        if (own) {
            const auto [how, entry] = held(member, *own, sight);
            if (how == hold::has) {
                return {.to = reach::one, .member = member, .own = *own, .entry = entry};
            }
            if (how == hold::may) {
                unlisted = {.to = reach::one, .member = member, .own = *own};
            }
        }
        const auto [how, entry] = held(member, uri, sight);
        if (how == hold::has) {
            bare.full_forms.push_back(exposed_uri(scheme, uri));
            if (bare.full_forms.size() == 1 || scheme.empty()) {
                bare.member = member;
                bare.own = uri;
                bare.entry = entry;
                bare.prefixed = scheme.empty();
            }
        } else if (how == hold::may && scheme.empty() && unlisted.to == reach::none) {
            unlisted = {.to = reach::one, .member = member, .own = std::string{uri}};
        }
    }
    // The full form of the member without a prefix.
    if (bare.prefixed) {
        bare.full_forms.resize(1);
    }
    bare = settled(std::move(bare));
    return bare.to != reach::none ? bare : unlisted;
}

std::uint64_t bundle_catalog::digest(list_kind list, const bundle_sight& sight) const
{
    std::uint64_t sum = 0xCBF29CE484222325ULL;
    each(list, sight, [&sum](std::size_t, const shown_entry& entry) { sum = mixed(sum, entry.digest); });
    return sum;
}

}  // namespace mcp
