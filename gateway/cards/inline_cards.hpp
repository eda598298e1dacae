// Cards that the operator wrote: made once, before anybody asks, and then as fresh as the configuration. On the control loop.
#pragma once

#include "gateway/cards/card_entry.hpp"
#include "gateway/cards/card_publisher.hpp"
#include "gateway/cards/served_card.hpp"
#include "gateway/model/answered_card.hpp"

#include <deque>

namespace gateway::cards {

class inline_cards {
public:
    // References outlive this.
    inline_cards(card_maker& maker, card_publisher& out)
        : maker_{maker},
          out_{out}
    {
    }

    // Its card is made as soon as fewer than 32 are being made.
    void add(entry_pointer entry);

    // Works as card_plane::obtain(). The answer means nothing if the entry is gone when it comes.
    net::task<model::card_answer> obtain(entry_pointer entry);

    // Returns when the card has been made.
    net::task<> settled(entry_pointer entry);

    // Makes it once more.
    net::task<> refresh(entry_pointer entry);

    // Makes the card again as soon as fewer than 32 are being made; the current one is served until then.
    void make_again(const entry_pointer& entry);

    // No more cards are made.
    void stop() noexcept { stopped_ = true; }

private:
    void make_next();
    void start(const entry_pointer& entry);
    net::task<> make(entry_pointer entry);

    card_maker& maker_;
    card_publisher& out_;
    std::deque<entry_pointer> waiting_;  // whose card is still to be made
    unsigned making_ = 0;                // cards that are being made
    bool stopped_ = false;
};

}  // namespace gateway::cards
