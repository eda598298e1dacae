// The sessions of callers with servers of which only one can run (`sessions: shared`): the control session serves all of them.
// `initialize` and whatever concerns one session alone is answered here; what goes up is shared_calls.hpp's. On the thread of one
// loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp_path/program_sessions.hpp"
#include "gateway/mcp_path/session_end.hpp"
#include "gateway/mcp_path/shared_calls.hpp"
#include "gateway/mcp_path/shared_session.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "net/loop/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::mcp_path {

class shared_sessions final : private shared_owner {
public:
    // `leaving` keeps what has ended until it is gone. References outlive it.
    shared_sessions(const program_services& services, program_sessions& leaving);
    ~shared_sessions() override;
    shared_sessions(const shared_sessions&) = delete;
    shared_sessions& operator=(const shared_sessions&) = delete;

    // A session for the client that sent this `initialize`, which is answered at once: with what the server has said of itself, and
    // the older of the versions of client and control session. Fails with session_limit (max_sessions are there, and none is
    // idle for 60 s), draining, why the control session is not ready, and version_unsupported: the server speaks the modern era.
    core::result<begun_session> begin(
        const std::shared_ptr<const model::agent_entry>& agent,
        std::string principal,
        const mcp::client_message& initialize
    );

    // Of the control session; of one that is not ready the legacy one.
    mcp::era era_of(const std::string& agent_id) const override;

    // A request of a client of the legacy era without a session (`sessionless: shared`), or of one of the modern era; letting go of
    // it cancels it. Fails as shared_calls::request() and begin() do, with bad_request (a subscription) and version_unsupported (the
    // server speaks the other era).
    core::result<std::shared_ptr<text_queue>>
    call(const std::shared_ptr<const model::agent_entry>& agent, const mcp::client_message& request);
    core::result<std::shared_ptr<text_queue>>
    modern(const std::shared_ptr<const model::agent_entry>& agent, const mcp::client_message& request);

    // Each fails with session_not_found. A request also fails as shared_calls::request() does, and with why the control session is
    // not ready. Of notifications only `notifications/cancelled` concerns the server; it has asked for no answer.
    core::result<std::shared_ptr<text_queue>> request(const session_key& key, const mcp::client_message& request);
    core::result<> tell(const session_key& key, const mcp::client_message& message);
    core::result<std::shared_ptr<text_queue>> listen(const session_key& key);
    core::result<> end(const session_key& key);

    // The agent has changed, shares its session no longer, or is gone (null): the sessions end that were made of another record.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // What is late, idle or old ends. Called every second.
    void sweep(core::steady_time now);

    void stop();

    std::size_t size() const noexcept { return sessions_.size(); }
    const session_counts& counts() const noexcept { return counts_; }

private:
    struct shared_agent {
        shared_agent(shared_owner& owner, const std::shared_ptr<const model::agent_entry>& agent)
            : calls{owner, agent}
        {
        }

        shared_calls calls;
        std::map<std::uint64_t, std::string> handles;  // of its sessions, by their numbers
    };

    class sweeper final : public net::timed {
    public:
        explicit sweeper(shared_sessions& of)
            : of_{of}
        {
            set_due(core::steady_time::min());
        }
        void on_due() override;

    private:
        shared_sessions& of_;
    };

    net::executor executor() override { return services_.loop.get_executor(); }
    core::steady_time now() const override { return services_.clock(); }
    mcp::transport_factory lane(const std::string& agent_id) override { return services_.lane(agent_id); }
    void retire(std::unique_ptr<program> used, const std::string& agent_id) override;
    void list_changed(const shared_calls& of, changing_list list) override;
    void updated(const shared_calls& of, std::uint64_t client, const std::string& uri, std::string_view text) override;
    void lost(shared_calls& of) override;
    void recovered(shared_calls& of) override;

    shared_agent& agent_of(const std::shared_ptr<const model::agent_entry>& agent);
    core::result<std::shared_ptr<const mcp::server_facts>> server_of(const std::string& agent_id, mcp::era wanted)
        const;
    std::shared_ptr<text_queue> answered(std::string text);
    core::result<> make_room(shared_agent& agent);
    shared_session* find(const session_key& key) const;
    void finish(const std::string& handle, session_end why, const core::error& error);
    void finish_all(shared_agent& agent, session_end why, const core::error& error);
    void sweep_sessions(shared_agent& agent, core::steady_time now);

    const program_services& services_;
    program_sessions& leaving_;
    model::string_map<std::unique_ptr<shared_agent>> agents_;      // by id
    model::string_map<std::unique_ptr<shared_session>> sessions_;  // by handle
    std::uint64_t last_number_ = 0;
    session_counts counts_;
    sweeper sweeper_;
    bool stopped_ = false;
};

}  // namespace gateway::mcp_path
