// The sessions of callers with servers that are programs: one program for each session. No coroutine waits in here, so a caller may
// leave at any time; what comes of a request is read from its queue (text_queue.hpp). On the thread of one loop, which must outlive
// the programs (net/process/spawn.hpp).
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/programs/process_pool.hpp"
#include "gateway/mcp/programs/program_session.hpp"
#include "gateway/mcp/table/local_session_services.hpp"
#include "gateway/mcp/table/session_table.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::mcp::programs {

struct begun_session {
    std::string handle;                         // 16 bytes of chance
    std::shared_ptr<table::text_queue> answer;  // to `initialize`, or to the only call
};

class program_sessions final : public table::session_table {
public:
    static constexpr std::size_t usual_programs = 64;  // of an agent, programs that wait included
    static constexpr core::duration warm_after_last = std::chrono::minutes{10};

    // References outlive it.
    explicit program_sessions(table::local_session_services services);
    ~program_sessions() override;

    // A session for the client that sent this `initialize` to an agent whose server is a program. Fails with session_limit:
    // max_sessions are there, or half of them of the principal, and none may go (make_room()); with body_too_large (program_session::most_initialize); and with
    // draining. While max_sessions programs of ended sessions have not exited, or half of them of the principal, the program is held,
    // and the answer fails with session_limit if that takes timeouts.initialize.
    core::result<begun_session> begin(
        std::shared_ptr<const model::agent_entry> agent,
        std::string principal,
        const ::mcp::client_message& initialize,
        other_way other = {}
    );

    // For `sessionless: fresh`: a session that ends with the call. Fails as begin() and as program_session::request() do.
    core::result<begun_session>
    call(std::shared_ptr<const model::agent_entry> agent, std::string principal, const single_call& single);

    // A client has come that may begin one: programs that wait start for it.
    void expect_sessions(const std::shared_ptr<const model::agent_entry>& agent);

    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;
    void sweep(core::steady_time now) override;

    // busy() until the programs are gone.
    void stop() override;
    bool busy() const noexcept { return !leaving_.empty(); }

    // Ends it, and keeps it until it is gone. It may be in a call of its own.
    void retire(std::unique_ptr<program> used, std::string_view agent_id, std::string_view principal)
    {
        const auto& is_contained = services().is_contained;
        leaving_.add(std::move(used), agent_id, principal, is_contained && is_contained(agent_id));
    }

    std::size_t warm(const std::string& agent_id) const;

    // For its sessions. A program of one has answered `initialize`: opened().
    std::unique_ptr<program> take_program(const program_session& of);
    void recovered(const program_session& session);
    void opened(const program_session& session) { keep_warm(session.agent().record.id); }
    const std::shared_ptr<::mcp::question_tally>& tally() const noexcept { return services().asked; }
    const core::logger& log() const noexcept { return services().log; }

private:
    void keep_warm_after_taking(const std::string& agent_id);

    void use_programs_of(const std::shared_ptr<const model::agent_entry>& agent);
    core::result<program_session*> begin_one(
        table::session_name name,
        const ::mcp::client_message& initialize,
        const std::optional<table::restored_state>& once,
        other_way other
    );
    bool may_start(const core::agent& record, std::string_view principal) const;
    void start_held(const std::string& agent_id);
    void keep_warm(const std::string& agent_id);

    model::string_map<std::unique_ptr<agent_programs>> agents_;
    terminating_processes leaving_;
    bool took_waiting_ = false;  // the program that a session got last
};

}  // namespace gateway::mcp::programs
