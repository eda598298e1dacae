#include "gateway/cards/card_plane.hpp"

#include "gateway/model/agent_record.hpp"
#include "gateway/model/call_address.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <random>
#include <utility>

namespace gateway::cards {
namespace {

using core::errc;

bool fetchable(const model::agent_entry& agent)
{
    return agent.record.card.empty() && agent.upstream != nullptr;
}

}  // namespace

card_plane::card_plane(
    net::loop& control,
    card_source& source,
    card_maker& maker,
    const config::card_settings& settings,
    const core::logger& log,
    clock now
)
    : loop_{control},
      source_{source},
      maker_{maker},
      settings_{settings},
      log_{log},
      now_{std::move(now)},
      schedule_{settings, std::random_device{}()}
{
    loop_.timers().add(*this);
}

void card_plane::set_agents(std::shared_ptr<const model::snapshot> now)
{
    public_base_ = now->public_base;
    for (auto each = slots_.begin(); each != slots_.end();) {
        const auto found = now->agents.find(each->first);
        const auto next = std::next(each);
        if (found == now->agents.end() || found->second->record != each->second->agent->record) {
            drop(each);
        }
        each = next;
    }
    for (const auto& [id, agent] : now->agents) {
        if (!slots_.contains(id)) {
            add(id, agent, /*recall=*/keeper_ != nullptr);
        }
    }
}

void card_plane::set_agent(const std::string& id, std::shared_ptr<const model::agent_entry> agent)
{
    const auto there = slots_.find(id);
    if (there != slots_.end()) {
        if (agent != nullptr && agent->record == there->second->agent->record) {
            return;
        }
        if (agent != nullptr && model::same_session(there->second->agent->record, agent->record)) {
            there->second->agent = std::move(agent);
            return;
        }
        drop(there);
    }
    if (agent != nullptr) {
        add(id, std::move(agent), /*recall=*/false);
    }
}

void card_plane::add(const std::string& id, std::shared_ptr<const model::agent_entry> agent, bool recall)
{
    auto made = std::make_shared<slot>();
    made->agent = std::move(agent);
    const bool fetched = fetchable(*made->agent);
    made->recalled = !recall || !fetched;
    slots_.emplace(id, made);
    if (!made->agent->record.card.empty()) {
        written_.push_back(made);
        make_next();
    }
    if (fetched) {
        schedule_.add(id, now_());
    }
}

void card_plane::drop(model::string_map<slot_pointer>::iterator which)
{
    which->second->gone = true;
    publish_(which->first, nullptr);
    schedule_.remove(which->first);
    slots_.erase(which);
}

void card_plane::on_sweep(core::steady_time)
{
    const auto now = now_();
    for (auto room = settings_.background; room > fetching_ && !stopped_; --room) {
        const auto id = schedule_.take(now);
        if (!id) {
            return;
        }
        // A sweep resumes no coroutine, and a fetch may begin at once.
        net::asio::post(loop_.get_executor(), [this, which = slots_.at(*id)] { start_fetch(which); });
    }
}

net::task<model::card_answer> card_plane::obtain(std::string id)
{
    const auto found = slots_.find(id);
    if (found == slots_.end()) {
        co_return model::card_answer{nullptr, model::card_use::miss, core::caller_error(errc::agent_not_found)};
    }
    const auto which = found->second;
    if (!which->agent->record.card.empty()) {
        if (!which->state.card) {
            co_await settled(id);
        }
        if (which->gone) {
            co_return co_await obtain(std::move(id));
        }
        co_return written_answer(*which);
    }
    if (which->agent->upstream == nullptr) {
        while (which->making && !which->session_trouble && !which->gone) {
            co_await wait_for_change(which);
        }
        if (which->gone) {
            co_return co_await obtain(std::move(id));
        }
        co_return obtain_from_session(*which);
    }
    if (!which->recalled || which->recalling) {
        co_await recall(which);
    }
    if (which->gone) {
        co_return co_await obtain(std::move(id));  // it has changed meanwhile, or has been removed
    }
    switch (decide(which->state, now_(), settings_)) {
        case card_decision::serve:
            co_return model::card_answer{which->state.card, model::card_use::hit, std::nullopt};
        case card_decision::serve_and_refresh:
            start_fetch(which);
            co_return model::card_answer{which->state.card, model::card_use::stale, which->state.failure};
        case card_decision::serve_stale:
            co_return model::card_answer{which->state.card, model::card_use::stale, which->state.failure};
        case card_decision::refuse:
            co_return model::card_answer{nullptr, model::card_use::negative, which->state.failure};
        case card_decision::fetch:
            break;
    }
    if (stopped_) {
        co_return model::card_answer{nullptr, model::card_use::miss, core::gateway_error(errc::draining)};
    }
    start_fetch(which);
    co_await wait_while(which, &slot::fetching);
    if (which->gone) {
        co_return co_await obtain(std::move(id));
    }
    co_return after_fetch(*which);
}

model::card_answer card_plane::after_fetch(const slot& which) const
{
    if (!which.state.failure) {
        return {which.state.card, model::card_use::miss, std::nullopt};
    }
    if (usable(which.state, now_())) {
        return {which.state.card, model::card_use::stale, which.state.failure};
    }
    return {nullptr, model::card_use::miss, which.state.failure};
}

net::task<core::result<card_status>> card_plane::refresh(std::string id)
{
    const auto found = slots_.find(id);
    if (found == slots_.end()) {
        co_return core::caller_error(errc::agent_not_found);
    }
    const auto which = found->second;
    if (!which->agent->record.card.empty()) {
        make_written(which);
        co_await wait_while(which, &slot::making);
        if (which->gone) {
            co_return co_await refresh(std::move(id));
        }
    } else if (which->agent->upstream == nullptr) {
        const auto known = obtain_from_session(*which);
        if (known.failure) {
            co_return *known.failure;
        }
    } else if (stopped_) {
        co_return core::gateway_error(errc::draining);
    } else {
        start_fetch(which);
        co_await wait_while(which, &slot::fetching);
        if (which->gone) {
            co_return co_await refresh(std::move(id));
        }
    }
    co_return which->status;
}

bool card_plane::may_be_fetched(const std::string& id)
{
    const auto found = slots_.find(id);
    if (found == slots_.end()) {
        return true;
    }
    auto& asked_at = found->second->asked_at;
    const bool may = !asked_at || now_() - *asked_at >= settings_.min_ttl;
    if (may) {
        asked_at = now_();
    }
    return may;
}

const card_status* card_plane::status(const std::string& id) const
{
    const auto found = slots_.find(id);
    return found == slots_.end() ? nullptr : &found->second->status;
}

void card_plane::start_fetch(const slot_pointer& which)
{
    if (stopped_ || std::exchange(which->fetching, true)) {
        return;
    }
    ++fetching_;
    spawn(fetch(which), "card_fetch");
}

void card_plane::spawn(net::task<> work, std::string_view what)
{
    net::asio::co_spawn(loop_.get_executor(), std::move(work), [this, what](const std::exception_ptr& bug) {
        net::log_thrown(bug, log_, what);
    });
}

net::task<> card_plane::wait_for_change(slot_pointer which)
{
    net::task_signal change;
    which->waiting.push_back(&change);
    co_await change.wait();
}

net::task<> card_plane::wait_while(slot_pointer which, bool slot::* flag)
{
    while ((*which).*flag) {
        co_await wait_for_change(which);
    }
}

net::task<> card_plane::fetch(slot_pointer which)
{
    core::result<fetched_card> outcome = core::gateway_error(errc::internal, "card: fetch ended by an exception");
    std::exception_ptr bug;
    try {
        co_await recall(which);
        outcome = co_await source_.fetch(which->agent->record, which->validators);
    } catch (...) {
        bug = std::current_exception();
    }
    which->fetching = false;
    --fetching_;
    if (!which->gone) {
        take(*which, std::move(outcome));
    } else {
        which->state.failure = core::caller_error(errc::agent_not_found);
    }
    wake(*which);
    if (bug) {
        std::rethrow_exception(bug);
    }
}

void card_plane::wake(slot& which)
{
    // Whoever waits goes on inside set() and may wait again: only those of now are woken.
    for (auto* waiter : std::exchange(which.waiting, {})) {
        waiter->set();
    }
}

void card_plane::take(slot& which, core::result<fetched_card> outcome)
{
    if (!outcome) {
        failed(which, std::move(outcome).error());
        return;
    }
    take_card(which, std::move(*outcome));
}

void card_plane::take_card(slot& which, fetched_card fetched)
{
    if (fetched.not_modified && which.state.card) {
        ++which.status.fetched;
        ++which.status.not_modified;
        succeed(which.state, which.state.card->bytes, now_(), fetched.fresh_for, settings_);
        which.status.card = which.state.card;
        which.status.failure.reset();
        publish_(which.agent->record.id, which.state.card);
        schedule_.succeeded(which.agent->record.id, now_(), fetched.fresh_for);
        keep(which, fetched);
        return;
    }
    which.status.signature = std::move(fetched.made.signature);
    accept(which, std::move(fetched.made), now_(), fetched.fresh_for);
    schedule_.succeeded(which.agent->record.id, now_(), fetched.fresh_for);
    ++which.status.fetched;
    which.validators = fetched.validators;
    which.status.found_at = fetched.validators.url;
    keep(which, fetched);
}

void card_plane::accept(slot& which, made_card made, core::steady_time fetched_at, core::duration fresh_for)
{
    const auto& record = which.agent->record;
    const auto to = std::move(made.address);
    take_made(which, std::move(made), fetched_at, fresh_for);
    note_address(which, to.problem);
    if (record.trust == core::card_trust::same_origin && find_path_) {
        find_path_(record.id, to.url);
    }
}

void card_plane::take_made(slot& which, made_card made, core::steady_time fetched_at, core::duration fresh_for)
{
    const bool changed = !which.state.card || !model::same_bytes(*which.state.card->bytes, *made.bytes);
    if (changed) {
        change(which.state, loop_.http_date());
    }
    // Else the same object, so that memory holds the text once.
    succeed(which.state, changed ? made.bytes : which.state.card->bytes, fetched_at, fresh_for, settings_);
    which.status.card = which.state.card;
    which.status.failure.reset();
    if (changed) {
        ++which.status.changes;
        log_published(which, made);
        which.status.facts = std::move(made.facts);
        which.status.words = std::move(made.words);
        which.status.problems = std::move(made.problems);
        which.status.signed_by = std::move(made.signed_by);
    }
    publish_(which.agent->record.id, which.state.card);
}

void card_plane::failed(slot& which, core::error why)
{
    constexpr std::size_t longest = 1000;  // of a detail, which may quote what the agent sent
    why.detail = model::secrets_of(which.agent->record).apply(why.detail, longest);
    log_.write(
        core::log_level::warn,
        "card_fetch_failed",
        {{"agent", which.agent->record.id}, {"code", core::name(why.code)}, {"detail", why.detail}}
    );
    auto& counts = which.status.failures;
    const auto known =
        std::find_if(counts.begin(), counts.end(), [&](const auto& each) { return each.first == why.code; });
    if (known == counts.end()) {
        counts.emplace_back(why.code, 1);
    } else {
        ++known->second;
    }
    if (find_path_ && !which.state.card && model::answers(why.code)) {
        find_path_(which.agent->record.id, {});
    }
    which.status.failure = why;
    fail(which.state, std::move(why), now_());
    schedule_.failed(which.agent->record.id, now_());
}

}  // namespace gateway::cards
