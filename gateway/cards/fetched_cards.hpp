// The cards that agents serve: fetched when somebody asks and before that, at most one fetch for each agent at a time; the
// last good one is kept, and recalled after a start. On the control loop; what comes back for an agent that has changed
// meanwhile is dropped.
#pragma once

#include "core/error.hpp"
#include "gateway/cards/card_keeper.hpp"
#include "gateway/cards/card_publisher.hpp"
#include "gateway/cards/card_schedule.hpp"
#include "gateway/cards/card_slot.hpp"
#include "gateway/cards/card_source.hpp"
#include "gateway/cards/served_card.hpp"
#include "gateway/model/answered_card.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace gateway::cards {

class fetched_cards {
public:
    // References outlive this. `maker` reads what is recalled.
    fetched_cards(card_source& source, card_maker& maker, card_publisher& out);

    // From now on good cards are kept, and recalled before they are fetched.
    void set_keeper(card_keeper& keeper) noexcept { keeper_ = &keeper; }

    // While this says so, nothing is fetched that nobody asks for.
    void set_pause(std::function<bool()> paused) { paused_ = std::move(paused); }

    // An agent whose card is fetched from now on. `recall`: its last good card counts, if one is kept.
    void add(card_slot& slot, bool recall);
    void remove(const std::string& id);

    // Is fetched soon, the whole of it; until then the one that is there is stale.
    void make_again(card_slot& slot);

    // Starts the fetches whose time has come.
    void sweep(const card_shelf& slots);

    // Works as card_plane::obtain(). The answer means nothing if the slot is gone when it comes.
    net::task<model::card_answer> obtain(slot_pointer slot);

    // A worker has answered with a stale card: fetches it again, unless that is under way or the agent has failed a moment ago.
    void refresh_stale(const slot_pointer& slot);

    // Fetches now. Fails with draining only: what the fetch failed with is in the slot.
    net::task<core::result<>> refresh(slot_pointer slot);

    // No more fetches.
    void stop() noexcept { stopped_ = true; }

private:
    void start(const slot_pointer& slot);
    net::task<> fetch(slot_pointer slot);
    void take(card_slot& slot, core::result<fetched_card> fetched);
    net::task<> recall(slot_pointer slot);
    net::task<> accept_kept(slot_pointer slot);
    void keep(const card_slot& slot, const fetched_card& fetched);

    card_source& source_;
    card_maker& maker_;
    card_publisher& out_;
    card_keeper* keeper_ = nullptr;
    std::function<bool()> paused_;  // empty: never
    card_schedule schedule_;
    std::uint64_t fetching_ = 0;  // fetches under way
    bool stopped_ = false;
};

}  // namespace gateway::cards
