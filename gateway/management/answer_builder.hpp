// The answer to one body of POST /rpc: results are added within the bound of a batch and within a share of the memory for all
// answers. Pure; one thread at a time.
#pragma once

#include "config/problem.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "core/memory_budget.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/management_call.hpp"
#include "gateway/model/published_card.hpp"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::management {

// Requests of the management API: their senders, their parameters, their results, and the errors of wrong parameters. Pure.

// The sender of a request.
struct rpc_caller : model::rpc_rights {
    std::stop_token left;  // once set, the caller has left and the work stops
};

// The answer to one request: a result or an error.
struct rpc_result {
    std::string text;
    std::shared_ptr<const model::card_bytes> card = nullptr;  // not null: the text goes on with it and card_end
    bool denied = false;                                      // an error: the caller lacks a right

    std::size_t size() const noexcept { return text.size() + (card ? card->body.size() + model::card_end.size() : 0); }
};

// `id`, `agentId` or `name`; or the first of positional parameters. Empty if there is none.
std::string agent_parameter(const core::json& params);

// Whether the parameters name one agent, readable or not.
bool names_agent(const core::json& params);

struct named_agent {
    const registered_agent* agent = nullptr;  // null: `refusal` answers the request
    std::string refusal;
};

// One that the caller may not know of is refused as one that does not exist.
named_agent find_agent(const core::rpc_request& request, const registry& agents, const rpc_caller& caller);

// Whether the caller may know of the agent.
bool is_shown(const registered_agent& agent, const rpc_caller& caller);

// The answer to a request for which the caller lacks a right.
rpc_result denied(const core::rpc_request& request, core::errc why);

// Path and wording of each.
core::json problem_list(const std::vector<config::problem>& problems);

// The answer invalid_params, with what is wrong with each parameter.
std::string refuse_params(const core::rpc_request& request, const std::vector<config::problem>& problems);

// The part of the memory for answers that only the admin listener may use: callers cannot keep operators out.
inline constexpr std::uint64_t part_for_operators = 4;

class answer_builder {
public:
    // `longest`: bytes of a batch's results, and of a page of a list. `document`: bytes that the requests take of `memory`.
    answer_builder(core::memory_share memory, std::size_t longest, std::size_t document);

    // Before the first request.
    void set_batch(bool batch) noexcept { in_batch_ = batch; }

    // The next request begins. What has been written cannot be taken back, so a write is answered whatever becomes of the rest.
    void begin(bool writes) noexcept;

    // Bytes of the next result.
    std::size_t room() const noexcept;

    // Holds memory for `bytes` besides what was added. False: there is none.
    bool hold(std::size_t bytes) noexcept;

    // The answer to the request that has begun. `id` is raw JSON text.
    void add(std::string_view id, rpc_result result);

    // There is no memory for the whole answer: nothing of it may be sent.
    bool failed() const noexcept { return short_of_memory_; }

    // Body, card and memory of the answer. Nothing is added after that.
    void finish(model::rpc_answer& answer);

private:
    core::memory_share memory_;
    std::size_t longest_;
    std::size_t document_;
    bool in_batch_ = false;
    core::batch_answer batch_;      // if it is one
    rpc_result single_;             // else
    bool writes_ = false;           // the request that has begun
    bool wrote_ = false;            // one of them has
    bool short_of_memory_ = false;  // for the result that is built now
};

}  // namespace gateway::management
