#include "mcp/bundle/listen_split.hpp"

#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/list_subscription.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace mcp {
namespace {

constexpr std::string_view resources_wish = "resourceSubscriptions";

core::error unusable(std::string_view why)
{
    return core::caller_error(core::errc::invalid_params, "subscriptions/listen: " + std::string{why});
}

// The URIs of `resourceSubscriptions`; none if it is absent.
core::result<std::vector<std::string>> wished_resources(const raw_object& wishes)
{
    const auto& all = wishes.members();
    if (std::ranges::any_of(all, [](const raw_member& each) { return is_twin(each.name, resources_wish); })) {
        return unusable("resourceSubscriptions in another spelling");
    }
    std::vector<std::string> uris;
    const auto raw = wishes.find(resources_wish);
    if (raw.empty()) {
        return uris;
    }
    const auto each = core::scan_elements(raw, most_listened_resources);
    if (!each) {
        return unusable("resourceSubscriptions is not an array");
    }
    if (each->count > most_listened_resources) {
        return unusable("more than 1000 resources");
    }
    for (const auto element : each->raw) {
        auto uri = text_of(element);
        if (!uri) {
            return unusable("a resource that is not a string");
        }
        uris.push_back(std::move(*uri));
    }
    return uris;
}

// Whether `part` is a resource within `whole`, by its path, query or fragment.
bool is_part(std::string_view whole, std::string_view part) noexcept
{
    constexpr std::string_view marks = "/?#";
    if (whole.empty() || part.size() <= whole.size() || !part.starts_with(whole)) {
        return false;
    }
    return marks.find(part[whole.size()]) != std::string_view::npos ||
           marks.find(whole.back()) != std::string_view::npos;
}

}  // namespace

core::result<listen_split>
split_listen(std::string_view notifications, const bundle_catalog& catalog, const bundle_sight& sight)
{
    const auto wishes = raw_object::read(notifications);
    if (!wishes) {
        return unusable("notifications is not an object");
    }
    auto uris = wished_resources(*wishes);
    if (!uris) {
        return uris.error();
    }
    listen_split split;
    split.lists = lists_listened_to(notifications);
    std::map<std::size_t, listened_member> asked;
    for (auto& uri : *uris) {
        auto found = catalog.find_uri(uri, sight);
        if (found.to == reach::one) {
            asked[found.member].resources.emplace(std::move(found.own), std::move(uri));
        } else {
            split.unknown.push_back(std::move(uri));
        }
    }
    for (auto& [member, of_member] : asked) {
        of_member.member = member;
        split.members.push_back(std::move(of_member));
    }
    return split;
}

std::string listen_params(const listened_member& member)
{
    std::set<std::string, std::less<>> uris;
    for (const auto& [own, asked] : member.resources) {
        uris.insert(own);
    }
    return listen_params(uris);
}

std::string_view asked_uri(const listened_member& member, std::string_view updated, std::string_view exposed) noexcept
{
    if (const auto found = member.resources.find(updated); found != member.resources.end()) {
        return found->second;
    }
    const bool bare = std::ranges::any_of(member.resources, [updated](const auto& each) {
        return each.second == each.first && is_part(each.first, updated);
    });
    return bare ? updated : exposed;
}

}  // namespace mcp
