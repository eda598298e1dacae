#include "gateway/cards/written_cards.hpp"

#include <exception>
#include <utility>

namespace gateway::cards {
namespace {

using core::errc;

// A card that is being made holds its text a second time, with up to a hundred thousand such agents.
constexpr unsigned most_at_once = 32;

bool is_settled(const card_slot& slot)
{
    return slot.status.card || slot.status.failure;
}

}  // namespace

void written_cards::add(slot_pointer slot)
{
    waiting_.push_back(std::move(slot));
    make_next();
}

void written_cards::make_next()
{
    while (making_ < most_at_once && !waiting_.empty()) {
        const auto next = std::move(waiting_.front());
        waiting_.pop_front();
        if (!is_settled(*next) || next->outdated) {
            start(next);  // nobody has asked for it yet
        }
    }
}

// Unless it is being made.
void written_cards::start(const slot_pointer& slot)
{
    if (slot->gone || slot->making || stopped_) {
        return;
    }
    slot->making = true;
    slot->outdated = false;
    ++making_;
    out_.start(make(slot), "written_card");
}

net::task<> written_cards::make(slot_pointer slot)
{
    auto record = slot->record();
    card_document document{.text = record->card};
    core::result<served_card> card = core::gateway_error(errc::internal, "card: its making ended by an exception");
    std::exception_ptr bug;
    try {
        card = co_await maker_.make(std::move(record), std::move(document));
    } catch (...) {
        bug = std::current_exception();
    }
    --making_;
    slot->making = false;
    if (!slot->gone) {
        if (card) {
            out_.accept(*slot, std::move(*card), out_.now(), out_.settings().ttl);
        } else {
            out_.fail(*slot, std::move(card).error());
        }
    }
    slot->wake();
    if (slot->outdated) {
        waiting_.push_back(slot);
    }
    make_next();
    if (bug) {
        std::rethrow_exception(bug);
    }
}

void written_cards::make_again(const slot_pointer& slot)
{
    slot->outdated = true;
    add(slot);
}

net::task<> written_cards::settled(slot_pointer slot)
{
    if (!is_settled(*slot)) {
        start(slot);
    }
    co_await card_slot::wait_while(slot, &card_slot::making);
}

net::task<> written_cards::refresh(slot_pointer slot)
{
    start(slot);
    co_await card_slot::wait_while(slot, &card_slot::making);
}

net::task<model::card_answer> written_cards::obtain(slot_pointer slot)
{
    if (!slot->status.card) {
        co_await settled(slot);
    }
    if (slot->gone) {
        co_return model::card_answer{};
    }
    if (!slot->status.card) {
        // An inline card cannot be fetched again: a bad one stays bad.
        const auto stopped = core::gateway_error(errc::draining);
        co_return model::card_answer{nullptr, model::card_use::negative, slot->status.failure.value_or(stopped)};
    }
    out_.renew(*slot, out_.settings().ttl);
    co_return model::card_answer{slot->status.card, model::card_use::hit, std::nullopt};
}

}  // namespace gateway::cards
