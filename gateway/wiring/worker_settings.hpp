// Settings that all workers share. On the control loop.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "core/secret.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/push/push_plane.hpp"
#include "gateway/worker/worker.hpp"
#include "store/engine.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace gateway::wiring {

// Tells the workers and deliveries of rate limits, from which counting starts from zero, of the log's level, and of the keys that session
// ids and push addresses are sealed with.
class worker_settings final : public model::plane {
public:
    using log_change = std::function<void(core::log_level level, core::log_format format)>;

    // References outlive this. `own_key`: without `mcp.session_keys`. `log`: hears of the log's settings; may be null.
    worker_settings(
        const std::vector<std::unique_ptr<worker::worker>>& workers,
        push::push_plane& deliveries,
        const core::secret& own_key,
        log_change log
    );

    void apply(const config::settings& now, const model::changed_settings& changed) override;

private:
    void publish_keys(const config::mcp_settings& settings);

    const std::vector<std::unique_ptr<worker::worker>>& workers_;
    push::push_plane& deliveries_;
    const core::secret& own_key_;
    log_change log_;
};

// The key of a gateway that is given none, which stays with its store; if the store does not take it, with this process.
core::secret own_session_key(store::engine& records, const core::logger& log);

}  // namespace gateway::wiring
