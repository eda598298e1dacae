// Which listeners of the gateway have sockets that the service manager opened, by their names: traffic, admin, metrics.
#pragma once

#include "core/error.hpp"
#include "gateway/configuration.hpp"
#include "net/process/inherited_descriptors.hpp"

#include <optional>
#include <vector>

namespace gateway {

// Nothing: the gateway binds this listener's address itself.
struct inherited_listeners {
    std::optional<net::inherited_socket> traffic;
    std::optional<net::inherited_socket> admin;
    std::optional<net::inherited_socket> metrics;

    // Where these sockets are, whatever the configuration says.
    inherited_addresses addresses() const;
};

// Fails with config_invalid: another name, a name twice, or as net::take_listening_socket() does.
core::result<inherited_listeners> take_inherited_listeners(const std::vector<net::inherited_descriptor>& passed);

}  // namespace gateway
