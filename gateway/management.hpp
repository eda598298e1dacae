// The management methods of POST /rpc: JSON-RPC 2.0 over HTTP 200, errors with a stable code in error.data.code.
// On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/json.hpp"
#include "core/jsonrpc_server.hpp"
#include "gateway/agent_filter.hpp"
#include "gateway/answered_card.hpp"
#include "gateway/card_plane.hpp"
#include "gateway/registry.hpp"
#include "gateway/session_plane.hpp"
#include "net/types.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway {

// `agents/list`, `agents/get`, `agents/health`, `agents/refreshCard`, `agents/upsert`, `agents/delete`, `agents/changes`, or
// "other"; the dotted spellings are the same methods.
std::string_view management_method(std::string_view wire_name) noexcept;

inline constexpr unsigned agents_in_a_turn = 1000;  // looked at for a list before others have theirs

struct managed {
    std::string body;         // of the answer; empty: nothing may be answered (notifications only)
    std::string_view method;  // for the log: a management method, "other", "batch", or empty for what is no request
};

// Whose request it is. The admin listener's may write; until callers are told apart, nobody else's.
struct rpc_caller {
    bool may_write = false;
    std::string who;  // for the audit trail
};

// What became of a registration.
struct enrolled {
    std::string agent;                                // its id; empty: there is none
    core::result<core::json> outcome = core::json{};  // what is answered, or why nothing was changed
    std::vector<config::problem> problems;            // of invalid_params
};

// The most that a body of the management API may have, in bytes: `limits.body`, but no more than a card and what stands
// around it, because the control loop reads it in one go.
inline std::uint64_t management_body(const config::settings& settings) noexcept
{
    return std::min(settings.limits.body, settings.cards.max_size + card_envelope);
}

class management {
public:
    // References outlive it.
    management(const config::settings& settings, registry& agents, card_plane& cards, session_plane& sessions);

    // A whole body, one request or a batch.
    net::task<managed> handle(std::string body, rpc_caller caller);

    // The body of POST /agent/register (gateway/agent_registration.hpp). To register again with the same is no change.
    net::task<enrolled> enroll(std::string body, std::string peer);

private:
    net::task<std::string> carry_out(core::rpc_request request, rpc_caller caller);

    // Whether that is enough is what it answers with false.
    using visitor = std::function<bool(const std::string& id, const registered_agent& agent)>;

    // Agents in the order of their ids, those behind `after`; others on the loop have their turn now and then. Gives whether
    // there are more than were enough.
    net::task<bool> visit(std::string after, visitor each) const;
    net::task<std::string> list(core::rpc_request request, bool for_operator) const;
    core::result<core::json> get(const registered_agent& agent, bool for_operator) const;
    struct known;
    known known_of(const registered_agent& agent, core::steady_time now, bool for_operator) const;
    static core::json health_record(const known& of, core::steady_time now);
    net::task<std::string> health_of(core::rpc_request request, bool for_operator) const;
    net::task<std::string> health_of_all(core::rpc_request request, bool for_operator) const;
    net::task<core::result<core::json>> refresh(std::string id, bool for_operator);
    net::task<core::result<card_status>> refreshed(std::string id);
    net::task<core::result<core::json>> preview(std::string id);
    net::task<core::result<card_preview>> previewed(std::string id);
    net::task<std::string> upsert(core::rpc_request request, rpc_caller caller);
    net::task<std::string> remove(core::rpc_request request, rpc_caller caller);
    net::task<std::string> changes(core::rpc_request request);
    std::string refuse_write(const core::rpc_request& request, const std::string& id, const core::error& why) const;
    core::json record_of(const registered_agent& agent, bool for_operator) const;

    const config::settings& settings_;
    registry& registry_;
    card_plane& cards_;
    session_plane& sessions_;
};

// `id`, `agentId` or `name`; or the first of positional parameters. Empty if there is none.
std::string agent_parameter(const core::json& params);

// Path and wording of each.
core::json problem_list(const std::vector<config::problem>& problems);

// The answer invalid_params, with what is wrong with each parameter.
std::string refuse_params(const core::rpc_request& request, const std::vector<config::problem>& problems);

}  // namespace gateway
