// The first steps of a process that may take another one's place, before there is a second thread.
#pragma once

#include "config/expand.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "gateway/cli/command_line.hpp"
#include "gateway/lifecycle/inherited_listeners.hpp"
#include "gateway/reload/configuration.hpp"
#include "gateway/upgrade/carried_state.hpp"
#include "gateway/upgrade/handover.hpp"
#include "gateway/upgrade/predecessor.hpp"
#include "net/process/service_manager.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::upgrade {

struct taken_over {
    std::unique_ptr<predecessor> from;    // null: there is none
    std::optional<handover_hello> hello;  // nothing: it has ended already
    carried_state state;
};

// `end`: of the socket pair; not open: there is no predecessor. Fails as predecessor::greet() does.
core::result<taken_over> greet_predecessor(core::descriptor end);

// With those of the inherited sockets whose addresses are still the same, which the others leave. Those that the service manager passed
// stay, whatever the configuration says.
reload::configuration read_configuration_for(
    lifecycle::inherited_listeners& sockets,
    const std::optional<handover_hello>& hello,
    const cli::command_line& asked,
    const config::environment& variables
);

// Tells the predecessor that this configuration is valid, and takes what it passes. Nothing was touched before that it still has: if
// this process ends, that one goes on. Fails with config_invalid: an agent cannot be used.
core::result<> take_over(taken_over& all, const reload::configuration& configured);

// The addresses that the sockets are for; nothing for a socket of the service manager.
reload::inherited_addresses written_addresses(
    reload::inherited_addresses written,
    const lifecycle::inherited_listeners& sockets,
    const std::optional<handover_hello>& hello
);

// How this process was started, so that another one can be started as it was: `words` are its arguments, the program's name first.
// `store`: the path of its file; empty: it is in memory.
handover_source
how_started(const std::vector<std::string>& words, const net::service_manager& manager, const std::string& store);

}  // namespace gateway::upgrade
