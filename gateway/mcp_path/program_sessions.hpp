// The sessions of callers with servers that are programs: one program for each session, found by a handle. No coroutine waits in
// here, so a caller may leave at any time; what comes of a request is read from its queue (text_queue.hpp). On the thread of one
// loop, which must outlive the programs (net/process/spawn.hpp).
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/mcp_path/agent_programs.hpp"
#include "gateway/mcp_path/leaving_programs.hpp"
#include "gateway/mcp_path/program_session.hpp"
#include "gateway/mcp_path/session_end.hpp"
#include "gateway/mcp_path/single_call.hpp"
#include "gateway/mcp_path/warm_programs.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/session/start_turns.hpp"
#include "mcp/transport/http_wire.hpp"
#include "mcp/transport/transport.hpp"
#include "net/loop/loop.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::mcp_path {

// Whose session it is: all three must fit.
struct session_key {
    std::string_view handle;
    std::string_view agent_id;
    std::string_view principal;
};

struct begun_session {
    std::string handle;                  // 16 bytes of chance
    std::shared_ptr<text_queue> answer;  // to `initialize`, or to the only call
};

struct session_counts {
    std::uint64_t begun = 0;
    std::array<std::uint64_t, session_ends> ended{};  // by session_end
    std::uint64_t recovered = 0;
};

struct program_services {
    net::loop& loop;
    mcp::start_turns& turns;
    // How the programs of an agent are reached; it is one of those that are.
    std::function<mcp::transport_factory(const model::agent_entry& agent)> reach;
    // Whether the agent's server speaks the modern era, as far as that is known.
    std::function<bool(const core::agent& record)> speaks_modern;
    std::function<core::steady_time()> clock;
    const core::logger& log;
    // What the server of an agent has said of itself in the control session, which begins if it is lazy. Fails with why that is
    // not ready.
    std::function<core::result<std::shared_ptr<const mcp::server_facts>>(const std::string& agent_id)> control = {};
    // How callers reach the server over the control session (mcp::caller_lane); null: there is none.
    std::function<mcp::transport_factory(const std::string& agent_id)> lane = {};
    // What the agent's server lists, as far as that is known; empty or null: it is not.
    std::function<std::shared_ptr<const mcp::server_lists>(const std::string& agent_id)> listed = {};
    // How an agent's server is reached that speaks streamable HTTP.
    std::function<mcp::http_settings(const model::agent_entry& agent)> over_http = {};
    // What the gateway's own session knows of the agent's server; null: that does not serve. Empty: nothing is known of any.
    std::function<std::shared_ptr<const mcp::server_lists>(const std::string& id)> lists = {};
    // Returns when it is known which era the agent's server speaks (sessions::session_plane::find_era()). Empty: nobody finds out.
    std::function<net::task<core::result<>>(const std::string& agent_id)> find_era = {};
    // The state of calls that wait for input is sealed with it; it opens nothing in another process.
    std::shared_ptr<const mcp::session_ids> seals = nullptr;
};

class program_sessions final : private session_owner {
public:
    static constexpr std::size_t usual_sessions = 16;         // of an agent, programs that wait included
    static constexpr std::size_t usual_connections = 10'000;  // of one that is no program
    static constexpr core::duration evictable = std::chrono::seconds{60};
    static constexpr core::duration longest_idle = std::chrono::minutes{30};
    static constexpr core::duration longest_life = std::chrono::hours{24};
    static constexpr core::duration warm_after_last = std::chrono::minutes{10};

    // References outlive it.
    explicit program_sessions(program_services services);
    ~program_sessions() override;
    program_sessions(const program_sessions&) = delete;
    program_sessions& operator=(const program_sessions&) = delete;

    // A session for the client that sent this `initialize` to an agent whose server is a program. Fails with session_limit:
    // max_sessions are there, and none is idle for 60 s; with body_too_large (program_session::most_initialize); and with
    // draining. While max_sessions programs of ended sessions have not exited, the program is held, and the answer fails with
    // session_limit if that takes timeouts.initialize.
    core::result<begun_session> begin(
        std::shared_ptr<const model::agent_entry> agent,
        std::string principal,
        const mcp::client_message& initialize
    );

    // Of `sessionless: fresh`: a session that ends with the call. Fails as begin() and as program_session::request() do.
    core::result<begun_session>
    call(std::shared_ptr<const model::agent_entry> agent, std::string principal, const single_call& single);

    // As program_session. Each fails with session_not_found.
    core::result<std::shared_ptr<text_queue>> request(const session_key& key, const mcp::client_message& request);
    core::result<> tell(const session_key& key, const mcp::client_message& message);
    core::result<std::shared_ptr<text_queue>> listen(const session_key& key);
    core::result<> end(const session_key& key);

    // The agent has changed, or is gone (null): sessions end that were made of another record.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // What is late, idle or old ends. Called every second.
    void sweep(core::steady_time now);

    // Ends all of them in order; no new one begins. busy() until the programs are gone.
    void stop();
    bool busy() const noexcept { return !leaving_.empty(); }

    // Ends it, and keeps it until it is gone.
    void retire(std::unique_ptr<program> used, std::string_view agent_id) override
    {
        leaving_.add(std::move(used), agent_id);
    }

    std::size_t size() const noexcept { return sessions_.size(); }
    std::size_t size(const std::string& agent_id) const { return look(agent_id).first; }
    std::size_t warm(const std::string& agent_id) const { return look(agent_id).second; }
    const session_counts& counts() const noexcept { return counts_; }

private:
    class sweeper final : public net::timed {
    public:
        explicit sweeper(program_sessions& of)
            : of_{of}
        {
            set_due(core::steady_time::min());
        }
        void on_due() override;

    private:
        program_sessions& of_;
    };

    net::executor executor() override { return services_.loop.get_executor(); }
    core::steady_time now() const override { return services_.clock(); }
    std::unique_ptr<program> take_program(const program_session& of) override;
    void over(program_session& session, session_end why) override;
    void recovered(const program_session& session) override;

    agent_programs& programs_of(const std::shared_ptr<const model::agent_entry>& agent);
    core::result<> make_room(const std::string& agent_id);
    core::result<std::string> add(
        std::shared_ptr<const model::agent_entry> agent,
        std::string principal,
        const mcp::client_message& initialize,
        const std::optional<restored_state>& once
    );
    bool may_start(const core::agent& record) const;
    std::pair<std::size_t, std::size_t> look(const std::string& agent_id) const;  // sessions, warm programs
    void start_held(const std::string& agent_id);
    void keep_warm(const std::string& agent_id);
    program_session* find(const session_key& key) const;
    void end_all(std::string_view agent_id, session_end why, const core::error& error);

    program_services services_;
    model::string_map<std::unique_ptr<agent_programs>> agents_;
    model::string_map<std::unique_ptr<program_session>> sessions_;  // by handle
    leaving_programs leaving_;
    session_counts counts_;
    sweeper sweeper_;
    bool stopped_ = false;
};

}  // namespace gateway::mcp_path
