#include "gateway/cards/fetched_cards.hpp"

#include "config/signatures.hpp"
#include "gateway/cards/card_source.hpp"

#include <boost/asio/post.hpp>

#include <exception>
#include <random>
#include <utility>

namespace gateway::cards {
namespace {

using core::errc;

// The terms under which a kept card was fetched: with another address it would be another agent's, and one that others vouch for, or
// nobody, is none that was verified.
std::string source_of(const core::agent& record, const config::card_settings& settings)
{
    auto source = record.url + '\n' + record.card_url;
    const auto rules = config::signature_rules_of(record, settings);
    if (rules.verify) {
        source += "\nverified\n" + rules.trusted_keys;
        for (const auto& origin : rules.key_set_origins) {
            source += '\n' + origin;
        }
    }
    return source;
}

}  // namespace

fetched_cards::fetched_cards(card_source& source, card_maker& maker, card_publisher& out)
    : source_{source},
      maker_{maker},
      out_{out},
      schedule_{out.settings(), std::random_device{}()}
{
}

void fetched_cards::add(card_slot& slot, bool recall)
{
    slot.recalled = !recall || keeper_ == nullptr;
    schedule_.add(slot.id(), out_.now());
}

void fetched_cards::remove(const std::string& id)
{
    schedule_.remove(id);
}

void fetched_cards::make_again(card_slot& slot)
{
    slot.outdated = slot.fetching || slot.recalling;
    if (slot.outdated) {
        return;
    }
    slot.validators = {};
    if (slot.status.card) {
        outdate(slot.status, out_.now(), out_.settings().stale_if_error);
        out_.withdraw(slot.id());
    }
    schedule_.add(slot.id(), out_.now());
}

void fetched_cards::sweep(const card_shelf& slots)
{
    if (paused_ && paused_()) {
        return;
    }
    const auto now = out_.now();
    for (auto room = out_.settings().background; room > fetching_ && !stopped_; --room) {
        const auto id = schedule_.take(now);
        if (!id) {
            return;
        }
        // A sweep resumes no coroutine, and a fetch may begin at once.
        net::asio::post(out_.executor(), [this, slot = slots.at(*id)] { start(slot); });
    }
}

net::task<model::card_answer> fetched_cards::obtain(slot_pointer slot)
{
    using model::card_use;
    if (!slot->recalled || slot->recalling) {
        co_await recall(slot);
    }
    if (slot->gone) {
        co_return model::card_answer{};
    }
    const auto& state = slot->status;
    const auto decision = decide(state, out_.now(), out_.settings());
    const bool has_none = decision == card_decision::refuse || decision == card_decision::fetch;
    if (has_none && is_paused(*slot->agent, out_.now())) {
        co_return model::card_answer{nullptr, model::card_use::negative, core::gateway_error(errc::circuit_open)};
    }
    switch (decision) {
        case card_decision::serve:
            co_return model::card_answer{state.card, model::card_use::hit, std::nullopt};
        case card_decision::serve_and_refresh:
            start(slot);
            co_return model::card_answer{state.card, model::card_use::stale, state.failure};
        case card_decision::serve_stale:
            co_return model::card_answer{state.card, model::card_use::stale, state.failure};
        case card_decision::refuse:
            co_return model::card_answer{nullptr, model::card_use::negative, state.failure};
        case card_decision::fetch:
            break;
    }
    const auto begun = co_await refresh(slot);
    if (!begun) {
        co_return model::card_answer{nullptr, model::card_use::miss, begun.error()};
    }
    if (!state.failure) {
        co_return model::card_answer{state.card, model::card_use::miss, std::nullopt};
    }
    if (usable(state, out_.now())) {
        co_return model::card_answer{state.card, model::card_use::stale, state.failure};
    }
    co_return model::card_answer{nullptr, model::card_use::miss, state.failure};
}

void fetched_cards::refresh_stale(const slot_pointer& slot)
{
    const auto decision = decide(slot->status, out_.now(), out_.settings());
    if (decision == card_decision::serve_and_refresh || decision == card_decision::fetch) {
        start(slot);
    }
}

net::task<core::result<>> fetched_cards::refresh(slot_pointer slot)
{
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    start(slot);
    co_await card_slot::wait_while(slot, &card_slot::fetching);
    co_return core::result<>{};
}

void fetched_cards::start(const slot_pointer& slot)
{
    if (stopped_ || std::exchange(slot->fetching, true)) {
        return;
    }
    ++fetching_;
    out_.start(fetch(slot), "card_fetch");
}

net::task<> fetched_cards::fetch(slot_pointer slot)
{
    core::result<fetched_card> fetched = core::gateway_error(errc::internal, "card: fetch ended by an exception");
    std::exception_ptr bug;
    try {
        co_await recall(slot);
        fetched = co_await fetch_card(source_, slot->agent, slot->validators, out_.settings().timeout);
    } catch (...) {
        bug = std::current_exception();
    }
    slot->fetching = false;
    --fetching_;
    if (!slot->gone) {
        take(*slot, std::move(fetched));
        if (slot->outdated) {
            make_again(*slot);
        }
    }
    slot->wake();
    if (bug) {
        std::rethrow_exception(bug);
    }
}

void fetched_cards::take(card_slot& slot, core::result<fetched_card> fetched)
{
    if (!fetched) {
        out_.fail(slot, std::move(fetched).error());
        out_.publish_stale(slot);
        schedule_.failed(slot.id(), out_.now());
        return;
    }
    if (fetched->not_modified && slot.status.card) {
        ++slot.status.not_modified;
        out_.renew(slot, fetched->fresh_for);
    } else {
        slot.status.signature = std::move(fetched->card.signature);
        out_.accept(slot, std::move(fetched->card), out_.now(), fetched->fresh_for);
        slot.validators = fetched->validators;
        slot.status.found_at = fetched->validators.url;
    }
    ++slot.status.fetched;
    schedule_.succeeded(slot.id(), out_.now(), fetched->fresh_for);
    keep(slot, *fetched);
}

// The last good card from before the start, once; whoever comes meanwhile waits for it.
net::task<> fetched_cards::recall(slot_pointer slot)
{
    co_await card_slot::wait_while(slot, &card_slot::recalling);
    if (std::exchange(slot->recalled, true)) {
        co_return;
    }
    slot->recalling = true;
    std::exception_ptr bug;
    try {
        co_await accept_kept(slot);
    } catch (...) {
        bug = std::current_exception();
    }
    slot->recalling = false;
    if (slot->outdated && !slot->gone) {
        make_again(*slot);
    }
    slot->wake();
    if (bug) {
        std::rethrow_exception(bug);
    }
}

net::task<> fetched_cards::accept_kept(slot_pointer slot)
{
    auto found = co_await keeper_->recall(slot->id());
    if (!found || slot->gone || found->card.source != source_of(slot->agent->record, out_.settings())) {
        co_return;
    }
    auto& kept = found->card;
    auto record = std::make_shared<const core::agent>(record_at(slot->agent->record, kept.url));
    const auto fetched_at = out_.now() - found->age;
    card_document document{.text = std::move(kept.document), .url = kept.url, .token = slot->agent->token};
    auto card = co_await maker_.make(std::move(record), std::move(document));
    // One that is not accepted any more is as good as none.
    if (card && !slot->gone) {
        out_.accept(*slot, std::move(*card), fetched_at, kept.fresh_for);
        slot->validators = {kept.url, kept.etag, kept.last_modified};
        slot->status.found_at = kept.url;
    }
}

void fetched_cards::keep(const card_slot& slot, const fetched_card& fetched)
{
    if (keeper_ == nullptr) {
        return;
    }
    const auto& found = slot.validators;
    keeper_->keep(
        {slot.id(),
         source_of(slot.agent->record, out_.settings()),
         fetched.not_modified ? std::string{} : fetched.document,
         found.url,
         found.etag,
         found.last_modified,
         {},
         fetched.fresh_for}
    );
}

}  // namespace gateway::cards
