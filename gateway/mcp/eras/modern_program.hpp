// A program of the modern era, or a connection to a server of that era, for calls of any client: it keeps nothing for a connection
// (MCP 2026-07-28, basic/transports). On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/programs/program.hpp"
#include "gateway/mcp/programs/program_calls.hpp"
#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "net/loop/types.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::mcp::eras {

// The services of the owner of a modern_program; outlive it.
struct modern_services {
    net::executor on;
    std::function<std::unique_ptr<programs::program>(const model::agent_entry& agent)> start;
    std::function<void(std::unique_ptr<programs::program> used)> retire;  // perhaps in a call of its own
    bool one_client = false;  // all calls are of one client, which gets what is logged during them
    std::function<void(std::string_view why)> note = nullptr;  // as mcp::book_settings::note
};

class modern_program final : private programs::program_observer {
public:
    static constexpr std::size_t most_calls = 1024;
    static constexpr std::size_t most_calls_of_principal = most_calls / 2;  // also while nobody else calls
    // Beside the calls, which they would keep out while they are silent: two of each session that may be there, one of which
    // takes the place of the other.
    static constexpr std::size_t most_listens = 20'000;
    static constexpr core::duration longest_idle = std::chrono::minutes{10};

    modern_program(modern_services services, std::shared_ptr<const model::agent_entry> agent);
    ~modern_program() override;
    modern_program(const modern_program&) = delete;
    modern_program& operator=(const modern_program&) = delete;

    // The messages that answer a request; letting go of them cancels the request. A program that has ended is started again. Fails with overloaded
    // (most_calls, most_calls_of_principal or most_listens are in flight, the program does not read, or too much waits for its
    // start), body_too_large and upstream_reset; what comes also with upstream_timeout, upstream_protocol and message_too_large.
    core::result<std::shared_ptr<table::text_queue>>
    request(const ::mcp::client_message& request, core::steady_time now);

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

    modern_services services_;
    std::shared_ptr<const model::agent_entry> agent_;
    std::unique_ptr<programs::program_calls> calls_;  // null: it does not run
    std::uint64_t callers_ = 0;
    core::steady_time now_;  // of the latest call or look: that is near enough to tell silence by
    core::steady_time last_use_;
    bool answers_ = false;
};

// The programs that serve callers of the modern era, one for each agent.
class modern_programs {
public:
    // `sessions` keeps what has ended until it is gone. References outlive it.
    modern_programs(const table::program_services& services, programs::program_sessions& sessions)
        : services_{services},
          sessions_{sessions}
    {
    }

    // Fails as modern_program::request(), and with draining.
    core::result<std::shared_ptr<table::text_queue>>
    request(const std::shared_ptr<const model::agent_entry>& agent, const ::mcp::client_message& request);

    // Null: it is gone. A program ends that was made of another record.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // Ends what is late or idle. Called every second.
    void sweep(core::steady_time now);

    void stop();

private:
    const table::program_services& services_;
    programs::program_sessions& sessions_;
    model::string_map<std::unique_ptr<modern_program>> programs_;  // by agent
    bool stopped_ = false;
};

}  // namespace gateway::mcp::eras
