#include "gateway/model/agent_interface.hpp"

#include "config/url.hpp"
#include "core/url.hpp"

#include <algorithm>
#include <utility>

namespace gateway::model {
namespace {

std::string_view without_slashes(std::string_view path)
{
    return path.substr(0, path.find_last_not_of('/') + 1);
}

// At least "/".
std::string_view path_in(std::string_view url)
{
    const auto path = url.substr(config::path_begin(url));
    return path.empty() ? "/" : path;
}

bool is_by_grpc(const agent_interface& interface) noexcept
{
    return interface.speaks.over == ::a2a::binding::grpc;
}

}  // namespace

std::string moved_below(std::string_view path, std::string_view from, std::string_view to)
{
    const auto base = without_slashes(from);
    const auto rest = path.starts_with(base) ? path.substr(base.size()) : std::string_view{};
    if (path == from) {
        return std::string{to};
    }
    if (!path.starts_with(base) || (!rest.empty() && rest.front() != '/')) {
        return std::string{path};
    }
    auto moved = std::string{without_slashes(to)}.append(rest);
    return moved.empty() ? "/" : moved;
}

std::string moved_url(const std::string& url, const std::string& from, const std::string& to)
{
    if (url == from) {
        return to;
    }
    return to.substr(0, config::path_begin(to)) + moved_below(path_in(url), path_in(from), path_in(to));
}

call_route moved_route(call_route route, const std::string& from, const std::string& to)
{
    if (from == to) {
        return route;
    }
    if (!route.url.empty()) {
        route.url = moved_url(route.url, from, to);
    }
    for (auto& each : route.interfaces) {
        each.url = moved_url(each.url, from, to);
    }
    return route;
}

::a2a::dialect dialect_of(core::a2a_dialect name) noexcept
{
    using enum core::a2a_dialect;
    switch (name) {
        case v03_jsonrpc:
            return {::a2a::generation::v03, ::a2a::binding::jsonrpc};
        case v03_rest:
            return {::a2a::generation::v03, ::a2a::binding::rest};
        case v1_jsonrpc:
            return {::a2a::generation::v1, ::a2a::binding::jsonrpc};
        case v1_rest:
            return {::a2a::generation::v1, ::a2a::binding::rest};
        case v03_grpc:
            return {::a2a::generation::v03, ::a2a::binding::grpc};
        case v1_grpc:
            return {::a2a::generation::v1, ::a2a::binding::grpc};
    }
    return {};
}

call_route completed(const core::agent& record, call_route route)
{
    using enum core::a2a_dialect;
    if (route.url.empty()) {
        route.url = core::http_form(record.url);
    }
    if (!route.interfaces.empty()) {
        return route;
    }
    // The route may be of another endpoint than the record's first.
    auto grpc = core::only_grpc(record) ? route.url : core::grpc_address(record);
    if (grpc.empty()) {
        grpc = route.url.substr(0, config::path_begin(route.url));
    } else if (record.dialects.empty()) {
        if (!core::only_grpc(record)) {
            route.interfaces = {{v1_jsonrpc, route.url, {}}, {v03_jsonrpc, route.url, {}}};
        }
        route.interfaces.push_back({v1_grpc, grpc, {}});
        route.interfaces.push_back({v03_grpc, grpc, {}});
    }
    for (const auto speaks : record.dialects) {
        const bool by_grpc = dialect_of(speaks).over == ::a2a::binding::grpc;
        route.interfaces.push_back({speaks, by_grpc ? grpc : route.url, {}});
    }
    return route;
}

const agent_interface* nearest_interface(std::span<const agent_interface> interfaces, ::a2a::dialect caller) noexcept
{
    // The generation decides more than the binding: less is lost between two bindings of one generation. Messages of gRPC have the
    // shape of HTTP+JSON; calls between two JSON bindings need no codec.
    constexpr int same_generation = 4;
    constexpr int same_binding = 2;
    const auto alike = [&](::a2a::binding over) {
        using enum ::a2a::binding;
        return caller.over == grpc ? over == rest : over != grpc;
    };
    const agent_interface* nearest = nullptr;
    int best = -1;
    for (const auto& each : interfaces) {
        const int near = (each.speaks.version == caller.version ? same_generation : 0) +
                         (each.speaks.over == caller.over ? same_binding : 0) + (alike(each.speaks.over) ? 1 : 0);
        if (near > best) {
            best = near;
            nearest = &each;
        }
    }
    return nearest;
}

bool has_several_addresses(std::span<const agent_interface> interfaces) noexcept
{
    const auto first = std::ranges::find_if_not(interfaces, is_by_grpc);
    return std::any_of(first, interfaces.end(), [&](const agent_interface& each) {
        return !is_by_grpc(each) && each.at.url != first->at.url;
    });
}

const agent_interface*
interface_for_task(std::span<const agent_interface> interfaces, ::a2a::dialect caller, task_home home) noexcept
{
    const auto* nearest = nearest_interface(interfaces, caller);
    const auto there = std::ranges::find(interfaces, home, home_at);
    const bool near =
        there == interfaces.end() || is_by_grpc(*nearest) || is_by_grpc(*there) || there->at.url == nearest->at.url;
    return near ? nearest : &*there;
}

}  // namespace gateway::model
