// Finds what a worker has to know of a server's era before a message goes on: whether a client of the legacy era has its session in this
// process because its server, which speaks streamable HTTP, speaks only the modern era; and for clients of the modern era that a
// program's era has been found out. One thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/calls/session_id.hpp"
#include "net/loop/routine.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gateway::request {
struct request_context;
}  // namespace gateway::request

namespace gateway::mcp::route {

struct mcp_call;

class era_choice {
public:
    // So long the control loop is not asked again.
    static constexpr core::duration memory = std::chrono::seconds{10};

    // Whether that has to be chosen for this message: of a client of the legacy era to a server over streamable HTTP that may speak
    // the modern one, which begins a session or belongs to none. The agent is set.
    static bool concerns(const request::request_context& request, const ::mcp::incoming_body& read);

    // `deadlines`: names of the fields that say how long a caller waits; they outlive it.
    explicit era_choice(const std::vector<std::string>& deadlines)
        : deadlines_{deadlines}
    {
    }

    // Sets call.translated. Fails as net::gave_up(), at the caller's deadline, and for `initialize` at opening_due().
    net::routine<core::result<>>
    choose(mcp_call& call, const ::mcp::incoming_body& read, model::control_services& control);

    // Whether the message, which call.program says, has to wait until it is known which era its program speaks.
    static bool awaits_era(const mcp_call& call);

    // Returns when it is known. Fails with why the gateway's own session with the program could not show it, and as net::gave_up(), at
    // the caller's deadline.
    net::routine<core::result<>> find_era(const mcp_call& call, model::control_services& control);

private:
    struct known_agent {
        std::weak_ptr<const model::agent_entry> agent;
        bool translated = false;
        core::steady_time until;
    };

    const known_agent* look(const request::request_context& request) const;
    void remember(const mcp_call& call);
    core::steady_time due_of(const request::request_context& request) const;

    const std::vector<std::string>& deadlines_;
    model::string_map<known_agent> known_;  // by agent
};

// Where sessions in this process are told from ids of servers that do not fit into an id.
inline constexpr std::uint16_t session_here = 1;

// Until when a client's `initialize` has to be answered.
core::steady_time opening_due(const request::request_context& request);

// Whether a session of a server over streamable HTTP is translated here.
bool is_translated(const ::mcp::sealed_session& session) noexcept;

// The caller's fields that a server over HTTP gets in any session: what forward_headers names, and the trace.
std::vector<std::pair<std::string, std::string>> passed_fields(const request::request_context& request);

// A request of the modern era, checked, to a server over streamable HTTP that is known to speak the legacy one only: by the agent's
// record, or by its card (null: none was published). False where the server must get something of the caller, which it gets
// only with a message that is relayed: fields, or a token.
bool is_for_legacy_server(const request::request_context& request, const model::published_card* card);

}  // namespace gateway::mcp::route
