// Clients of the modern era and servers that speak the legacy one only (MCP 2026-07-28, basic/versioning): each call has a
// session of its own, which declares what the call's client did and ends with the call. What the gateway's own session with the
// server knows is answered without one. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/place_shares.hpp"
#include "gateway/mcp/eras/list_listeners.hpp"
#include "gateway/mcp/eras/translated_call.hpp"
#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/protocol/discovery.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace gateway::mcp::eras {

class translated_calls final : private call_owner {
public:
    static constexpr std::size_t most_parked_of_agent = 100;
    static constexpr std::size_t most_parked = 1000;

    // References outlive it.
    translated_calls(const table::program_services& services, programs::program_sessions& sessions);

    // What comes of a request (model::program_act::modern); its answers still have to be made modern (modern_answer()). Fails as
    // program_sessions::call() and answer_here() do.
    core::result<std::shared_ptr<table::text_queue>>
    request(const std::shared_ptr<const model::agent_entry>& agent, const model::program_request& asked);

    // The answer to such a call, if the gateway has it without another session with the server. Null: the server has to be asked.
    // `server/discover` is an unknown method (`sessionless: fall_back`). Fails with session_required (`sessionless: refuse`),
    // input_expired (the client comes back to a call that does not wait for it) and invalid_params (a cursor that no page had).
    core::result<std::shared_ptr<table::text_queue>>
    answer_here(const model::agent_entry& agent, const model::program_request& asked);

    // What the server lists has changed to this; the agent is gone.
    void lists_changed(const std::string& agent_id, const std::shared_ptr<const ::mcp::server_lists>& lists);
    void forget(const std::string& agent_id) { listeners_.end(agent_id); }

    // Calls end whose clients have not come back in time. Called every second.
    void sweep(core::steady_time now);

    std::size_t parked() const noexcept { return parked_.size(); }

private:
    struct parked_call {
        translated_call* call;
        core::steady_time since;
        core::place_share of_agent{};
        core::place_share of_all{};
    };

    net::executor executor() override { return services_.loop.get_executor(); }
    core::result<> tell(const translated_call& call, const std::string& answer) override;
    std::optional<std::string> park(translated_call& call) override;
    void over(translated_call& call) override;

    core::result<std::shared_ptr<table::text_queue>>
    begin(const std::shared_ptr<const model::agent_entry>& agent, const model::program_request& asked);
    core::result<std::shared_ptr<table::text_queue>> go_on(const model::program_request& asked);

    const table::program_services& services_;
    programs::program_sessions& sessions_;
    std::map<const translated_call*, std::unique_ptr<translated_call>> calls_;
    std::map<::mcp::local_handle, parked_call> parked_;
    list_listeners listeners_;
};

}  // namespace gateway::mcp::eras
