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
#include <vector>

namespace gateway::mcp::shared {

class shared_sessions final : public table::session_table, private shared_owner {
public:
    // `leaving` keeps what has ended until it is gone. References outlive it.
    shared_sessions(const table::program_services& services, programs::program_sessions& leaving)
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

    // Of the control session; of one that is not ready the legacy one.
    ::mcp::era era_of(const std::string& agent_id) const override;

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

private:
    net::executor executor() override { return table::session_table::executor(); }
    core::steady_time now() const override { return table::session_table::now(); }
    ::mcp::transport_factory lane(const std::string& agent_id) override { return services().lane(agent_id); }
    core::result<std::shared_ptr<const ::mcp::server_facts>> server_of(const std::string& agent_id, ::mcp::era spoken)
        const override;
    const std::shared_ptr<::mcp::question_tally>& tally() const override { return services().asked; }
    const core::logger& log() const override { return services().log; }
    void retire(std::unique_ptr<programs::program> used, const std::string& agent_id) override;
    void lost(shared_calls& of) override;
    void recovered(shared_calls& of) override;

    shared_calls& calls_of(const std::shared_ptr<const model::agent_entry>& agent);
    core::result<std::shared_ptr<table::text_queue>>
    ask(const std::shared_ptr<const model::agent_entry>& agent, const ::mcp::client_message& request, ::mcp::era spoken
    );

    programs::program_sessions& leaving_;
    model::string_map<std::unique_ptr<shared_calls>> agents_;  // by id
    std::vector<std::unique_ptr<shared_calls>> ended_;         // until their sessions have
};

}  // namespace gateway::mcp::shared
