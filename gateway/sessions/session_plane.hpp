// The sessions with MCP servers: one for each agent that speaks MCP, begun, kept and ended with it; what it lists becomes the
// agent's card. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/model/pin_judges.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/sessions/passed_lists.hpp"
#include "gateway/sessions/server_reach.hpp"
#include "gateway/sessions/session_facts.hpp"
#include "gateway/threads/side_thread.hpp"
#include "gateway/threads/turns.hpp"
#include "mcp/session/session_runner.hpp"
#include "mcp/session/start_turns.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::sessions {

class agent_session;

// Settings that all servers have in common.
struct program_settings {
    std::vector<std::pair<std::string, std::string>> inherited;  // of the gateway's own environment
    std::size_t starts = 1;                                      // of programs, at a time
    threads::turns& operators;                                   // of the control loop
    threads::side_thread* long_bodies = nullptr;  // that long messages of servers are read on; null: on the loop
};

class session_plane final : public model::plane {
public:
    // References outlive the plane; apply() says when `defaults` have changed.
    session_plane(
        net::loop& control,
        cards::card_plane& cards,
        const core::logger& log,
        const config::mcp_settings& defaults,
        program_settings programs
    );
    ~session_plane() override;

    // Before the first agent with such credentials.
    void set_tokens(token_supply tokens) { reach_.set_tokens(std::move(tokens)); }

    // Told with the id of an agent whose server speaks HTTP+SSE, though its record has streamable HTTP, and when that is over. It may
    // set the agent. Before the first agent.
    using fallback_observer = std::function<void(const std::string& id, bool fell_back)>;
    void set_fallback_observer(fallback_observer told) { fell_back_ = std::move(told); }

    // Before the first agent: what of the lists reaches callers.
    void set_judge(model::list_judge judge) { judge_ = std::move(judge); }

    // Before set_agents(): lists of servers that another process knew a moment ago, which agent_session::vouch() gets.
    void set_passed(lists_by_agent lists) { passed_ = std::move(lists); }
    // The lists of all sessions that serve now, for such a process.
    std::vector<passed_lists> all_lists() const;

    void set_agents(const std::shared_ptr<const model::snapshot>& now) override;

    // Null: it is gone. One keeps its session that has changed in nothing that the session is made of, and what it lists is made
    // a card of again; the card plane knows the agent already. That of one that has changed begins when the previous one
    // has ended: a server may hold what only one of it can have.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;

    // Ends the session, of which the server hears nothing; what waits to begin does not.
    void contain(const std::string& id) override;

    // Ends the gateway's own session and begins another at once, whatever state it is in. False: the agent has none.
    bool restart(const std::string& id);

    // Makes all cards again if one of their settings has changed: those of servers that are away when they are back. With another
    // `mcp.walk` the lists are walked now. One session after the other, in turns of program_settings::operators.
    void apply(const config::settings& now, const model::changed_settings& changed) override;

    // Nothing: the agent has no session.
    std::optional<session_facts> facts(const std::string& id) const;

    void collect(telemetry::metrics& into) const override;

    // Works as agent_session::complaints(), of the gateway's own session.
    std::vector<std::string> complaints(const std::string& id) const;
    bool has(const std::string& id) const { return sessions_.contains(id) || next_.contains(id); }

    // Has the server's lists walked now; a lazy session begins. Returns when the card says what they say, or with why it does
    // not: session_not_started (it has none), session_not_ready, session_failed, session_crashed, session_misconfigured, draining, upstream_timeout (it takes
    // longer than timeouts.request), or what the walk failed with.
    net::task<core::result<>> refresh(std::string id);

    // The current lists of the server; nothing of them is kept. Fails as refresh() does.
    net::task<::mcp::look_result> look(std::string id);

    // How servers are reached, also for callers. It lives as long as this.
    server_reach& reach() noexcept { return reach_; }

    // Whether the server speaks the modern era. False also where nothing is known of it.
    bool speaks_modern(const std::string& id) const;

    // Returns when it is known which era the agent's server speaks: at once where a session has shown it, or where there is none
    // that could; else a session that has not begun begins. Fails as refresh() does, but with session_not_ready after
    // timeouts.initialize.
    net::task<core::result<>> find_era(std::string id);

    // The agent's server as it describes itself, in a session that is ready; one that has not begun begins. Fails with why it is
    // not ready, as refresh().
    core::result<std::shared_ptr<const ::mcp::server_facts>> control(const std::string& id);

    // Works as mcp::session_runner::lane(). Null: the agent has no session.
    ::mcp::transport_factory lane(const std::string& id);

    // Lists and description of the server, as callers get them. Null: the session does not serve now.
    std::shared_ptr<const ::mcp::server_lists> lists(const std::string& id) const;

    // Lists of a session that may be lost. Null: nothing is known of it.
    std::shared_ptr<const ::mcp::server_lists> known_lists(const std::string& id) const;

    // Who hears of what an agent's server lists, whenever that has changed; empty: nobody.
    void set_listed(std::function<void(const std::string& id, const std::shared_ptr<const ::mcp::server_lists>&)> told)
    {
        listed_ = std::move(told);
    }

    // For programs that others start.
    ::mcp::start_turns& turns() noexcept { return turns_; }

    // Ends all of them in order; no new one begins. busy() until they are gone, and the work of apply() has ended.
    void stop() override;
    bool busy() const noexcept override { return !sessions_.empty() || !leaving_.empty() || changes_.use_count() > 1; }

private:
    agent_session* find(const std::string& id) const;
    core::error late(const std::string& id) const;
    core::error absent(const std::string& id) const;

    void add(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);
    void retire(std::unique_ptr<agent_session> session);
    void forget(const agent_session& session);
    bool leaves(const std::string& id) const;
    void begin_next(const std::string& id);

    net::loop& loop_;
    cards::card_plane& cards_;
    const core::logger& log_;
    const config::mcp_settings& defaults_;
    threads::turns& operators_;
    server_reach reach_;
    std::function<void(const std::string& id, const std::shared_ptr<const ::mcp::server_lists>&)> listed_;
    fallback_observer fell_back_;
    model::list_judge judge_;  // empty: nothing is compared
    ::mcp::start_turns turns_;
    lists_by_agent passed_;

    model::string_map<std::unique_ptr<agent_session>> sessions_;
    std::list<std::unique_ptr<agent_session>> leaving_;
    model::string_map<std::shared_ptr<const model::agent_entry>>
        next_;  // begins when the one that is leaving has ended
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
    std::shared_ptr<const int> changes_ = std::make_shared<const int>(0);  // held by each apply() that goes on
    bool stopped_ = false;
};

}  // namespace gateway::sessions
