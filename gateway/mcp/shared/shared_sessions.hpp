// The sessions of callers with servers of which only one can run (`sessions: shared`): the control session serves all of them.
// `initialize` and whatever concerns one session alone is answered here; what goes up is shared_calls.hpp's. On the thread of one
// loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/mcp/shared/shared_calls.hpp"
#include "gateway/mcp/table/session_table.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/protocol/server_facts.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::mcp::shared {

class shared_sessions final : public table::session_table {
public:
    // `leaving` keeps what has ended until it is gone. References outlive it.
    shared_sessions(const table::local_session_services& services, programs::program_sessions& leaving)
        : table::session_table{services},
          leaving_{leaving}
    {
    }
    ~shared_sessions() override;

    // A session for the client that sent this `initialize`, which is answered at once: with what the server has said of itself, and
    // the older of the versions of client and control session. Fails with session_limit (max_sessions are there, and none is
    // idle for 60 s), draining, why the control session is not ready, and version_unsupported: the server speaks the modern era.
    core::result<programs::begun_session> begin(
        const std::shared_ptr<const model::agent_entry>& agent,
        std::string principal,
        const ::mcp::client_message& initialize
    );

    // The era of the control session; the legacy one if that is not ready.
    ::mcp::era era_of(const std::string& agent_id) const;

    // A request of a client of the legacy era without a session (`sessionless: shared`), or of one of the modern era; letting go of
    // it cancels it. Fails as shared_calls::request() and begin() do, with bad_request (a subscription) and version_unsupported (the
    // server speaks the other era).
    core::result<std::shared_ptr<table::text_queue>>
    call(const std::shared_ptr<const model::agent_entry>& agent, const ::mcp::client_message& request);
    core::result<std::shared_ptr<table::text_queue>>
    modern(const std::shared_ptr<const model::agent_entry>& agent, const ::mcp::client_message& request);

    // Sessions also end when the agent shares its session no longer.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;
    void sweep(core::steady_time now) override;
    void stop() override;

    // For its sessions and calls. Null: the agent has no session.
    ::mcp::transport_factory lane(const std::string& agent_id) { return services().lane(agent_id); }

    // The facts that the agent's server states. Fails with why its session is not ready, and if that speaks another era.
    core::result<std::shared_ptr<const ::mcp::server_facts>> server_of(const std::string& agent_id, ::mcp::era spoken)
        const;
    const std::shared_ptr<::mcp::question_tally>& tally() const { return services().asked; }
    const core::logger& log() const { return services().log; }

    // Perhaps in a call of its own.
    void retire(std::unique_ptr<programs::program> used, const std::string& agent_id)
    {
        leaving_.retire(std::move(used), agent_id, {});
    }

    // The control session is lost, and what was in flight has failed; it is ready again. It may let go of the calls, after
    // this.
    void lost(shared_calls& of);
    void recovered(shared_calls& of);

private:
    shared_calls& calls_of(const std::shared_ptr<const model::agent_entry>& agent);
    core::result<std::shared_ptr<table::text_queue>>
    ask(const std::shared_ptr<const model::agent_entry>& agent, const ::mcp::client_message& request, ::mcp::era spoken
    );

    programs::program_sessions& leaving_;
    model::string_map<std::unique_ptr<shared_calls>> agents_;  // by id
    std::vector<std::unique_ptr<shared_calls>> ended_;         // until their sessions have
};

}  // namespace gateway::mcp::shared
