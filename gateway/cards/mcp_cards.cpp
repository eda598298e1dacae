#include "gateway/cards/mcp_cards.hpp"

#include <exception>
#include <utility>

namespace gateway::cards {

using core::errc;

void mcp_cards::set_lists(const entry_pointer& entry, std::shared_ptr<const ::mcp::server_lists> lists, card_told done)
{
    if (stopped_) {
        done(false);
        return;
    }
    entry->listed = std::move(lists);
    entry->told.push_back(std::move(done));
    entry->lost_meanwhile = false;
    if (!std::exchange(entry->making, true)) {
        out_.start(make(entry), "session_card");
    }
}

// If lists change faster than cards are made, only the latest count.
net::task<> mcp_cards::make(entry_pointer entry)
{
    std::exception_ptr bug;
    while (entry->listed != nullptr) {
        const auto lists = std::exchange(entry->listed, nullptr);
        const auto told = std::exchange(entry->told, {});
        auto record = entry->record();
        listed_card listed{lists, entry->agent->token};
        core::result<served_card> card = core::gateway_error(errc::internal, "card: its making ended by an exception");
        try {
            card = co_await maker_.make_of_lists(std::move(record), std::move(listed));
        } catch (...) {
            bug = std::current_exception();
        }
        const bool is_card = !entry->gone && take(*entry, std::move(card), *lists);
        for (const auto& tell : told) {
            tell(is_card);
        }
    }
    entry->making = false;
    entry->wake();
    if (bug) {
        std::rethrow_exception(bug);
    }
}

bool mcp_cards::take(card_entry& entry, core::result<served_card> card, const ::mcp::server_lists& lists)
{
    if (!card) {
        out_.fail(entry, std::move(card).error());
        entry.card_trouble = entry.status.failure;
        withdraw(entry);
        return false;
    }
    auto lost = entry.lost_meanwhile ? entry.status.failure : std::nullopt;
    entry.card_trouble.reset();
    entry.status.vouched = true;
    entry.status.caching = lists.shareable ? model::card_caching::asking : model::card_caching::asking_alone;
    out_.publish(entry, std::move(*card), out_.now(), out_.settings().ttl);
    if (lost) {
        entry.status.failure = std::move(lost);
        entry.status.failed_at = out_.now();
        withdraw(entry);
    }
    return true;
}

void mcp_cards::withhold(card_entry& entry)
{
    outdate(entry.status, out_.now(), core::duration{0});
    out_.withdraw(entry.id());
}

void mcp_cards::set_trouble(card_entry& entry, std::optional<core::error> why)
{
    entry.lost_meanwhile = why.has_value();
    if (why) {
        entry.status.failed_at = out_.now();
    }
    // Lists that make no card make none, however well the session is.
    entry.status.failure = why ? std::move(why) : entry.card_trouble;
    if (entry.status.failure) {
        withdraw(entry);
        entry.wake();
    } else if (entry.status.card && !entry.making) {
        renew(entry);
    }
}

// The lists of the session were right until now; they count longer only where the operator wants that.
void mcp_cards::withdraw(card_entry& entry)
{
    const auto& record = entry.agent->record;
    if (std::exchange(entry.status.vouched, false)) {
        const bool counts = record.mcp && record.mcp->stale_if_error;
        outdate(entry.status, out_.now(), counts ? out_.settings().stale_if_error : core::duration{0});
    }
    out_.withdraw(record.id);
}

// Lists of a running session are as fresh as can be.
void mcp_cards::renew(card_entry& entry)
{
    entry.status.vouched = true;
    out_.renew(entry, out_.settings().ttl);
}

net::task<model::card_answer> mcp_cards::obtain(entry_pointer entry)
{
    while (entry->making && !entry->status.failure && !entry->gone) {
        co_await card_entry::next_change(entry);
    }
    if (entry->gone) {
        co_return model::card_answer{};
    }
    co_return answer(*entry);
}

model::card_answer mcp_cards::answer(card_entry& entry)
{
    if (!entry.status.failure && entry.status.card) {
        renew(entry);
        return {entry.status.card, model::card_use::hit, std::nullopt};
    }
    const auto trouble = entry.status.failure.value_or(core::upstream_error(errc::session_not_started));
    if (trouble.code == errc::session_not_started && demand_) {
        demand_(entry.id());
    }
    if (usable(entry.status, out_.now())) {
        return {entry.status.card, model::card_use::stale, trouble};
    }
    model::card_answer none{nullptr, model::card_use::negative, trouble};
    const bool comes_back = trouble.code == errc::session_crashed || trouble.code == errc::session_failed ||
                            trouble.code == errc::session_not_ready || trouble.code == errc::session_not_started;
    if (comes_back) {
        none.again_at = (next_attempt_ ? next_attempt_(entry.id()) : std::nullopt).value_or(out_.now());
    }
    return none;
}

}  // namespace gateway::cards
