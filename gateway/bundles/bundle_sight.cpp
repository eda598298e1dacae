#include "gateway/bundles/bundle_sight.hpp"

#include "gateway/access/policy.hpp"

namespace gateway::bundles {

std::string_view method_for(::mcp::list_kind list) noexcept
{
    switch (list) {
        case ::mcp::list_kind::tools:
            return "tools/call";
        case ::mcp::list_kind::prompts:
            return "prompts/get";
        case ::mcp::list_kind::resources:
        case ::mcp::list_kind::templates:
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
        const auto may = [&](::mcp::list_kind list) { return may_use(bundle, i, method_for(list), caller); };
        if (may(::mcp::list_kind::tools) || may(::mcp::list_kind::prompts) || may(::mcp::list_kind::resources)) {
            return true;
        }
    }
    return false;
}

::mcp::bundle_sight sight_of(const model::published_bundle& bundle, const bundle_caller& caller)
{
    ::mcp::bundle_sight sight;
    sight.member = [&bundle, caller](std::size_t member, ::mcp::list_kind list) {
        return may_use(bundle, member, method_for(list), caller);
    };
    sight.entry = [&bundle, caller](std::size_t member, ::mcp::list_kind list, const ::mcp::shown_entry& entry) {
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

}  // namespace gateway::bundles
