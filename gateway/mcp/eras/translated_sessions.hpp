// The sessions of callers of the legacy era with servers that speak only the modern one. On the thread of one loop.
#pragma once

#include "core/error.hpp"
#include "gateway/mcp/eras/legacy_calls.hpp"
#include "gateway/mcp/eras/translated_session.hpp"
#include "gateway/mcp/table/program_services.hpp"
#include "gateway/mcp/table/session_table.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/translation/modern_request.hpp"
#include "net/loop/shared_budget.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace gateway::mcp::eras {

class translated_sessions final : public table::session_table {
public:
    // Bytes of calls that may go up once more, of their input and of subscriptions, of all sessions of an agent.
    static constexpr std::size_t most_kept = 64 * 1024 * 1024;

    // How an agent's server is asked in the modern era.
    using upstream_maker = std::function<modern_upstream(const std::shared_ptr<const model::agent_entry>& agent)>;

    // References outlive it.
    translated_sessions(const table::program_services& services, upstream_maker ask)
        : table::session_table{services},
          ask_{std::move(ask)}
    {
    }

    // A session for the client that sent this `initialize`, whose answer goes to `reader`. Fails with session_limit: max_sessions
    // are there (10,000 unless the agent says so), and none is idle for 60 s; with body_too_large and with draining.
    core::result<>
    begin(table::session_name name, const ::mcp::client_message& initialize, std::shared_ptr<table::text_queue> reader);

    // Of a call without a session; what comes of it goes to `reader`. Fails as begin() and as translated_session::request().
    core::result<> call(
        std::shared_ptr<const model::agent_entry> agent,
        std::string principal,
        const ::mcp::client_message& request,
        const std::shared_ptr<table::text_queue>& reader
    );

    // What the agent's server lists has changed to this. Of more sessions than most_swept the others hear of it behind what else is due
    // on the loop.
    void lists_changed(const std::string& id, const std::shared_ptr<const ::mcp::server_lists>& now);

    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;

private:
    // Lists that have changed, and who has heard of them.
    struct news {
        std::shared_ptr<const ::mcp::server_lists> now;
        ::mcp::list_differences to_now;
        std::string told_to{};  // the handle of the last session
    };

    void tell_some(const std::string& agent_id);
    core::result<translated_session*> begin_one(table::session_name name, ::mcp::client_terms terms, bool once);

    upstream_maker ask_;
    model::string_map<std::shared_ptr<net::shared_budget>> kept_;  // by agent
    model::string_map<std::unique_ptr<news>> news_;                // by agent, until all have heard of them
};

}  // namespace gateway::mcp::eras
