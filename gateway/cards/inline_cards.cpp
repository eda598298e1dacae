#include "gateway/cards/inline_cards.hpp"

#include <exception>
#include <utility>

namespace gateway::cards {
namespace {

using core::errc;

// A card that is being made holds its text a second time, with up to a hundred thousand such agents.
constexpr unsigned most_at_once = 32;

bool is_settled(const card_entry& entry)
{
    return entry.status.card || entry.status.failure;
}

}  // namespace

void inline_cards::add(entry_pointer entry)
{
    waiting_.push_back(std::move(entry));
    make_next();
}

void inline_cards::make_next()
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
void inline_cards::start(const entry_pointer& entry)
{
    if (entry->gone || entry->making || stopped_) {
        return;
    }
    entry->making = true;
    entry->outdated = false;
    ++making_;
    out_.start(make(entry), "written_card");
}

net::task<> inline_cards::make(entry_pointer entry)
{
    auto record = entry->record();
    card_document document{.text = record->card};
    core::result<served_card> card = core::gateway_error(errc::internal, "card: its making ended by an exception");
    std::exception_ptr bug;
    try {
        card = co_await maker_.make(std::move(record), std::move(document));
    } catch (...) {
        bug = std::current_exception();
    }
    --making_;
    entry->making = false;
    if (!entry->gone) {
        if (card) {
            out_.accept(*entry, std::move(*card), out_.now(), out_.settings().ttl);
        } else {
            out_.fail(*entry, std::move(card).error());
        }
    }
    entry->wake();
    if (entry->outdated) {
        waiting_.push_back(entry);
    }
    make_next();
    if (bug) {
        std::rethrow_exception(bug);
    }
}

void inline_cards::make_again(const entry_pointer& entry)
{
    entry->outdated = true;
    add(entry);
}

net::task<> inline_cards::settled(entry_pointer entry)
{
    if (!is_settled(*entry)) {
        start(entry);
    }
    co_await card_entry::wait_while(entry, &card_entry::making);
}

net::task<> inline_cards::refresh(entry_pointer entry)
{
    start(entry);
    co_await card_entry::wait_while(entry, &card_entry::making);
}

net::task<model::card_answer> inline_cards::obtain(entry_pointer entry)
{
    if (!entry->status.card) {
        co_await settled(entry);
    }
    if (entry->gone) {
        co_return model::card_answer{};
    }
    if (!entry->status.card) {
        // An inline card cannot be fetched again: a bad one stays bad.
        const auto stopped = core::gateway_error(errc::draining);
        co_return model::card_answer{nullptr, model::card_use::negative, entry->status.failure.value_or(stopped)};
    }
    out_.renew(*entry, out_.settings().ttl);
    co_return model::card_answer{entry->status.card, model::card_use::hit, std::nullopt};
}

}  // namespace gateway::cards
