// What all workers share and are told again when settings change. On the control loop.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "core/rate_limits.hpp"
#include "core/secret.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/worker/worker.hpp"
#include "store/engine.hpp"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace gateway::wiring {

using worker_list = std::span<const std::unique_ptr<worker::worker>>;

// Of the settings that have changed, by their paths: `rate_limits`, from which counting starts from zero, `log.level`, and
// `mcp.session_keys`; without any of these session ids and push addresses are sealed with `own_key`.
void tell_workers(
    worker_list workers,
    const config::settings& now,
    const std::vector<std::string_view>& changed,
    const core::secret& own_key
);

// The addresses that push notifications of agents come to, sealed with the same keys as session ids.
std::shared_ptr<const model::push_addresses>
push_addresses_of(const config::mcp_settings& settings, const core::secret& own_key);

// The key of a gateway that is given none, which stays with its store; if that does not take it, with this process.
core::secret own_session_key(store::engine& records, const core::logger& log);

}  // namespace gateway::wiring
