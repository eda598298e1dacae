// For which names of `Host` the gateway answers. A page of another site can have its own name resolve to this machine and
// then talk to a loopback listener as if it were its own server (DNS rebinding); it cannot choose the Host field. Pure.
#pragma once

#include "config/settings.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gateway::responses {

class host_policy {
public:
    // `listen` is the address of the listener as it was configured. Without `hosts`: on a loopback address only the
    // loopback names, that address and the host of `public_url`; elsewhere every name.
    host_policy(const config::settings& settings, const config::endpoint& listen);

    // The policy of the admin listener. `hosts` restricts callers, so that besides those names, loopback names and IP addresses are
    // answered: a page that has its own name resolve to this machine sends that name, and no address.
    static host_policy of_operators(const config::settings& settings);

    // `authority` is the host and port of a request (net::http1::request_head); empty: HTTP/1.0 without Host, answered.
    bool answers(std::string_view authority) const noexcept;

private:
    std::vector<std::string> names_;  // lower case
    bool any_ = false;
    bool addresses_ = false;  // every IP address
};

}  // namespace gateway::responses
