#include "gateway/replicas/replica_plane.hpp"

#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace gateway::replicas {
namespace {

using core::errc;
using telemetry::metric;

// The facts that others act on: what a replica has applied changes all the time.
bool same_replica(const store::live_replica& a, const store::live_replica& b)
{
    return a.facts.id == b.facts.id && a.facts.name == b.facts.name && a.facts.url == b.facts.url;
}

}  // namespace

replica_plane::replica_plane(net::deadlines& by, replica_services services, feed_audience audience)
    : services_{std::move(services)},
      audience_{std::move(audience)},
      position_{services_.feed.start()},
      live_{std::make_shared<const model::replicas>(model::replicas{services_.feed.self(), {}, services_.tls})},
      live_at_{services_.now()},
      current_{services_.now()}
{
    by.add(*this);
}

void replica_plane::start()
{
    running_ = true;
    net::asio::co_spawn(services_.where, run(), [this](const std::exception_ptr& bug) {
        running_ = false;
        net::log_thrown(bug, services_.log, "replicas");
    });
}

void replica_plane::stop()
{
    stopped_ = true;
    services_.feed.wake();
    waiting_.wake();
}

void replica_plane::apply(const config::settings& /*now*/, const model::changed_settings& /*changed*/)
{
    configuration_changed_ = true;
}

net::task<> replica_plane::run()
{
    while (!stopped_) {
        if (services_.now() >= beat_at_) {
            auto beating = beat();
            co_await std::move(beating);
        }
        auto polling = poll();
        const bool more = co_await std::move(polling);
        if (more || stopped_) {
            continue;
        }
        const auto until_beat = std::chrono::duration_cast<core::duration>(beat_at_ - services_.now());
        const auto pause = std::clamp(until_beat, core::duration{0}, services_.poll);
        std::function<bool()> wait = [&feed = services_.feed, pause] {
            feed.wait(pause);
            return true;
        };
        auto waiting = thread_.ask(std::move(wait));
        co_await std::move(waiting);
    }
}

// Whether there is more to be had at once.
net::task<bool> replica_plane::poll()
{
    const auto number = ++polls_;
    const auto began = services_.now();
    std::function<core::result<store::feed_batch>()> work = [&feed = services_.feed, from = position_] {
        return feed.poll(from);
    };
    auto asked = thread_.ask(std::move(work));
    auto polled = co_await std::move(asked);
    bool more = false;
    if (polled) {
        if (std::exchange(missed_, false)) {
            complete_list_at_ = services_.now() + store::replica_life;
        }
        auto applying = apply_batch(std::move(*polled), began);
        more = co_await std::move(applying);
        if (!more) {
            complete_ = number;
            current_ = began;
        }
    } else {
        failed_ = number;
        missed_ = true;
        failure_ = std::move(polled).error();
    }
    waiting_.wake();
    co_return more;
}

// What stops somebody comes first, and who is asked for something only once it knows of the agent.
net::task<bool> replica_plane::apply_batch(store::feed_batch batch, core::steady_time began)
{
    note_reload(batch.reload);
    const auto documents = position_.documents;
    auto containing = apply_documents(store::containment_document, batch, began);
    bool taken = co_await std::move(containing);
    auto agents = apply_agents(batch);
    co_await std::move(agents);
    position_ = batch.reached;
    waiting_.wake();
    auto approving = apply_documents(store::pins_document, batch, began);
    const bool pinned = co_await std::move(approving);
    taken = taken && pinned;
    if (!taken) {
        position_.documents = documents;
    }
    auto cards = apply_cards(std::move(batch.cards));
    co_await std::move(cards);
    if (!batch.tasks.empty()) {
        audience_.tasks(batch.tasks);
    }
    if (!batch.deliveries.empty()) {
        audience_.deliveries(std::move(batch.deliveries));
    }
    take_live(std::move(batch.replicas));
    co_return batch.more || !taken;
}

net::task<> replica_plane::apply_agents(store::feed_batch& batch)
{
    if (batch.reload != store::feed_reload::none) {
        auto records = std::make_shared<const std::vector<store::record>>(std::move(batch.records));
        auto applying = audience_.agents(records);
        co_await std::move(applying);
        thread_.post([rest = std::move(records)]() mutable { rest.reset(); });  // there may be very many
        co_return;
    }
    if (batch.changes.empty()) {
        co_return;
    }
    std::unordered_map<std::string_view, const store::record*> now;
    for (const auto& each : batch.records) {
        now.emplace(each.id, &each);
    }
    auto turn = services_.turns.wait();
    co_await std::move(turn);
    for (const auto& each : batch.changes) {
        if (services_.turns.over()) {
            auto next = services_.turns.wait();
            co_await std::move(next);
        }
        const auto found = now.find(each.what.agent);
        audience_.agent(each, found == now.end() ? nullptr : found->second, each.by == services_.feed.self());
    }
}

