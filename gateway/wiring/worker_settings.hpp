// Planes that tell the workers of settings, and workers, admin listener, listeners of bundles and cards of access. On the control loop.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "core/secret.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/access/card_schemes.hpp"
#include "gateway/admin/admin_guard.hpp"
#include "gateway/bundles/bundle_streams.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/cards/card_thread.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/push/push_plane.hpp"
#include "gateway/threads/store_thread.hpp"
#include "gateway/threads/turns.hpp"
#include "gateway/wiring/caller_sessions.hpp"
#include "gateway/worker/worker.hpp"
#include "store/engine.hpp"
#include "store/feed.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gateway::wiring {

// Tells the workers and deliveries of rate limits, from which counting starts from zero, of the log's level, and of the keys that session
// ids and push addresses are sealed with.
class worker_settings final : public model::plane {
public:
    using log_change = std::function<void(core::log_level level, core::log_format format)>;

    // References outlive it.
    struct parts {
        const std::vector<std::unique_ptr<worker::worker>>& workers;
        push::push_plane& deliveries;
        const core::secret& own_key;  // without `mcp.session_keys`
        threads::store_thread& store;
        caller_sessions& callers;  // hear of the keys if the store is shared
        log_change log;            // hears of the log's settings; may be null
    };

    // Before the store is asked for anything.
    explicit worker_settings(const parts& of);

    void apply(const config::settings& now, const model::changed_settings& changed) override;

    // So many replicas share the load from now on, this one too.
    void set_replicas(std::size_t live, const core::rate_limits& limits);

private:
    void publish_keys(const config::mcp_settings& settings);
    void publish_limits(const core::rate_limits& limits);

    parts parts_;
    store::replica_id replica_;  // this process; 0: the store is not shared
    std::size_t replicas_ = 1;
};

std::unique_ptr<worker_settings> make_worker_settings(const worker_settings::parts& of);

// The key of a gateway that is given none, which stays with its store; if the store does not take it, with this process.
core::secret own_session_key(store::engine& records, const core::logger& log);

// Tells workers, the admin listener and cards who may do what, when the gateway starts and when its configuration changes. On the control
// loop's thread.
class access_publication final : public model::plane {
public:
    // Parts that are told of new access. References outlive this.
    struct audience {
        const std::vector<std::unique_ptr<worker::worker>>& workers;
        admin::admin_guard& admin;
        cards::card_thread& card_work;
        cards::card_plane& cards;
        threads::turns& operators;
        bundles::bundle_streams& listeners;
        const std::string& public_base;
    };

    explicit access_publication(const audience& told)
        : told_{told}
    {
    }

    // `next` is about to apply instead of `now`: until apply() nobody is allowed what either of them does not allow, and the admin listener
    // is opened to nobody.
    void begin(const config::settings& now, const config::settings& next, const model::changed_settings& changed);

    void apply(const config::settings& now, const model::changed_settings& changed) override;

    // The plan that callers are judged by. Null: they need no credential.
    const std::shared_ptr<const access::access_plan>& callers() const noexcept { return callers_; }

private:
    void publish(const config::settings& now, std::shared_ptr<const access::access_plan> before);

    audience told_;
    std::shared_ptr<const access::access_plan> callers_;
    std::shared_ptr<const config::rule_places> rules_;
    std::shared_ptr<const access::card_schemes> schemes_ =  // which cards have, or will soon
        std::make_shared<const access::card_schemes>(core::access_settings{});
};

}  // namespace gateway::wiring
