// Callers' sessions with MCP servers, of both kinds: those that live in this process, and those of servers over HTTP. On the
// thread of the control loop but for what its parts say otherwise.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/bridge/agent_server.hpp"
#include "gateway/mcp/http/http_sessions.hpp"
#include "gateway/mcp/local_session_plane.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "gateway/worker/worker.hpp"
#include "net/loop/loop.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gateway::wiring {

// What callers' sessions need of the gateway; outlives them.
struct caller_services {
    net::loop& control;
    const std::vector<std::unique_ptr<worker::worker>>&
        workers;                    // what is known of sessions over HTTP goes to all of them
    sessions::session_plane& own;   // in whose turns programs start
    bridge::agent_server& bridged;  // that agents of A2A are
    const core::logger& log;
};

class caller_sessions final : public model::plane {
public:
    caller_sessions(const caller_services& given, const config::mcp_settings& settings);

    ~caller_sessions() override;
    caller_sessions(const caller_sessions&) = delete;
    caller_sessions& operator=(const caller_sessions&) = delete;

    // Who else hears of it when what an agent's server lists has changed.
    void set_observer(std::function<void(const std::string& id)> told) { listed_ = std::move(told); }

    mcp::local_session_plane& programs() noexcept { return programs_; }
    mcp::http::http_sessions& over_http() noexcept { return over_http_; }

    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;

    // Ends those that live here. Sessions over HTTP are the server's own, and stay for after the release.
    void contain(const std::string& id) override
    {
        programs_.contain(id);
        over_http_.contain(id);
    }

    // Ends them in order. busy() until the programs are gone.
    void stop() override;
    bool busy() const noexcept override { return programs_.busy(); }

    // Calls that a server of such a session has not answered, or whose answer has not reached the caller. Any thread.
    std::size_t calls() const noexcept { return programs_.calls(); }

    void collect(telemetry::metrics& into) const override;

    // Sessions that are over, which workers count too.
    telemetry::loop_totals totals() const;

private:
    sessions::session_plane& own_;
    bridge::agent_server& bridged_;
    std::function<void(const std::string& id)> listed_;  // empty: nobody
    mcp::local_session_plane programs_;
    mcp::http::http_sessions over_http_;
};

std::unique_ptr<caller_sessions>
make_caller_sessions(const caller_services& given, const config::mcp_settings& settings);

}  // namespace gateway::wiring
