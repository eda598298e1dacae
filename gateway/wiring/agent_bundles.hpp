// Bundles of agents, and what the rest of the gateway gives them: lists of sessions and cards, inner calls, the workers. On the thread of
// the control loop.
#pragma once

#include "core/log.hpp"
#include "gateway/bridge/agent_server.hpp"
#include "gateway/bundles/bundle_plane.hpp"
#include "gateway/bundles/bundle_sessions.hpp"
#include "gateway/bundles/bundle_streams.hpp"
#include "gateway/bundles/tool_index.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/published_bundle.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/worker/worker.hpp"
#include "net/loop/loop.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::wiring {

class agent_bundles final : public model::plane {
public:
    // References outlive it.
    struct parts {
        net::loop& control;
        const std::vector<std::unique_ptr<worker::worker>>& workers;
        sessions::session_plane& sessions;
        bridge::agent_server& bridged;  // that agents of A2A are
        model::inner_calls& calls;
        const core::logger& log;
    };
    explicit agent_bundles(const parts& of);

    // For the workers, which this outlives.
    model::bundle_services services();

    bundles::bundle_plane& members() noexcept { return members_; }
    bundles::bundle_streams& streams() noexcept { return streams_; }

    void set_agents(const std::shared_ptr<const model::snapshot>& now) override { members_.set_agents(now); }
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override
    {
        members_.set_agent(id, agent);
    }
    void contain(const std::string& id) override { members_.contain(id); }
    void apply(const config::settings& now, const model::changed_settings& changed) override
    {
        members_.apply(now, changed);
    }
    void collect(telemetry::metrics& into) const override { members_.collect(into); }
    void stop() override;

private:
    net::task<bool> end_session(model::bundle_session session);

    net::loop& control_;
    bundles::tool_searches searches_;
    bundles::bundle_plane members_;
    bundles::bundle_sessions sessions_;
    bundles::bundle_streams streams_;
};

}  // namespace gateway::wiring
