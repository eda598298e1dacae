// Which listeners of the gateway have sockets that the service manager opened, by their names: traffic, admin, metrics; and the socket
// pair of the gateway that hands over to this one: handover.
#pragma once

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "gateway/reload/configuration.hpp"
#include "net/process/service_manager.hpp"

#include <optional>
#include <vector>

namespace gateway::lifecycle {

// Nothing: the gateway binds this listener's address itself.
struct inherited_listeners {
    std::optional<net::inherited_socket> traffic;
    std::optional<net::inherited_socket> admin;
    std::optional<net::inherited_socket> metrics;
    core::descriptor handover;  // not open: this process takes nobody's place

    // Where these sockets are, whatever the configuration says.
    reload::inherited_addresses addresses() const;

    // Closes those whose address in the configuration is not what it was when they were opened: `now` and `before`. One that is not
    // in `before` was passed by the service manager, and stays. True: one was closed.
    bool keep_unchanged(const reload::inherited_addresses& now, const reload::inherited_addresses& before);
};

// Fails with config_invalid: another name, a name twice, or as net::take_listening_socket() does.
core::result<inherited_listeners> take_inherited_listeners(const std::vector<net::inherited_descriptor>& passed);

}  // namespace gateway::lifecycle
