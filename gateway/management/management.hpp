// The management methods of POST /rpc: JSON-RPC 2.0 over HTTP 200, errors with a stable code in error.data.code.
// On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "core/memory_budget.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/agent_filter.hpp"
#include "gateway/model/answered_card.hpp"
#include "gateway/model/rpc_answer.hpp"
#include "gateway/model/turns.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "net/loop/types.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::management {

// `agents/list`, `agents/get`, `agents/health`, `agents/refreshCard`, `agents/upsert`, `agents/delete`, `agents/changes`, or
// "other"; the dotted spellings are the same methods.
std::string_view management_method(std::string_view wire_name) noexcept;

// Whose request it is. The admin listener's may write; until callers are told apart, nobody else's.
struct rpc_caller {
    bool may_write = false;
    std::string who;       // for the audit trail
    std::stop_token left;  // from then on nobody waits for the answer: the work stops
};

// What became of a registration.
struct enrolled {
    std::string agent;                                // its id; empty: there is none
    core::result<core::json> outcome = core::json{};  // what is answered, or why nothing was changed
    std::vector<config::problem> problems;            // of invalid_params
};

class management {
public:
    // References outlive it.
    management(
        const config::settings& settings,
        registry& agents,
        cards::card_plane& cards,
        sessions::session_plane& sessions,
        model::turn_lines& by
    );

    // A whole body, one request or a batch.
    net::task<model::rpc_answer> handle(std::string body, rpc_caller caller);

    // The body of POST /agent/register (gateway/management/agent_registration.hpp). To register again with the same is no change.
    net::task<enrolled> enroll(std::string body, std::string peer);

private:
    // The result of one request, or its error.
    struct rpc_result {
        std::string text;
        std::shared_ptr<const model::card_bytes> card;  // not null: goes on with it and card_end

        std::size_t size() const noexcept
        {
            return text.size() + (card ? card->body.size() + model::card_end.size() : 0);
        }
    };

    // What is worked on for one body; it outlives every task that it is lent to.
    struct work;

    net::task<rpc_result> carry_out(core::rpc_request request, work& on);
    net::task<rpc_result> carry_out_on_agent(core::rpc_request request, std::string_view method, work& on);
    void add(std::string_view id, rpc_result result, work& on) const;

    net::task<std::string> list(core::rpc_request request, work& on) const;
    rpc_result get(std::string_view request_id, const registered_agent& agent, bool for_operator) const;
    struct known;
    known known_of(const registered_agent& agent, core::steady_time now, bool for_operator) const;
    static core::json health_record(const known& of, core::steady_time now);
    net::task<std::string> health_of(core::rpc_request request, work& on) const;
    net::task<std::string> health_of_all(core::rpc_request request, work& on) const;
    net::task<core::result<core::json>> refresh(std::string id, bool for_operator);
    net::task<core::result<cards::card_status>> refreshed(std::string id);
    net::task<core::result<std::string>> preview(std::string id);
    net::task<core::result<cards::card_preview>> previewed(std::string id);
    net::task<std::string> upsert(core::rpc_request request, rpc_caller caller);
    net::task<std::string> remove(core::rpc_request request, rpc_caller caller);
    net::task<std::string> changes(core::rpc_request request);
    std::string refuse_write(const core::rpc_request& request, const std::string& id, const core::error& why) const;
    core::json record_of(const registered_agent& agent, bool for_operator) const;

    // The record as text; with the metadata, which is not read again for that.
    std::string record_text(const registered_agent& agent, bool for_operator) const;

    const config::settings& settings_;
    registry& registry_;
    cards::card_plane& cards_;
    sessions::session_plane& sessions_;
    model::turn_lines& turns_;
    core::memory_budget memory_;  // of all answers
};

// `id`, `agentId` or `name`; or the first of positional parameters. Empty if there is none.
std::string agent_parameter(const core::json& params);

// Path and wording of each.
core::json problem_list(const std::vector<config::problem>& problems);

// The answer invalid_params, with what is wrong with each parameter.
std::string refuse_params(const core::rpc_request& request, const std::vector<config::problem>& problems);

}  // namespace gateway::management
