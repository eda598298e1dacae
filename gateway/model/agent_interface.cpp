#include "gateway/model/agent_interface.hpp"

#include <algorithm>

namespace gateway::model {

a2a::dialect dialect_of(core::a2a_dialect name) noexcept
{
    using enum core::a2a_dialect;
    switch (name) {
        case v03_jsonrpc:
            return {a2a::generation::v03, a2a::binding::jsonrpc};
        case v03_rest:
            return {a2a::generation::v03, a2a::binding::rest};
        case v1_jsonrpc:
            return {a2a::generation::v1, a2a::binding::jsonrpc};
        case v1_rest:
            return {a2a::generation::v1, a2a::binding::rest};
    }
    return {};
}

call_route completed(const core::agent& record, call_route route)
{
    if (route.url.empty()) {
        route.url = record.url;
    }
    if (route.interfaces.empty()) {
        for (const auto speaks : record.dialects) {
            route.interfaces.push_back({speaks, route.url, {}});
        }
    }
    return route;
}

const agent_interface* nearest_interface(std::span<const agent_interface> interfaces, a2a::dialect caller) noexcept
{
    // The generation decides more than the binding: less is lost between two bindings of one generation.
    constexpr int same_generation = 2;
    const agent_interface* nearest = nullptr;
    int best = -1;
    for (const auto& each : interfaces) {
        const int near =
            (each.speaks.version == caller.version ? same_generation : 0) + (each.speaks.over == caller.over ? 1 : 0);
        if (near > best) {
            best = near;
            nearest = &each;
        }
    }
    return nearest;
}

bool has_several_addresses(std::span<const agent_interface> interfaces) noexcept
{
    return std::ranges::any_of(interfaces, [&](const agent_interface& each) {
        return each.at.url != interfaces.front().at.url;
    });
}

const agent_interface*
interface_for_task(std::span<const agent_interface> interfaces, a2a::dialect caller, task_home home) noexcept
{
    const auto* nearest = nearest_interface(interfaces, caller);
    const auto there = std::ranges::find(interfaces, home, home_at);
    return there == interfaces.end() || there->at.url == nearest->at.url ? nearest : &*there;
}

}  // namespace gateway::model
