// The card of an agent that has several endpoints: asked of the one that calls go to, else of the others.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/cards/card_source.hpp"
#include "gateway/model/snapshot.hpp"
#include "net/loop/types.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::cards {

// The addresses of the agent, in the order in which its card is asked for: those of usable endpoints first.
std::vector<std::string> card_order(const model::agent_entry& agent, core::steady_time now);

// Whether no endpoint that the card is asked of gets calls now: its breakers are open.
bool is_paused(const model::agent_entry& agent, core::steady_time now) noexcept;

// The record at that one of its addresses which `found_at` is of; else as it is.
core::agent record_at(const core::agent& record, const std::string& found_at);

// Works as card_source::fetch(). Another endpoint is asked if one does not answer, until `patience` is over.
net::task<core::result<fetched_card>> fetch_card(
    card_source& source,
    std::shared_ptr<const model::agent_entry> agent,
    card_validators last,
    core::duration patience
);

}  // namespace gateway::cards
