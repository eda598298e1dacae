// The sessions of callers with MCP servers over HTTP, as far as this process has to know of them (gateway/model/client_sessions.hpp).
// Each other one is known by its id alone. On the thread of one loop, but for what any thread may call.
#pragma once

#include "core/clock.hpp"
#include "core/log.hpp"
#include "gateway/mcp/http/cancel_notifier.hpp"
#include "gateway/mcp/http/known_sessions.hpp"
#include "gateway/mcp/http/session_recovery.hpp"
#include "gateway/model/client_sessions.hpp"
#include "gateway/model/snapshot.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace gateway::mcp::http {

struct http_session_services {
    net::loop& loop;
    // The settings for the server of an agent over HTTP, with the credentials of the agent.
    std::function<::mcp::http_settings(const model::agent_entry& agent)> settings;
    ::mcp::client_info client;
    std::function<core::steady_time()> clock;
    // Workers ask find() about a session from now on, or not any more.
    known_sessions::mark_function mark;
    const core::logger& log;
    // There is such an agent: of others nothing is kept. A worker may know one that is gone for a moment.
    std::function<bool(const std::string& agent)> has_agent;
    // Its server is told and asked for nothing. Empty: no agent is contained.
    std::function<bool(const std::string& agent)> is_contained{};
};

class http_sessions final : public model::client_sessions {
public:
    static constexpr core::duration sweep_every = std::chrono::minutes{1};
    static constexpr std::size_t most_swept = 512;  // sessions at once

    // References outlive it.
    explicit http_sessions(http_session_services services);
    ~http_sessions() override;
    http_sessions(const http_sessions&) = delete;
    http_sessions& operator=(const http_sessions&) = delete;

    model::session_calls& calls() noexcept override { return calls_; }
    net::task<core::result<model::found_session>> find(std::string agent, ::mcp::session_digest id, bool listens)
        override;
    net::task<core::result<::mcp::upstream_session>> recover(model::session_call lost, std::stop_token left) override;
    net::task<bool> end(std::string agent, ::mcp::session_digest id) override;
    void keep(std::string agent, ::mcp::session_digest id, ::mcp::upstream_session upstream) override;
    void take_cookies(
        std::string agent,
        ::mcp::session_digest id,
        ::mcp::upstream_session upstream,
        model::given_cookies given
    ) override;
    void note(std::string agent, ::mcp::session_digest id, std::string_view method, std::string params) override;
    void cancel(model::session_call in, std::string request_id) override;
    void answer(model::session_call in, std::string text) override;

    // The agent is gone, and all that is known of its sessions; those who wait for one that begins again fail with
    // upstream_reset. Of more sessions than most_swept the others lose their marks behind what else is due on the loop.
    void forget(const std::string& agent);

    // The agent is contained: sessions that begin again end their attempts with agent_contained. What is known of them stays.
    void contain(const std::string& agent);

    // Drops what is old. Called every minute. More than most_swept go after what else is due on the loop.
    void sweep(core::steady_time now);

    // Ends what is under way; those who wait fail with draining.
    void stop();

    std::size_t known(const std::string& agent) const;
    std::size_t agents() const noexcept { return agents_.size(); }  // of whose sessions anything is known
    std::size_t bytes(const std::string& agent) const;              // of what its sessions have to be told again
    std::uint64_t recovered() const noexcept { return recovered_; }

private:
    class sweeper final : public net::timed {
    public:
        explicit sweeper(http_sessions& of)
            : of_{of}
        {
            set_due(core::steady_time::min());
        }
        void on_due() override;

    private:
        http_sessions& of_;
    };

    known_session* look(const std::string& agent, const ::mcp::session_digest& id);
    known_session* touch(const std::string& agent, const ::mcp::session_digest& id);
    bool is_contained(const model::session_call& call) const;
    void clear_some();
    void clear_all(const std::string& agent);
    void begin(const recovery_turns::attempt& attempt);
    void begin_next();
    void leave(const recovery_turns::attempt& attempt, const recovery_waiter& who);
    void recovery_ended(const recovery_turns::attempt& attempt, core::result<::mcp::upstream_session> outcome);
    static void finish(session_attempt& attempt, core::result<::mcp::upstream_session> outcome);
    void write_recovered(const session_attempt& attempt) const;
    std::shared_ptr<const ::mcp::http_settings> settings_for(const model::session_call& call) const;

    // Runs on the loop; nothing of it when this is gone.
    template <class Function>
    void later(Function then);

    http_session_services services_;
    model::session_calls calls_;
    net::exchange_client exchanges_;
    cancel_notifier notes_;
    model::string_map<known_sessions> agents_;
    std::list<model::string_map<known_sessions>::node_type> leaving_;  // of agents that are gone
    recovery_turns turns_;
    std::uint64_t recovered_ = 0;
    bool stopped_ = false;
    sweeper sweeper_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::http
