// The sessions of callers of the legacy era with servers that speak only the modern one, found by a handle. On the thread of one
// loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp_path/program_sessions.hpp"
#include "gateway/mcp_path/text_queue.hpp"
#include "gateway/mcp_path/translated_session.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "net/loop/loop.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::mcp_path {

class translated_sessions {
public:
    // Bytes of calls that may go up once more, of their input and of subscriptions, of all sessions of an agent.
    static constexpr std::size_t most_kept = 64 * 1024 * 1024;

    // How an agent's server is asked in the modern era.
    using upstream_maker = std::function<modern_upstream(const std::shared_ptr<const model::agent_entry>& agent)>;

    // References outlive it.
    translated_sessions(const program_services& services, upstream_maker ask);
    translated_sessions(const translated_sessions&) = delete;
    translated_sessions& operator=(const translated_sessions&) = delete;

    // A session for the client that sent this `initialize`, whose answer goes to `reader`. Fails with session_limit: max_sessions
    // are there (10,000 unless the agent says so), and none is idle for 60 s; with body_too_large and with draining.
    core::result<> begin(
        std::shared_ptr<const model::agent_entry> agent,
        session_name name,
        const mcp::client_message& initialize,
        std::shared_ptr<text_queue> reader
    );

    // Of a call without a session. Fails as begin() and as translated_session::request().
    core::result<std::shared_ptr<text_queue>>
    call(std::shared_ptr<const model::agent_entry> agent, std::string principal, const mcp::client_message& request);

    bool has(std::string_view handle) const { return sessions_.contains(handle); }

    // As translated_session. Each fails with session_not_found.
    core::result<std::shared_ptr<text_queue>> request(const session_key& key, const mcp::client_message& request);
    core::result<> tell(const session_key& key, const mcp::client_message& message);
    core::result<std::shared_ptr<text_queue>> listen(const session_key& key);
    core::result<> end(const session_key& key);

    // What the agent's server lists has changed to this.
    void lists_changed(const std::string& id, const std::shared_ptr<const mcp::server_lists>& now);

    // Null: it is gone. Sessions end that were made of another record.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // What is late, idle or old ends. Called every second.
    void sweep(core::steady_time now);

    void stop();

    std::size_t size() const noexcept { return sessions_.size(); }
    const session_counts& counts() const noexcept { return counts_; }

private:
    class sweeper final : public net::timed {
    public:
        explicit sweeper(translated_sessions& of)
            : of_{of}
        {
            set_due(core::steady_time::min());
        }
        void on_due() override;

    private:
        translated_sessions& of_;
    };

    core::result<translated_session*>
    add(std::shared_ptr<const model::agent_entry> agent, session_name name, mcp::client_terms terms, bool once);
    core::result<> make_room(const model::agent_entry& agent);
    translated_session* find(const session_key& key) const;
    std::vector<translated_session*> of_agent(std::string_view id) const;
    void over(translated_session& session, session_end why);

    const program_services& services_;
    upstream_maker ask_;
    model::string_map<std::unique_ptr<translated_session>> sessions_;  // by handle
    model::string_map<std::shared_ptr<net::shared_budget>> kept_;      // by agent
    session_counts counts_;
    sweeper sweeper_;
    bool stopped_ = false;
};

}  // namespace gateway::mcp_path
