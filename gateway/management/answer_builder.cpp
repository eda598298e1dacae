#include "gateway/management/answer_builder.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gateway::management {
namespace {

using core::errc;
using core::json;

constexpr std::array keys_of_agent{"id", "agentId", "name"};

}  // namespace

std::string agent_parameter(const json& params)
{
    for (const auto* key : keys_of_agent) {
        if (const auto* value = core::string_member(params, key)) {
            return *value;
        }
    }
    if (params.is_array() && params.size() == 1 && params.front().is_string()) {
        return params.front().get<std::string>();
    }
    return {};
}

bool names_agent(const json& params)
{
    return (params.is_array() && !params.empty()) ||
           std::ranges::any_of(keys_of_agent, [&](const auto* key) { return core::member(params, key) != nullptr; });
}

bool is_shown(const registered_agent& agent, const rpc_caller& caller)
{
    return !caller.shows || (agent.served() && caller.shows(agent.entry->record));
}

rpc_result denied(const core::rpc_request& request, core::errc why)
{
    rpc_result result{core::make_error(request.id, why)};
    result.denied = true;
    return result;
}

named_agent find_agent(const core::rpc_request& request, const registry& agents, const rpc_caller& caller)
{
    const auto id = agent_parameter(request.params);
    if (id.empty()) {
        return {nullptr, core::make_error(request.id, errc::invalid_params, {{"missing", "id"}})};
    }
    const auto* agent = agents.find(id);
    if (agent == nullptr || !is_shown(*agent, caller)) {
        return {nullptr, core::make_error(request.id, errc::agent_not_found, {{"agent", id}})};
    }
    return {agent, {}};
}

json problem_list(const std::vector<config::problem>& problems)
{
    auto list = json::array();
    for (const auto& each : problems) {
        list.push_back({{"path", each.key}, {"what", each.what}});
    }
    return list;
}

std::string refuse_params(const core::rpc_request& request, const std::vector<config::problem>& problems)
{
    return core::make_error(request.id, errc::invalid_params, {{"problems", problem_list(problems)}});
}

using core::errc;

answer_builder::answer_builder(core::memory_share memory, std::size_t longest, std::size_t document)
    : memory_{std::move(memory)},
      longest_{longest},
      document_{document}
{
}

void answer_builder::begin(bool writes) noexcept
{
    writes_ = writes;
    wrote_ = wrote_ || writes;
}

std::size_t answer_builder::room() const noexcept
{
    const auto taken = in_batch_ ? batch_.size_with(0) : 0;
    return taken < longest_ ? longest_ - taken : 0;
}

bool answer_builder::hold(std::size_t bytes) noexcept
{
    const bool held = memory_.hold(document_ + batch_.capacity() + bytes);
    short_of_memory_ = short_of_memory_ || !held;
    return held;
}

// A result that has no room becomes an error that says so; not that of a write, which has been carried out. Without memory
// for it the whole answer is given up, unless something has been written: then the rest of it is errors.
void answer_builder::add(std::string_view id, rpc_result result)
{
    if (in_batch_ && !writes_ && batch_.size_with(result.size()) > longest_) {
        result = {core::make_error(id, errc::too_large)};
    }
    const auto had = batch_.capacity();
    const auto needed = in_batch_ ? std::max(had, batch_.size_with(result.size())) : had;
    // Room to grow into, unless there is memory for this result only.
    auto capacity = needed > had ? std::max(needed, std::min(2 * had, longest_)) : had;
    if (!memory_.hold(document_ + capacity + result.text.capacity())) {
        capacity = needed;
        hold(capacity - had + result.text.capacity());
    }
    if (short_of_memory_) {
        if (!wrote_) {
            return;
        }
        short_of_memory_ = false;
        if (!writes_) {
            result = {core::make_error(id, errc::overloaded)};
            capacity = had;
        }
    }
    if (!in_batch_) {
        single_ = std::move(result);
        return;
    }
    batch_.reserve(capacity);
    batch_.begin(result.text);
    if (result.card != nullptr) {
        batch_.go_on(result.card->body);
        batch_.go_on(model::card_end);
    }
}

void answer_builder::finish(model::rpc_answer& answer)
{
    answer.body = in_batch_ ? batch_.take() : std::move(single_.text);
    answer.card = std::move(single_.card);
    memory_.hold(answer.body.capacity());
    answer.memory = std::move(memory_);
}

}  // namespace gateway::management