// All that are contained at once, because nobody else is; of others a part in each turn.
net::task<bool> replica_plane::apply_documents(std::string_view kind, store::feed_batch& batch, core::steady_time began)
{
    constexpr std::size_t most = 50;
    const bool all = batch.reload != store::feed_reload::none && kind == store::containment_document;
    bool taken = true;
    std::vector<store::document_change> part;
    for (auto& each : batch.documents) {
        if (each.kind != kind) {
            continue;
        }
        part.push_back(std::move(each));
        if (part.size() == most && !all) {
            auto turn = services_.turns.wait();
            co_await std::move(turn);
            taken = audience_.documents(kind, std::exchange(part, {}), store::feed_reload::none, began) && taken;
        }
    }
    if (all || !part.empty()) {
        taken =
            audience_.documents(kind, std::move(part), all ? batch.reload : store::feed_reload::none, began) && taken;
    }
    co_return taken;
}

net::task<> replica_plane::apply_cards(std::vector<store::kept_card> cards)
{
    if (cards.empty()) {
        co_return;
    }
    auto turn = services_.turns.wait();
    co_await std::move(turn);
    for (auto& each : cards) {
        if (services_.turns.over()) {
            auto next = services_.turns.wait();
            co_await std::move(next);
        }
        audience_.card(std::move(each));
    }
}

net::task<> replica_plane::beat()
{
    if (std::exchange(configuration_changed_, false)) {
        auto hashing = services_.configuration();
        configuration_ = co_await std::move(hashing);
        if (stopped_) {
            co_return;
        }
    }
    beat_at_ = services_.now() + store::beat_interval;
    auto own = services_.own;
    own.id = services_.feed.self();
    own.configuration = configuration_;
    own.applied = position_.agents;
    std::function<core::result<>()> work = [&feed = services_.feed, own = std::move(own)] { return feed.beat(own); };
    auto asked = thread_.ask(std::move(work));
    const auto beaten = co_await std::move(asked);
    if (!beaten) {
        beat_at_ = services_.now() + std::min<core::duration>(services_.poll, store::beat_interval);
    }
}

// After an outage of the database the others, which are there, have not been able to say so for a while.
void replica_plane::take_live(std::vector<store::live_replica> live)
{
    if (services_.now() < complete_list_at_) {
        for (const auto& each : live_->live) {
            if (std::ranges::find(live, each.facts.id, [](const auto& one) { return one.facts.id; }) == live.end()) {
                live.push_back(each);
            }
        }
        std::ranges::sort(live, {}, [](const auto& each) { return std::tie(each.facts.name, each.facts.id); });
    }
    const bool same = std::ranges::equal(live, live_->live, same_replica);
    live_ = std::make_shared<const model::replicas>(model::replicas{live_->self, std::move(live), services_.tls});
    live_at_ = services_.now();
    if (!same) {
        audience_.live(live_);
    }
}

model::replicas replica_plane::listed() const
{
    auto out = *live_;
    const auto since = std::chrono::duration_cast<core::duration>(services_.now() - live_at_);
    for (auto& each : out.live) {
        each.silent += since;
        if (each.facts.id == out.self) {
            each.facts.applied = position_.agents;
        }
    }
    return out;
}

net::task<core::result<>> replica_plane::fresh()
{
    const auto wanted = polls_ + 1;
    const auto latest = services_.now() + services_.timeout;
    services_.feed.wake();
    while (complete_ < wanted) {
        if (failed_ >= wanted) {
            co_return failure_;
        }
        if (stopped_ || services_.now() >= latest) {
            co_return core::gateway_error(errc::store_unreachable, "the database has not answered in time");
        }
        set_due(std::min(due(), latest));
        auto woken = waiting_.wait();
        co_await std::move(woken);
    }
    co_return core::result<>{};
}

net::task<> replica_plane::applied(std::uint64_t version)
{
    const auto latest = services_.now() + services_.timeout;
    services_.feed.wake();
    while (position_.agents < version && !stopped_ && services_.now() < latest) {
        set_due(std::min(due(), latest));
        auto woken = waiting_.wait();
        co_await std::move(woken);
    }
}

net::task<> replica_plane::leave()
{
    leaving_ = true;
    std::function<core::result<>()> work = [&feed = services_.feed] { return feed.leave(); };
    auto asked = thread_.ask(std::move(work));
    static_cast<void>(co_await std::move(asked));  // else they are taken over a while later
    leaving_ = false;
}

void replica_plane::note_reload(store::feed_reload why)
{
    if (why == store::feed_reload::none) {
        return;
    }
    const bool lost = why == store::feed_reload::regressed;
    ++(lost ? regressed_ : trimmed_);
    services_.log.write(
        lost ? core::log_level::error : core::log_level::info,
        lost ? "store_regressed" : "store_reloaded",
        {{"applied", position_.agents}}
    );
}

void replica_plane::collect(telemetry::metrics& into) const
{
    into.add(metric("cardea_store_up"), services_.feed.is_up() ? 1.0 : 0.0);
    into.add(metric("cardea_store_notify_up"), services_.feed.is_notified() ? 1.0 : 0.0);
    into.add(metric("cardea_store_lag_seconds"), telemetry::seconds(services_.now() - current_));
    into.add(metric("cardea_store_applied_version"), position_.agents);
    into.add(metric("cardea_replicas"), std::uint64_t{live_->live.size()});
    telemetry::family reloads{metric("cardea_store_reloads_total")};
    reloads.add({{"reason", "trimmed"}}, trimmed_);
    reloads.add({{"reason", "regressed"}}, regressed_);
    into.add(std::move(reloads));
}

}  // namespace gateway::replicas
