// What all workers share and are told again when settings change. On the control loop.
#pragma once

#include "config/settings.hpp"
#include "core/rate_limits.hpp"
#include "core/secret.hpp"
#include "gateway/traffic/worker.hpp"

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace gateway {

using worker_list = std::span<const std::unique_ptr<traffic::worker>>;

// Of the settings that have changed, by their paths: `rate_limits`, from which counting starts from zero, and `mcp.session_keys`;
// without any of these session ids are sealed with a key that the process makes once.
void tell_workers(worker_list workers, const config::settings& now, const std::vector<std::string_view>& changed);

}  // namespace gateway
