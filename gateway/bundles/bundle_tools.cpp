#include "gateway/bundles/bundle_tools.hpp"

#include "core/pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace gateway::bundles {
namespace {

using ::mcp::list_kind;
using ::mcp::shown_entry;

std::vector<::mcp::searched_member> members_of(const model::published_bundle& bundle)
{
    std::vector<::mcp::searched_member> members;
    for (std::size_t i = 0; i < bundle.members.size(); ++i) {
        const auto& each = bundle.members[i];
        const auto& as = bundle.catalog->members()[i]->as();
        members.push_back(
            {.name = as.empty() ? each.agent->record.id : as,
             .title = each.lists == nullptr ? std::string{} : each.lists->server.title}
        );
    }
    return members;
}

}  // namespace

const std::vector<std::string>& search_names()
{
    static const std::vector<std::string> names(::mcp::search_tool_names.begin(), ::mcp::search_tool_names.end());
    return names;
}

tools_to_search tools_of(const model::published_bundle& bundle)
{
    tools_to_search all{.owner = bundle.catalog, .members = members_of(bundle)};
    bundle.catalog->each(list_kind::tools, {}, [&all](std::size_t member, const shown_entry& entry) {
        all.tools.push_back({.name = entry.exposed, .own_name = entry.own, .definition = entry.raw, .member = member});
    });
    return all;
}

visible_tools tools_seen(const model::published_bundle& bundle, const bundle_caller& caller)
{
    const auto sight = sight_of(bundle, caller);
    std::vector<bool> members(bundle.members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
        members[i] = sight.member(i, list_kind::tools);
    }
    visible_tools seen;
    bundle.catalog->each(list_kind::tools, {}, [&](std::size_t member, const shown_entry& entry) {
        seen.push_back(members[member] && sight.entry(member, list_kind::tools, entry));
    });
    return seen;
}

std::string search_front(const model::published_bundle& bundle, const bundle_caller& caller)
{
    auto members = members_of(bundle);
    bundle.catalog->each(list_kind::tools, sight_of(bundle, caller), [&](std::size_t member, const shown_entry&) {
        ++members[member].tools;
    });
    std::erase_if(members, [](const auto& member) { return member.tools == 0; });
    std::string front;
    for (const auto& each : ::mcp::search_definitions(members)) {
        front += front.empty() ? "" : ",";
        front += each;
    }
    return front;
}

::mcp::bundle_sight listed_sight_of(const model::published_bundle& bundle, const bundle_caller& caller)
{
    auto sight = sight_of(bundle, caller);
    sight.entry = [&always = bundle.settings.always,
                   seen = std::move(sight.entry)](std::size_t member, list_kind list, const shown_entry& entry) {
        const auto fits = [&entry](const auto& pattern) { return core::fits(pattern, entry.exposed); };
        return (list != list_kind::tools || std::ranges::any_of(always, fits)) && seen(member, list, entry);
    };
    return sight;
}

std::uint64_t listed_digest(const model::published_bundle& bundle, const bundle_caller& caller)
{
    const auto listed = bundle.catalog->digest(list_kind::tools, listed_sight_of(bundle, caller));
    return listed ^ std::hash<std::string>{}(search_front(bundle, caller));
}

}  // namespace gateway::bundles
