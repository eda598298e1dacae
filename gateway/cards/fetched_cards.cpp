#include "gateway/cards/fetched_cards.hpp"

#include "config/signatures.hpp"
#include "gateway/cards/card_source.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <random>
#include <utility>

namespace gateway::cards {
namespace {

using core::errc;

std::size_t hash_of(const store::kept_card& card)
{
    return std::hash<std::string>{}(card.document);
}

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

void fetched_cards::add(card_entry& entry, bool recall)
{
    entry.recalled = !recall || store_ == nullptr;
    schedule_.add(entry.id(), out_.now(), spread());
}

// One of the replicas that hear of an agent at once fetches its card a while before the others.
core::duration fetched_cards::spread() const
{
    constexpr core::duration longest{5000};
    return shared() ? std::min<core::duration>(out_.settings().ttl / 5, longest) : core::duration{};
}

void fetched_cards::remove(const std::string& id)
{
    schedule_.remove(id);
}

void fetched_cards::make_again(card_entry& entry)
{
    entry.outdated = entry.fetching || entry.recalling;
    if (entry.outdated) {
        return;
    }
    entry.validators = {};
    entry.document = 0;
    if (entry.status.card) {
        outdate(entry.status, out_.now(), out_.settings().stale_if_error);
        out_.withdraw(entry.id());
    }
    schedule_.add(entry.id(), out_.now());
}

void fetched_cards::sweep(const card_shelf& entries)
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
        net::asio::post(out_.executor(), [this, entry = entries.at(*id)] {
            if (entry->recalled || !shared()) {
                start(entry);
            } else {
                out_.start(recall_or_fetch(entry), "card_recall");
            }
        });
    }
}

// Another replica may have fetched it a moment ago.
net::task<> fetched_cards::recall_or_fetch(entry_pointer entry)
{
    co_await recall(entry);
    const auto now = out_.now();
    const auto& card = entry->status.card;
    if (!entry->gone && card && now < card->fresh_until) {
        schedule_.succeeded(entry->id(), now, std::chrono::duration_cast<core::duration>(card->fresh_until - now));
    } else if (!entry->gone) {
        start(entry);
    }
}

// The clocks of replicas may differ: it was fetched a moment ago, since the store has just said so.
void fetched_cards::learn(const entry_pointer& entry, store::kept_card card)
{
    if (stopped_ || entry->fetching || card.source != source_of(entry->agent->record, out_.settings())) {
        return;
    }
    const auto& there = entry->status.card;
    if (!there || entry->document != hash_of(card)) {
        out_.start(take_learnt(entry, {std::move(card), {}}), "card_learnt");
        return;
    }
    constexpr std::chrono::seconds echo{1};  // of what this replica has kept itself
    const auto now = out_.now();
    if (now - there->fetched_at >= echo) {
        out_.renew(*entry, card.fresh_for);
        entry->validators = {card.url, card.etag, card.last_modified};
        schedule_.succeeded(entry->id(), now, card.fresh_for);
    }
}

net::task<> fetched_cards::take_learnt(entry_pointer entry, recalled_card found)
{
    co_await card_entry::wait_while(entry, &card_entry::recalling);
    entry->recalled = true;
    const auto fresh_for = found.card.fresh_for;
    const auto learnt_at = out_.now();
    co_await recalled(entry, accept(entry, std::move(found)));
    const auto& there = entry->status.card;
    if (!entry->gone && there && there->fetched_at >= learnt_at && !entry->fetching) {
        schedule_.succeeded(entry->id(), out_.now(), fresh_for);
    }
}

