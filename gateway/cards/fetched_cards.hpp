// The cards that agents serve: fetched when somebody asks and before that, at most one fetch for each agent at a time; the
// last good one is kept, and recalled after a start. On the control loop; what comes back for an agent that has changed
// meanwhile is dropped.
#pragma once

#include "core/error.hpp"
#include "gateway/cards/card_entry.hpp"
#include "gateway/cards/card_publisher.hpp"
#include "gateway/cards/card_schedule.hpp"
#include "gateway/cards/card_source.hpp"
#include "gateway/cards/card_store.hpp"
#include "gateway/cards/served_card.hpp"
#include "gateway/model/answered_card.hpp"
#include "gateway/model/pin_judges.hpp"

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
    void set_store(card_store& store) noexcept { store_ = &store; }

    // From now on cards are compared; callers get the approved one instead of one that is held.
    void set_judge(model::card_judge judge) { judge_ = std::move(judge); }

    // While this says so, nothing is fetched that nobody asks for.
    void set_pause(std::function<bool()> paused) { paused_ = std::move(paused); }

    // An agent whose card is fetched from now on. `recall`: its last good card counts, if one is kept.
    void add(card_entry& entry, bool recall);
    void remove(const std::string& id);

    // Is fetched soon, the whole of it; until then the one that is there is stale.
    void make_again(card_entry& entry);

    // A replica that shares the store has fetched or confirmed this card, this one perhaps: it counts as if it had been fetched here.
    void learn(const entry_pointer& entry, store::kept_card card);

    // Starts the fetches whose time has come.
    void sweep(const card_shelf& entries);

    // Works as card_plane::obtain(). The answer means nothing if the entry is gone when it comes.
    net::task<model::card_answer> obtain(entry_pointer entry);

    // A worker has answered with a stale card: fetches it again, unless that is under way or the agent has failed a moment ago.
    void refresh_stale(const entry_pointer& entry);

    // Fetches now. Fails with draining only: what the fetch failed with is in the entry.
    net::task<core::result<>> refresh(entry_pointer entry);

    // The text of the card that is there, as it was fetched; empty: it is not known.
    net::task<std::string> document(entry_pointer entry);

    // No more fetches.
    void stop() noexcept { stopped_ = true; }

private:
    void start(const entry_pointer& entry);
    net::task<> fetch(entry_pointer entry);
    void take(card_entry& entry, core::result<fetched_card> fetched);
    net::task<> recall(entry_pointer entry);
    net::task<> accept_kept(entry_pointer entry);
    net::task<> accept(entry_pointer entry, recalled_card found);
    net::task<> recalled(entry_pointer entry, net::task<> work);
    net::task<> recall_or_fetch(entry_pointer entry);
    net::task<> take_learnt(entry_pointer entry, recalled_card found);
    core::duration spread() const;
    bool shared() const noexcept { return store_ != nullptr && store_->shared(); }
    net::task<core::result<fetched_card>> judged(entry_pointer entry, fetched_card fetched);
    net::task<core::result<served_card>> make_of(entry_pointer entry, std::string text, std::string place);
    void keep(const card_entry& entry, const fetched_card& fetched);

    card_source& source_;
    card_maker& maker_;
    card_publisher& out_;
    card_store* store_ = nullptr;
    std::function<bool()> paused_;  // empty: never
    model::card_judge judge_;       // empty: nothing is compared
    card_schedule schedule_;
    std::uint64_t fetching_ = 0;  // fetches under way
    bool stopped_ = false;
};

}  // namespace gateway::cards
