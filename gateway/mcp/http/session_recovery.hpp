// One attempt to begin a session with an MCP server over HTTP again: `initialize` as the client declared itself, then what the
// server was told for the session. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/place_shares.hpp"
#include "gateway/model/client_sessions.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_capabilities.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/transport/http_post.hpp"
#include "mcp/transport/http_wire.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/signal.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::mcp::http {

class session_recovery final : private ::mcp::http_post_owner {
public:
    struct terms {
        std::string_view version;  // of the legacy era; static
        bool agreed = true;        // the server has to speak this one again; else any of the era
        ::mcp::client_capabilities declared;
        std::string further{};  // mcp::further_capabilities()
        ::mcp::client_info client;
        std::vector<std::pair<std::string, std::string>> requests;  // method and raw params, in order
        // From the answer to `initialize` on; what the server has not taken by then it does without.
        core::duration longest_telling = std::chrono::minutes{1};
    };

    // Gets the new session as the server knows it, or why there is none: session_not_found (another version), or as `initialize`
    // failed. Called once, from within what is told; may destroy the recovery.
    using function = std::function<void(core::result<::mcp::upstream_session> outcome)>;

    // References outlive it.
    session_recovery(
        net::loop& on,
        net::exchange_client& client,
        std::shared_ptr<const ::mcp::http_settings> settings,
        terms of,
        function done
    );
    ~session_recovery() = default;
    session_recovery(const session_recovery&) = delete;
    session_recovery& operator=(const session_recovery&) = delete;

    void begin();

    // Whether the server has answered `initialize` as one does that does not speak the legacy era: with an error of the modern one
    // or -32601, with a version of another era, or with 400, 404 or 405.
    bool era_refused() const noexcept { return era_refused_; }

    // The version that the server has chosen; empty: it has not answered.
    const std::string& spoken() const noexcept { return spoken_; }

    // The lists whose changes the server announces; empty: it has not answered.
    const ::mcp::list_set& announced() const noexcept { return announced_; }

private:
    void take(std::string_view text) override;
    void settled(::mcp::http_post& post) override;
    void over(::mcp::http_post& post, std::optional<core::error> why, std::optional<::mcp::era> says) override;
    void forgotten() override;

    void send(::mcp::outgoing message);
    void next();
    void end(core::result<::mcp::upstream_session> outcome);
    ::mcp::upstream_session begun() { return {std::move(wire_.session_id), std::move(wire_.cookies)}; }
    void limit_telling();

    std::shared_ptr<const ::mcp::http_settings> settings_;
    ::mcp::http_wire wire_;
    terms terms_;
    function done_;
    std::size_t told_ = 0;  // of terms_.requests
    std::uint64_t last_id_ = 0;
    std::string spoken_;
    ::mcp::list_set announced_;
    bool era_refused_ = false;
    std::unique_ptr<::mcp::http_post> post_;
    ::mcp::loop_timer deadline_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

// A caller that waits for an attempt; set when that is over, or when the caller has left.
using recovery_waiter = std::shared_ptr<net::task_signal>;

// One attempt, and those who wait for it.
struct session_attempt {
    model::session_call call;
    std::unique_ptr<session_recovery> recovery{};                    // null: it waits for its turn, or is over
    std::optional<core::result<::mcp::upstream_session>> outcome{};  // nullopt: it is not over
    std::vector<recovery_waiter> waiting{};
    core::place_share place{};   // among those of its agent that wait, or that are under way
    core::place_share of_all{};  // among all that are under way
};

// Bounds the recoveries of sessions that run at once.
class recovery_turns {
public:
    static constexpr std::size_t most_running = 64;    // at a time
    static constexpr std::size_t most_of_agent = 16;   // of these
    static constexpr std::size_t most_waiting = 1024;  // for their turn, of an agent

    using attempt = std::shared_ptr<session_attempt>;

    // The attempt waits for its turn. False: too many of its agent do, or half of them of its principal.
    bool push(const attempt& added);

    // The one whose turn it is, which is under way until remove(). Null: none may begin now. Looks at all that wait at most.
    attempt next();

    // The attempt is over, or nobody waits for its turn any more.
    void remove(const attempt& ended);

    // Those of an agent, or all of them, which are out of the turns then.
    std::vector<attempt> take(const std::string& agent);
    std::vector<attempt> take_all();

private:
    struct agent_attempts {
        std::list<attempt> running;
        std::list<attempt> waiting;
    };

    bool may_begin(session_attempt& waiting) const;

    model::string_map<agent_attempts> agents_;
    std::list<std::string> turns_;  // agents with an attempt that waits, the next one first
    std::size_t running_ = 0;
};

}  // namespace gateway::mcp::http
