// `cardea status`, `events`, `edges`, `replicas`, `reload` and `config dump --running`: what a running gateway is like as a whole.
#pragma once

#include "gateway/cli/admin_options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace gateway::cli {

enum class gateway_verb : std::uint8_t { status, events, edges, replicas, reload, configuration };

// The arguments of one command. Text that was not given is empty.
struct gateway_command : admin_options {
    gateway_verb verb = gateway_verb::status;
    std::string sort;                    // of status and edges
    bool watch = false;                  // of status: again and again
    bool follow = false;                 // of events: also those that come
    std::string principal;               // of edges
    std::optional<std::uint64_t> limit;  // the same
    std::string agent;                   // of events and edges
    std::string event;                   // of events: its name
    std::string route;                   // of the access line of events
    std::string status;                  // the same
    std::optional<std::uint64_t> last;   // of events: lines that have come before
};

// Prints what the gateway says to stdout, failures to stderr; what is printed is safe for a terminal. With `watch` and `follow` until
// the process ends. Blocking.
exit_code run_gateway_command(const gateway_command& command, const environment& variable);

}  // namespace gateway::cli
