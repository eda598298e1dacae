// The sessions with MCP servers: one for each agent that speaks MCP, begun, kept and ended with it; what it lists becomes the
// agent's card. On the control loop's thread.
#pragma once

#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/card_plane.hpp"
#include "gateway/snapshot.hpp"
#include "mcp/runner.hpp"
#include "net/exchange.hpp"
#include "net/loop.hpp"

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gateway {

// What agents/get says of a session.
struct session_facts {
    mcp::session_state state = mcp::session_state::configured;
    mcp::session_reason reason = mcp::session_reason::none;
    std::string era;      // empty: not known yet
    std::string version;  // of MCP, negotiated; likewise
    std::optional<core::steady_time> ready_since;
    mcp::runner_counts counts;
};

class session_plane {
public:
    // References outlive the plane. `inherited`: what every program gets of the gateway's own environment.
    session_plane(
        net::loop& control,
        card_plane& cards,
        const core::logger& log,
        std::vector<std::pair<std::string, std::string>> inherited
    );
    ~session_plane();

    void set_agents(const snapshot& now);

    // Null: it is gone. One that has not changed keeps its session.
    void set_agent(const std::string& id, const std::shared_ptr<const agent_entry>& agent);

    // Somebody wants the card: a lazy session begins.
    void demand(const std::string& id);

    // Nothing: the agent has no session.
    std::optional<session_facts> facts(const std::string& id) const;

    // Ends all of them in order; no new one begins. busy() until they are gone.
    void stop();
    bool busy() const noexcept { return !sessions_.empty() || !leaving_.empty(); }

private:
    class kept_session;

    void add(const std::string& id, const std::shared_ptr<const agent_entry>& agent);
    // Null: in no way that the gateway knows.
    mcp::transport_factory reach(const std::string& id, const core::agent& record);
    void retire(std::unique_ptr<kept_session> which);
    void forget(const kept_session& which);

    net::loop& loop_;
    net::exchange_client exchanges_;
    card_plane& cards_;
    const core::logger& log_;
    std::vector<std::pair<std::string, std::string>> inherited_;
    string_map<std::unique_ptr<kept_session>> sessions_;
    std::list<std::unique_ptr<kept_session>> leaving_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
    bool stopped_ = false;
};

}  // namespace gateway
