// Cards that the operator wrote: made once, and then as fresh as the configuration.
#include "gateway/cards/card_plane.hpp"

#include <utility>

namespace gateway::cards {
namespace {

// Of a hundred thousand such agents, each card that is being made holds its text a second time.
constexpr unsigned most_at_once = 32;

}  // namespace

// Makes the cards of new agents, before anybody asks.
void card_plane::make_next()
{
    while (making_ < most_at_once && !written_.empty()) {
        const auto next = std::move(written_.front());
        written_.pop_front();
        if (!next->state.card && !next->state.failure) {
            make_written(next);  // nobody has asked for it yet
        }
    }
}

// Unless it is being made.
void card_plane::make_written(const slot_pointer& which)
{
    if (which->gone || which->making || stopped_) {
        return;
    }
    which->making = true;
    ++making_;
    spawn(make_written_card(which), "written_card");
}

net::task<> card_plane::make_written_card(slot_pointer which)
{
    auto record = which->record();
    card_document what{.text = record->card};
    auto made = co_await maker_.make(std::move(record), std::move(what));
    --making_;
    which->making = false;
    if (!which->gone) {
        if (made) {
            accept(*which, std::move(*made), now_(), settings_.ttl);
        } else {
            failed(*which, std::move(made).error());
        }
    }
    wake(*which);
    make_next();
}

net::task<> card_plane::settled(std::string id)
{
    const auto found = slots_.find(id);
    if (found == slots_.end() || found->second->agent->record.card.empty()) {
        co_return;
    }
    const auto which = found->second;
    if (!which->state.card && !which->state.failure) {
        make_written(which);
    }
    co_await wait_while(which, &slot::making);
}

// It cannot be fetched better: a bad one stays bad.
model::card_answer card_plane::written_answer(slot& which)
{
    if (!which.state.card) {
        const auto stopped = core::gateway_error(core::errc::draining);
        return {nullptr, model::card_use::negative, which.state.failure ? *which.state.failure : stopped};
    }
    renew(which);
    return {which.state.card, model::card_use::hit, std::nullopt};
}

}  // namespace gateway::cards