net::task<model::card_answer> fetched_cards::obtain(entry_pointer entry)
{
    using model::card_use;
    if (!entry->recalled || entry->recalling) {
        co_await recall(entry);
    }
    if (entry->gone) {
        co_return model::card_answer{};
    }
    const auto& state = entry->status;
    const auto decision = decide(state, out_.now(), out_.settings());
    const bool has_none = decision == card_decision::refuse || decision == card_decision::fetch;
    if (has_none && is_paused(*entry->agent, out_.now())) {
        co_return model::card_answer{nullptr, model::card_use::negative, core::gateway_error(errc::circuit_open)};
    }
    switch (decision) {
        case card_decision::serve:
            co_return model::card_answer{state.card, model::card_use::hit, std::nullopt};
        case card_decision::serve_and_refresh:
            start(entry);
            co_return model::card_answer{state.card, model::card_use::stale, state.failure};
        case card_decision::serve_stale:
            co_return model::card_answer{state.card, model::card_use::stale, state.failure};
        case card_decision::refuse:
            co_return model::card_answer{nullptr, model::card_use::negative, state.failure};
        case card_decision::fetch:
            break;
    }
    const auto begun = co_await refresh(entry);
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

void fetched_cards::refresh_stale(const entry_pointer& entry)
{
    const auto decision = decide(entry->status, out_.now(), out_.settings());
    if (decision == card_decision::serve_and_refresh || decision == card_decision::fetch) {
        start(entry);
    }
}

net::task<core::result<>> fetched_cards::refresh(entry_pointer entry)
{
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    start(entry);
    co_await card_entry::wait_while(entry, &card_entry::fetching);
    co_return core::result<>{};
}

void fetched_cards::start(const entry_pointer& entry)
{
    if (stopped_ || std::exchange(entry->fetching, true)) {
        return;
    }
    ++fetching_;
    out_.start(fetch(entry), "card_fetch");
}

net::task<> fetched_cards::fetch(entry_pointer entry)
{
    core::result<fetched_card> fetched = core::gateway_error(errc::internal, "card: fetch ended by an exception");
    std::exception_ptr bug;
    try {
        co_await recall(entry);
        fetched = co_await fetch_card(source_, entry->agent, entry->validators, out_.settings().timeout);
        if (fetched && !fetched->not_modified && judge_ && !entry->gone) {
            auto whole = std::move(*fetched);
            fetched = co_await judged(entry, std::move(whole));
        }
    } catch (...) {
        bug = std::current_exception();
    }
    entry->fetching = false;
    --fetching_;
    if (!entry->gone) {
        take(*entry, std::move(fetched));
        if (entry->outdated) {
            make_again(*entry);
        }
    }
    entry->wake();
    if (bug) {
        std::rethrow_exception(bug);
    }
}

void fetched_cards::take(card_entry& entry, core::result<fetched_card> fetched)
{
    if (!fetched) {
        out_.fail(entry, std::move(fetched).error());
        out_.publish_stale(entry);
        schedule_.failed(entry.id(), out_.now());
        return;
    }
    if (fetched->not_modified && entry.status.card) {
        ++entry.status.not_modified;
        out_.renew(entry, fetched->fresh_for);
    } else {
        entry.status.signature = fetched->held ? std::nullopt : std::move(fetched->card.signature);
        out_.accept(entry, std::move(fetched->card), out_.now(), fetched->fresh_for);
        entry.validators = fetched->validators;
        entry.document = shared() ? std::hash<std::string>{}(fetched->document) : 0;
        entry.status.found_at = fetched->validators.url;
    }
    ++entry.status.fetched;
    schedule_.succeeded(entry.id(), out_.now(), fetched->fresh_for);
    if (!fetched->held) {
        keep(entry, *fetched);
    }
}

// The card, or the approved one if it is held. Fails with card_held if none is approved.
net::task<core::result<fetched_card>> fetched_cards::judged(entry_pointer entry, fetched_card fetched)
{
    auto asked = judge_(entry->agent, fetched.document, fetched.validators.url);
    auto verdict = co_await std::move(asked);
    if (!verdict.held) {
        co_return fetched;
    }
    if (verdict.text.empty()) {
        co_return core::gateway_error(errc::card_held, "nobody has approved its card");
    }
    auto card = co_await make_of(entry, std::move(verdict.text), std::move(verdict.place));
    if (!card) {
        co_return std::move(card).error();
    }
    fetched.card = std::move(*card);
    fetched.held = true;
    co_return fetched;
}

net::task<core::result<served_card>> fetched_cards::make_of(entry_pointer entry, std::string text, std::string place)
{
    auto record = std::make_shared<const core::agent>(record_at(entry->agent->record, place));
    card_document document{.text = std::move(text), .url = std::move(place), .token = entry->agent->token};
    return maker_.make(std::move(record), std::move(document));
}

// The last good card from before the start, once; whoever comes meanwhile waits for it.
net::task<> fetched_cards::recall(entry_pointer entry)
{
    co_await card_entry::wait_while(entry, &card_entry::recalling);
    if (std::exchange(entry->recalled, true)) {
        co_return;
    }
    co_await recalled(entry, accept_kept(entry));
}

// Whoever asks for the card meanwhile waits for it.
net::task<> fetched_cards::recalled(entry_pointer entry, net::task<> work)
{
    entry->recalling = true;
    std::exception_ptr bug;
    try {
        co_await std::move(work);
    } catch (...) {
        bug = std::current_exception();
    }
    entry->recalling = false;
    if (entry->outdated && !entry->gone) {
        make_again(*entry);
    }
    entry->wake();
    if (bug) {
        std::rethrow_exception(bug);
    }
}

net::task<> fetched_cards::accept_kept(entry_pointer entry)
{
    auto found = co_await store_->recall(entry->id());
    if (found) {
        co_await accept(entry, std::move(*found));
    }
}

net::task<> fetched_cards::accept(entry_pointer entry, recalled_card found)
{
    auto& kept = found.card;
    if (entry->gone || kept.source != source_of(entry->agent->record, out_.settings())) {
        co_return;
    }
    const auto fetched_at = out_.now() - found.age;
    const auto document = shared() ? hash_of(kept) : 0;
    if (judge_) {
        auto asked = judge_(entry->agent, kept.document, kept.url);
        auto verdict = co_await std::move(asked);
        if (verdict.held && verdict.text.empty()) {
            co_return;
        }
        if (verdict.held) {
            kept.document = std::move(verdict.text);
            kept.url = std::move(verdict.place);
            kept.etag.clear();
            kept.last_modified.clear();
        }
    }
    auto card = co_await make_of(entry, std::move(kept.document), kept.url);
    const auto& there = entry->status.card;
    const bool is_latest = !there || there->fetched_at < fetched_at;
    // One that is not accepted any more is as good as none.
    if (card && !entry->gone && is_latest) {
        out_.accept(*entry, std::move(*card), fetched_at, kept.fresh_for);
        entry->validators = {kept.url, kept.etag, kept.last_modified};
        entry->document = document;
        entry->status.found_at = kept.url;
    }
}

net::task<std::string> fetched_cards::document(entry_pointer entry)
{
    if (store_ == nullptr) {
        co_return std::string{};
    }
    auto found = co_await store_->kept(entry->id());
    const bool is_its = found && *found && (*found)->source == source_of(entry->agent->record, out_.settings());
    co_return is_its ? std::move((*found)->document) : std::string{};
}

void fetched_cards::keep(const card_entry& entry, const fetched_card& fetched)
{
    if (store_ == nullptr) {
        return;
    }
    const auto& found = entry.validators;
    store_->keep(
        {entry.id(),
         source_of(entry.agent->record, out_.settings()),
         fetched.not_modified ? std::string{} : fetched.document,
         found.url,
         found.etag,
         found.last_modified,
         {},
         fetched.fresh_for}
    );
}

}  // namespace gateway::cards
