// The sessions of callers with MCP servers over HTTP, as far as this process has to know of them (gateway/model/client_sessions.hpp).
// Each other one is known by its id alone. On the thread of one loop, but for what any thread may call.
#pragma once

#include "core/clock.hpp"
#include "core/log.hpp"
#include "gateway/mcp_path/recovery_turns.hpp"
#include "gateway/mcp_path/restored_state.hpp"
#include "gateway/mcp_path/server_notes.hpp"
#include "gateway/model/client_sessions.hpp"
#include "gateway/model/snapshot.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::mcp_path {

struct http_session_services {
    net::loop& loop;
    // How the server of an agent is reached over HTTP, with the credentials of the agent.
    std::function<mcp::http_settings(const model::agent_entry& agent)> settings;
    mcp::client_info client;
    std::function<core::steady_time()> clock;
    // Workers ask find() about a session from now on, or not any more.
    std::function<void(const mcp::session_digest& id, bool ask)> mark;
    const core::logger& log;
};

class http_sessions final : public model::client_sessions {
public:
    static constexpr std::size_t most_sessions =
        10'000;  // of an agent; over that the one goes that was used least lately
    static constexpr std::size_t most_bytes = 16 * 1024 * 1024;  // of what they have to be told again, of an agent
    static constexpr core::duration longest_idle = std::chrono::minutes{30};  // of one whose server's id is kept here
    static constexpr core::duration longest_life = std::chrono::hours{24};

    // References outlive it.
    explicit http_sessions(http_session_services services);
    ~http_sessions() override;
    http_sessions(const http_sessions&) = delete;
    http_sessions& operator=(const http_sessions&) = delete;

    model::session_calls& calls() noexcept override { return calls_; }
    net::task<core::result<std::optional<std::string>>> find(std::string agent, mcp::session_digest id) override;
    net::task<core::result<std::string>> recover(model::session_call lost, std::stop_token left) override;
    net::task<bool> end(std::string agent, mcp::session_digest id) override;
    void keep(std::string agent, mcp::session_digest id, std::string upstream) override;
    void note(std::string agent, mcp::session_digest id, std::string_view method, std::string params) override;
    void cancel(model::session_call in, std::string request_id) override;

    // The agent is gone, and all that is known of its sessions; those who wait for one that begins again fail with
    // upstream_reset.
    void forget(const std::string& agent);

    // Ends what is under way; those who wait fail with draining.
    void stop();

    std::size_t known(const std::string& agent) const;
    std::size_t bytes(const std::string& agent) const;  // of what its sessions have to be told again
    std::uint64_t recovered() const noexcept { return recovered_; }

private:
    struct entry {
        mcp::session_digest id;
        core::steady_time began;
        core::steady_time used;
        std::optional<std::string> upstream{};  // nullopt: the one in the client's id
        bool over = false;
        restored_state state{};
        recovery_turns::attempt under_way{};  // null: nothing is
    };
    using shelf = std::list<entry>;  // the one used last is first

    struct agent_sessions {
        shelf all;
        std::map<mcp::session_digest, shelf::iterator> by_id;
        std::set<std::pair<std::size_t, mcp::session_digest>> by_size;  // of those with a state, by its bytes
        std::size_t bytes = 0;                                          // of all states
    };

    entry* look(const std::string& agent, const mcp::session_digest& id);
    entry& touch(const std::string& agent, const mcp::session_digest& id);
    void drop(agent_sessions& from, shelf::iterator which);
    void make_room(agent_sessions& in);
    static void recount(agent_sessions& in, const entry& changed, std::size_t before);
    static void clear_state(agent_sessions& in, entry& of);
    void bound_states(agent_sessions& in);
    bool is_due(const entry& each, core::steady_time now) const noexcept;
    bool is_marked(const entry& each) const noexcept { return each.over || each.upstream; }
    void begin(const recovery_turns::attempt& attempt);
    void begin_next();
    void leave(const recovery_turns::attempt& attempt, const recovery_waiter& who);
    void recovery_ended(const recovery_turns::attempt& attempt, core::result<std::string> outcome);
    static void finish(session_attempt& attempt, core::result<std::string> outcome);
    void write_recovered(const session_attempt& attempt) const;
    std::shared_ptr<const mcp::http_settings> settings_for(const model::session_call& call) const;

    // Runs on the loop; nothing of it when this is gone.
    template <class Function>
    void later(Function then);

    http_session_services services_;
    model::session_calls calls_;
    net::exchange_client exchanges_;
    server_notes notes_;
    model::string_map<agent_sessions> agents_;
    recovery_turns turns_;
    std::uint64_t recovered_ = 0;
    bool stopped_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp_path
