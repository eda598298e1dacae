// Cards of MCP servers: made from what their sessions list, and served while the session is well. On the control loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/cards/card_entry.hpp"
#include "gateway/cards/card_publisher.hpp"
#include "gateway/cards/served_card.hpp"
#include "gateway/model/answered_card.hpp"
#include "mcp/protocol/discovery.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace gateway::cards {

class mcp_cards {
public:
    using demand = std::function<void(const std::string& id)>;
    using attempts = std::function<std::optional<core::steady_time>(const std::string& id)>;

    // References outlive this.
    mcp_cards(card_maker& maker, card_publisher& out)
        : maker_{maker},
          out_{out}
    {
    }

    // These work as the functions of card_plane of these names.
    void set_demand(demand asked) { demand_ = std::move(asked); }
    void set_attempts(attempts next) { next_attempt_ = std::move(next); }

    // These work as card_plane::set_session_card() and card_plane::set_session_trouble().
    void set_lists(const entry_pointer& entry, std::shared_ptr<const ::mcp::server_lists> lists, card_told done);
    void set_trouble(card_entry& entry, std::optional<core::error> why);

    // The card that is there shows what it must not: nobody gets it, until set_lists() brings another one.
    void withhold(card_entry& entry);

    // Works as card_plane::obtain(). The answer means nothing if the entry is gone when it comes.
    net::task<model::card_answer> obtain(entry_pointer entry);

    // Answers without waiting for a card that is being made.
    model::card_answer answer(card_entry& entry);

    // No more cards are made.
    void stop() noexcept { stopped_ = true; }

private:
    net::task<> make(entry_pointer entry);
    bool take(card_entry& entry, core::result<served_card> card, const ::mcp::server_lists& lists);
    void renew(card_entry& entry);
    void withdraw(card_entry& entry);

    card_maker& maker_;
    card_publisher& out_;
    demand demand_;
    attempts next_attempt_;
    bool stopped_ = false;
};

}  // namespace gateway::cards
