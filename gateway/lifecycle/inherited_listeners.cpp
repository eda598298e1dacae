#include "gateway/lifecycle/inherited_listeners.hpp"

#include <string>
#include <utility>

namespace gateway::lifecycle {
namespace {

std::optional<config::endpoint> address_of(const std::optional<net::inherited_socket>& taken)
{
    if (!taken) {
        return std::nullopt;
    }
    return config::endpoint{taken->local.address().to_string(), taken->local.port()};
}

std::optional<net::inherited_socket>* place_of(inherited_listeners& all, const std::string& name)
{
    if (name == "traffic") {
        return &all.traffic;
    }
    if (name == "admin") {
        return &all.admin;
    }
    return name == "metrics" ? &all.metrics : nullptr;
}

}  // namespace

reload::inherited_addresses inherited_listeners::addresses() const
{
    return {address_of(traffic), address_of(admin), address_of(metrics)};
}

bool inherited_listeners::keep_unchanged(
    const reload::inherited_addresses& now,
    const reload::inherited_addresses& before
)
{
    const auto keep = [](auto& socket, const auto& is, const auto& was) {
        const bool changed = socket.has_value() && was.has_value() && is != was;
        if (changed) {
            socket.reset();
        }
        return changed;
    };
    const bool traffic_changed = keep(traffic, now.listen, before.listen);
    const bool admin_changed = keep(admin, now.admin, before.admin);
    const bool metrics_changed = keep(metrics, now.metrics, before.metrics);
    return traffic_changed || admin_changed || metrics_changed;
}

core::result<inherited_listeners> take_inherited_listeners(const std::vector<net::inherited_descriptor>& passed)
{
    const auto refuse = [](const net::inherited_descriptor& which, const char* expected) {
        return core::gateway_error(
            core::errc::config_invalid,
            "inherited socket " + which.name + ": descriptor " + std::to_string(which.number) + expected
        );
    };
    inherited_listeners all;
    for (const auto& each : passed) {
        if (each.name == "handover" && !all.handover.open()) {
            auto taken = net::take_socket_pair(each);
            if (!taken) {
                return std::move(taken).error();
            }
            all.handover = std::move(*taken);
            continue;
        }
        auto* const place = place_of(all, each.name);
        if (place == nullptr) {
            return refuse(each, " has an unknown name; expected traffic, admin or metrics (FileDescriptorName)");
        }
        if (*place) {
            return refuse(each, " is the second one with this name; expected one address for each listener");
        }
        auto taken = net::take_listening_socket(each);
        if (!taken) {
            return std::move(taken).error();
        }
        *place = std::move(*taken);
    }
    return all;
}

}  // namespace gateway::lifecycle
