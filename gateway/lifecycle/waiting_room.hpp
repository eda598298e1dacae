// The start of a gateway whose store cannot be reached: it listens on all its addresses and answers that it waits, until the store opens.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/lifecycle/listeners.hpp"
#include "gateway/lifecycle/open_store.hpp"
#include "net/process/service_manager.hpp"

#include <functional>
#include <optional>

namespace gateway::lifecycle {

// Everything here outlives the wait.
struct store_wait {
    const config::settings& settings;
    std::function<core::result<opened_store>()> open;  // on a thread of its own
    const net::service_manager& manager;               // hears that the process runs
    const core::logger& log;
};

struct awaited_store {
    std::optional<opened_store> store;  // nothing: a signal has told the process to end
    inherited_listeners sockets;        // those that listen already, for the server
};

// Opens the store. While that fails with store_unreachable it is tried again, after 100 ms, doubling to 5 s, with full jitter; the log has
// each new reason (`store_waiting`). Meanwhile all addresses are served, `sockets` first: 200 at `/healthz`, else 503 store_unreachable.
// Callers who have connected when the wait ends are answered within a second or cut; nobody is refused. Ends early after SIGTERM or
// SIGINT; an attempt that is under way for longer ends with the process, whose exit code is 0 then. Fails as `open` does with other codes, and as listeners::open() and start_tls().
core::result<awaited_store> await_store(const store_wait& with, inherited_listeners sockets);

}  // namespace gateway::lifecycle
