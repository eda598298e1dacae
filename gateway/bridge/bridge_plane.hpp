// The bridges between A2A and MCP: servers within the process, which the ordinary relay reaches like any agent (agent_entry::bridged).
// `/a2a/<agent>` is an agent of A2A 1.0 for an MCP server, `/mcp/<agent>` a server of MCP 2026-07-28 for an agent of A2A; what they are
// asked becomes inner calls. On the thread of the control loop but for dial().
#pragma once

#include "core/descriptor.hpp"
#include "core/log.hpp"
#include "gateway/bridge/a2a_server.hpp"
#include "gateway/bridge/agent_server.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/published_card.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/threads/side_thread.hpp"
#include "mcp/protocol/discovery.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/server/caller_exchange.hpp"
#include "net/server/http_service.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::bridge {

// The bridges need this of the gateway; references outlive them.
struct bridge_services {
    net::loop& control;
    model::inner_calls& calls;
    const model::inner_callers& callers;
    const core::logger& log;
    threads::side_thread& long_texts;
    // This is agent_server::services::fetch_card.
    std::function<net::task<>(std::string agent)> fetch_card = {};
    // This is a2a_server::services::lists.
    std::function<std::shared_ptr<const ::mcp::server_lists>(const std::string& agent)> lists = {};
    std::function<net::task<core::result<>>(std::string agent)> read_lists = {};
    // This is agent_server::services::agent.
    std::function<std::shared_ptr<const model::agent_entry>(const std::string& id)> agent = {};
};

class bridge_plane final : public model::plane, private net::http_handler {
public:
    explicit bridge_plane(const bridge_services& services);

    // This fulfils net::upstream_target::dial. Any thread.
    core::descriptor dial();

    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;

    // The cards of agents, as they are published.
    void set_card(const std::string& id, const std::shared_ptr<const model::published_card>& card);

    // Agents of A2A as MCP servers. It lives as long as this.
    agent_server& agents() noexcept { return agents_; }

    void collect(telemetry::metrics& into) const override;

    void stop() override;
    bool busy() const noexcept override { return service_.open() > 0; }

private:
    net::routine<> handle(net::caller_exchange& caller) override;
    net::routine<> refuse(net::caller_exchange& caller, core::error why) override;
    void failed(std::string_view problem) noexcept override;
    void on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept override;

    bridge_services services_;
    // Bytes of requests, of what agents have answered, and of whole answers on their way to callers.
    net::shared_budget bodies_{128 * 1024 * 1024};
    agent_server agents_;
    a2a_server servers_;
    net::http_service service_;
};

}  // namespace gateway::bridge
