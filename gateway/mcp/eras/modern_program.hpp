// A program of the modern era, or a connection to a server of that era, for calls of any client: it keeps nothing for a connection
// (MCP 2026-07-28, basic/transports). On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/eras/legacy_client_calls.hpp"
#include "gateway/mcp/programs/program.hpp"
#include "gateway/mcp/programs/program_calls.hpp"
#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/mcp/table/local_session_services.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/translation/request_head.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::mcp::eras {

class modern_program final : private programs::program_observer {
public:
    static constexpr std::size_t most_calls = 1024;
    static constexpr std::size_t most_calls_of_principal = most_calls / 2;  // also while nobody else calls
    // Beside the calls, which they would keep out while they are silent: two of each session that may be there, one of which
    // takes the place of the other.
    static constexpr std::size_t most_listens = 20'000;
    static constexpr core::duration longest_idle = std::chrono::minutes{10};

    // `sessions` keeps what has ended until it is gone. `one_client`: all calls are of one client, which gets what is logged during
    // them. References outlive it.
    modern_program(
        const table::local_session_services& services,
        programs::program_sessions& sessions,
        std::shared_ptr<const model::agent_entry> agent,
        bool one_client
    );
    ~modern_program() override;
    modern_program(const modern_program&) = delete;
    modern_program& operator=(const modern_program&) = delete;

    // The messages that answer a request; letting go of them cancels the request. A program that has ended is started again. Fails with overloaded
    // (most_calls, most_calls_of_principal or most_listens are in flight, the program does not read, or too much waits for its
    // start), body_too_large and upstream_reset; what comes also with upstream_timeout, upstream_protocol and message_too_large.
    core::result<std::shared_ptr<table::text_queue>> request(const ::mcp::client_message& request);

    // Another record, which means the same for programs; its times hold for calls in flight too. Who listens hears no more if callers
    // get other resources now.
    void set_agent(std::shared_ptr<const model::agent_entry> agent)
    {
        if (calls_ != nullptr) {
            calls_->agent_changed(agent_->record, agent->record);
        }
        agent_ = std::move(agent);
    }

    // Calls that are silent for too long end, and a program that nobody calls.
    void sweep(core::steady_time now);

    // Fails what is in flight.
    void end(const core::error& why);

    const model::agent_entry& agent() const noexcept { return *agent_; }

private:
    void said(std::string_view text) override;
    void said_long(const ::mcp::read_text& what) override;
    void said_too_much(std::string_view beginning, std::size_t limit) override;
    void failed(::mcp::call_number call, core::error why) override;
    void ended(core::error why) override;
    void begin();

    const table::local_session_services& services_;
    programs::program_sessions& sessions_;
    std::shared_ptr<const model::agent_entry> agent_;
    bool one_client_;
    std::unique_ptr<programs::program_calls> calls_;  // null: it does not run
    std::uint64_t callers_ = 0;
    core::steady_time last_use_;
    bool answers_ = false;
};

// The arguments that tools of a server want repeated in the header.
class listed_parameters {
public:
    // The reference outlives it.
    explicit listed_parameters(const table::local_session_services& services)
        : services_{services}
    {
    }

    // Null: nothing is known of the agent's tools. Until the next call of this or of forget().
    ::mcp::parameter_fields* of(const std::string& agent_id);

    // A request of the modern era, whose server does not get the fields that came with it. Fails with header_mismatch if it calls a
    // tool and they say something else than its arguments (MCP 2026-07-28, basic/transports/streamable-http, "Custom Headers from
    // Tool Parameters"). Where nothing is known of the tool, every field passes.
    core::result<> check(const model::program_request& asked);

    // Knowledge of this agent's server does not hold for the next.
    void forget(const std::string& agent_id) { known_.erase(agent_id); }

private:
    struct known_tools {
        std::weak_ptr<const ::mcp::server_lists> lists;  // of one walk
        std::unique_ptr<::mcp::parameter_fields> fields;
    };

    const table::local_session_services& services_;
    model::string_map<known_tools> known_;  // by agent
};

// The servers of requests of the modern era: a program for each agent, and of a server over streamable HTTP a connection for each
// session of a client of the legacy era, since what a server logs during a call is its client's alone.
class modern_programs {
public:
    // `sessions` keeps what has ended until it is gone. References outlive it.
    modern_programs(const table::local_session_services& services, programs::program_sessions& sessions)
        : services_{services},
          sessions_{sessions},
          tools_{services}
    {
    }
    modern_programs(const modern_programs&) = delete;
    modern_programs& operator=(const modern_programs&) = delete;

    // To the agent's program. Fails as modern_program::request(), and with draining.
    core::result<std::shared_ptr<table::text_queue>>
    request(const std::shared_ptr<const model::agent_entry>& agent, const ::mcp::client_message& request);

    // A connection for one session, which holds it; what is let go of ends. Before the end of this.
    modern_upstream connect(const std::shared_ptr<const model::agent_entry>& agent);

    core::result<> check_fields(const model::program_request& asked) { return tools_.check(asked); }

    // Null: it is gone. A program ends that was made of another record; connections to a server that stays the same go on with the
    // new one.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // Ends what is late or idle. Called every second.
    void sweep(core::steady_time now);

    // All of them end, whoever still holds one.
    void stop();

private:
    const table::local_session_services& services_;
    programs::program_sessions& sessions_;
    listed_parameters tools_;
    model::string_map<std::unique_ptr<modern_program>> programs_;                // by agent
    model::string_map<std::vector<std::weak_ptr<modern_program>>> connections_;  // the same
    bool stopped_ = false;
};

}  // namespace gateway::mcp::eras
