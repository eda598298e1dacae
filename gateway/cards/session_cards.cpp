#include "gateway/cards/session_cards.hpp"

#include <exception>
#include <utility>

namespace gateway::cards {

using core::errc;

void session_cards::set_lists(
    const slot_pointer& slot,
    std::shared_ptr<const ::mcp::server_lists> lists,
    card_told done
)
{
    if (stopped_) {
        done(false);
        return;
    }
    slot->listed = std::move(lists);
    slot->told.push_back(std::move(done));
    slot->lost_meanwhile = false;
    if (!std::exchange(slot->making, true)) {
        out_.start(make(slot), "session_card");
    }
}

// If lists change faster than cards are made, only the latest count.
net::task<> session_cards::make(slot_pointer slot)
{
    std::exception_ptr bug;
    while (slot->listed != nullptr) {
        const auto lists = std::exchange(slot->listed, nullptr);
        const auto told = std::exchange(slot->told, {});
        auto record = slot->record();
        listed_card listed{lists, slot->agent->token};
        core::result<served_card> card = core::gateway_error(errc::internal, "card: its making ended by an exception");
        try {
            card = co_await maker_.make_of_lists(std::move(record), std::move(listed));
        } catch (...) {
            bug = std::current_exception();
        }
        const bool is_card = !slot->gone && take(*slot, std::move(card), *lists);
        for (const auto& tell : told) {
            tell(is_card);
        }
    }
    slot->making = false;
    slot->wake();
    if (bug) {
        std::rethrow_exception(bug);
    }
}

bool session_cards::take(card_slot& slot, core::result<served_card> card, const ::mcp::server_lists& lists)
{
    if (!card) {
        out_.fail(slot, std::move(card).error());
        slot.card_trouble = slot.status.failure;
        withdraw(slot);
        return false;
    }
    auto lost = slot.lost_meanwhile ? slot.status.failure : std::nullopt;
    slot.card_trouble.reset();
    slot.status.vouched = true;
    slot.status.caching = lists.shareable ? model::card_caching::asking : model::card_caching::asking_alone;
    out_.publish(slot, std::move(*card), out_.now(), out_.settings().ttl);
    if (lost) {
        slot.status.failure = std::move(lost);
        slot.status.failed_at = out_.now();
        withdraw(slot);
    }
    return true;
}

void session_cards::withhold(card_slot& slot)
{
    outdate(slot.status, out_.now(), core::duration{0});
    out_.withdraw(slot.id());
}

void session_cards::set_trouble(card_slot& slot, std::optional<core::error> why)
{
    slot.lost_meanwhile = why.has_value();
    if (why) {
        slot.status.failed_at = out_.now();
    }
    // Lists that make no card make none, however well the session is.
    slot.status.failure = why ? std::move(why) : slot.card_trouble;
    if (slot.status.failure) {
        withdraw(slot);
        slot.wake();
    } else if (slot.status.card && !slot.making) {
        renew(slot);
    }
}

// The lists of the session were right until now; they count longer only where the operator wants that.
void session_cards::withdraw(card_slot& slot)
{
    const auto& record = slot.agent->record;
    if (std::exchange(slot.status.vouched, false)) {
        const bool counts = record.mcp && record.mcp->stale_if_error;
        outdate(slot.status, out_.now(), counts ? out_.settings().stale_if_error : core::duration{0});
    }
    out_.withdraw(record.id);
}

// Lists of a running session are as fresh as can be.
void session_cards::renew(card_slot& slot)
{
    slot.status.vouched = true;
    out_.renew(slot, out_.settings().ttl);
}

net::task<model::card_answer> session_cards::obtain(slot_pointer slot)
{
    while (slot->making && !slot->status.failure && !slot->gone) {
        co_await card_slot::next_change(slot);
    }
    if (slot->gone) {
        co_return model::card_answer{};
    }
    co_return answer(*slot);
}

model::card_answer session_cards::answer(card_slot& slot)
{
    if (!slot.status.failure && slot.status.card) {
        renew(slot);
        return {slot.status.card, model::card_use::hit, std::nullopt};
    }
    const auto trouble = slot.status.failure.value_or(core::upstream_error(errc::session_not_started));
    if (trouble.code == errc::session_not_started && demand_) {
        demand_(slot.id());
    }
    if (usable(slot.status, out_.now())) {
        return {slot.status.card, model::card_use::stale, trouble};
    }
    model::card_answer none{nullptr, model::card_use::negative, trouble};
    const bool comes_back = trouble.code == errc::session_crashed || trouble.code == errc::session_failed ||
                            trouble.code == errc::session_not_ready || trouble.code == errc::session_not_started;
    if (comes_back) {
        none.again_at = (next_attempt_ ? next_attempt_(slot.id()) : std::nullopt).value_or(out_.now());
    }
    return none;
}

}  // namespace gateway::cards
