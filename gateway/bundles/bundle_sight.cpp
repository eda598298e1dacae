#include "gateway/bundles/bundle_sight.hpp"

#include "core/pattern.hpp"
#include "gateway/access/policy.hpp"

#include <algorithm>
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

std::string_view method_for(list_kind list) noexcept
{
    switch (list) {
        case list_kind::tools:
            return "tools/call";
        case list_kind::prompts:
            return "prompts/get";
        case list_kind::resources:
        case list_kind::templates:
            break;
    }
    return "resources/read";
}

bool may_use(
    const model::published_bundle& bundle,
    std::size_t member,
    std::string_view method,
    const bundle_caller& caller
)
{
    if (caller.access == nullptr) {
        return true;
    }
    const auto& record = bundle.members[member].agent->record;
    if (const auto& rule = bundle.settings.call) {
        const bool allowed = method.empty() ? access::allows_some_method(*rule, caller.principal)
                                            : access::allows(*rule, caller.principal, method);
        if (!allowed) {
            return false;
        }
    }
    return caller.access->may_discover(record, caller.principal) &&
           (method.empty() ? caller.access->may_call_somehow(record, caller.principal)
                           : caller.access->may_call(record, caller.principal, method));
}

bool may_enter(const model::published_bundle& bundle, const bundle_caller& caller)
{
    for (std::size_t i = 0; i < bundle.members.size(); ++i) {
        const auto may = [&](list_kind list) { return may_use(bundle, i, method_for(list), caller); };
        if (may(list_kind::tools) || may(list_kind::prompts) || may(list_kind::resources)) {
            return true;
        }
    }
    return false;
}

::mcp::bundle_sight sight_of(const model::published_bundle& bundle, const bundle_caller& caller)
{
    ::mcp::bundle_sight sight;
    sight.member = [&bundle, caller](std::size_t member, list_kind list) {
        return may_use(bundle, member, method_for(list), caller);
    };
    sight.entry = [&bundle, caller](std::size_t member, list_kind list, const shown_entry& entry) {
        const auto& server = bundle.members[member].server();
        const auto* const scopes = caller.principal == nullptr ? nullptr : &caller.principal->scopes;
        return server == nullptr || server->filters == nullptr || server->filters->shows(list, entry.own, scopes);
    };
    return sight;
}

std::vector<std::string> unavailable_of(const model::published_bundle& bundle, const bundle_caller& caller)
{
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < bundle.members.size(); ++i) {
        const auto& each = bundle.members[i];
        if (each.state == model::member_state::down && may_use(bundle, i, {}, caller)) {
            ids.push_back(each.agent->record.id);
        }
    }
    return ids;
}

std::optional<std::size_t> place_of(const model::published_bundle& bundle, std::string_view agent)
{
    const auto& all = bundle.members;
    const auto at = std::ranges::find_if(all, [agent](const auto& each) { return each.agent->record.id == agent; });
    return at == all.end() ? std::nullopt : std::optional{static_cast<std::size_t>(at - all.begin())};
}

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
    const auto members = bundle.tools->members_seen(tools_seen(bundle, caller));
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
