// The sessions with MCP servers: one for each agent that speaks MCP, begun, kept and ended with it; what it lists becomes the
// agent's card. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/session/runner.hpp"
#include "mcp/session/start_turns.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/types.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::sessions {

// What operators are told of a session.
struct session_facts {
    core::mcp_transport transport = core::mcp_transport::unsupported;
    mcp::session_state state = mcp::session_state::configured;
    mcp::session_reason reason = mcp::session_reason::none;
    std::string detail;           // what that is about, a server's own words among it, cut: for operators only
    bool begun = false;           // it was ready once
    bool needs_operator = false;  // it does not begin until somebody changes something
    std::string era;              // empty: not known yet
    std::string version;          // of MCP, negotiated; empty: not known yet
    std::string server_name;      // in its own words, cut; empty: not known yet
    std::string server_version;
    mcp::left_out_items left_out;  // of what it lists; for operators only
    std::optional<core::steady_time> ready_since;
    mcp::runner_counts counts;
    std::size_t queued = 0;  // bytes that the server has not taken
    // How often it was lost or could not begin, by why.
    std::array<std::uint64_t, mcp::session_reasons> losses{};
};

// Connections that were made after the first.
inline std::uint64_t restarts_of(const session_facts& session) noexcept
{
    return session.counts.connections > 0 ? session.counts.connections - 1 : 0;
}

// What all programs have in common.
struct program_settings {
    std::vector<std::pair<std::string, std::string>> inherited;  // of the gateway's own environment
    std::size_t starts = 1;                                      // of them, at a time
};

class session_plane {
public:
    // References outlive the plane; what changes in `defaults` is told by settings_changed().
    session_plane(
        net::loop& control,
        cards::card_plane& cards,
        const core::logger& log,
        const config::mcp_settings& defaults,
        program_settings programs
    );
    ~session_plane();

    void set_agents(const model::snapshot& now);

    // Null: it is gone. One keeps its session that has changed in nothing that the session is made of, and what it lists is made
    // a card of again; the card plane knows the agent already. That of one that has changed begins when the previous one
    // has ended: a server may hold what only one of it can have.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // These settings, by their paths, have begun to apply. If cards depend on one, all are made again: those of servers that
    // are away when they are back. With another `mcp.walk` the lists are walked now.
    void settings_changed(const std::vector<std::string_view>& paths);

    // Somebody wants the card: a lazy session begins.
    void demand(const std::string& id);

    // Nothing: the agent has no session.
    std::optional<session_facts> facts(const std::string& id) const;
    bool has(const std::string& id) const { return sessions_.contains(id) || next_.contains(id); }

    // Has the server's lists walked now; a lazy session begins. Returns when the card says what they say, or with why it does
    // not: session_not_started (it has none), session_not_ready, session_failed, session_crashed, session_misconfigured, draining, upstream_timeout (it takes
    // longer than timeouts.request), or what the walk failed with.
    net::task<core::result<>> refresh(std::string id);

    // What the server lists now; nothing of it is kept. Fails as refresh() does.
    net::task<mcp::look_result> look(std::string id);

    // Ends all of them in order; no new one begins. busy() until they are gone.
    void stop();
    bool busy() const noexcept { return !sessions_.empty() || !leaving_.empty(); }

private:
    class kept_session;

    static session_facts facts_of(const kept_session& which);
    kept_session* find(const std::string& id) const;
    core::error late(const std::string& id) const;
    core::error absent(const std::string& id) const;

    void add(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);
    // Null: in no way that the gateway knows.
    mcp::transport_factory reach(const std::string& id, const core::agent& record);
    void retire(std::unique_ptr<kept_session> which);
    void forget(const kept_session& which);
    bool leaves(const std::string& id) const;
    void begin_next(const std::string& id);

    net::loop& loop_;
    net::exchange_client exchanges_;
    cards::card_plane& cards_;
    const core::logger& log_;
    const config::mcp_settings& defaults_;
    std::vector<std::pair<std::string, std::string>> inherited_;
    mcp::start_turns turns_;
    model::string_map<std::unique_ptr<kept_session>> sessions_;
    std::list<std::unique_ptr<kept_session>> leaving_;
    model::string_map<std::shared_ptr<const model::agent_entry>>
        next_;  // what begins when the one that is leaving has ended
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
    bool stopped_ = false;
};

}  // namespace gateway::sessions
