// An agent that has several endpoints: one entry for each, which hold each other, so that whatever is made for one of them can be
// sent to another one.
#pragma once

#include "core/clock.hpp"
#include "gateway/model/snapshot.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::model {

// The entries of one agent, in the order of its addresses. The first one is what a snapshot has.
struct endpoint_entries {
    std::vector<agent_entry> all;
};

// The i-th entry of the same agent, from 0; the agent itself if there is none.
std::shared_ptr<const agent_entry> endpoint_of(const std::shared_ptr<const agent_entry>& agent, std::size_t i);

// The entry that a snapshot has of the same agent.
const agent_entry& first_of(const agent_entry& agent) noexcept;

// Those keys of `before`'s targets that `now` does not have: connections there are not wanted any more. Null: no agent. They are valid as
// long as `before`.
std::vector<std::string_view> keys_that_leave(const agent_entry* before, const agent_entry* now);

// How many endpoints the agent has; at least 1.
std::size_t endpoint_count(const agent_entry& agent) noexcept;

// Until when its breakers admit no call for sure.
core::steady_time again_at(const agent_entry& agent, core::steady_time now) noexcept;

// The path of one endpoint where the other one has `path`, which may have a query: what is below the path of `from`'s URL is below
// that of `to`'s. The own path of an endpoint is as its URL has it.
std::string moved_path(std::string_view path, const agent_entry& from, const agent_entry& to);

// A request head that was made for one endpoint, for the other one.
std::string moved_head(std::string_view head, const agent_entry& from, const agent_entry& to);

}  // namespace gateway::model
