#include "net/upstream/upstream_pool.hpp"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>

namespace net {

double random_share()
{
    thread_local std::minstd_rand dice{std::random_device{}()};
    return std::uniform_real_distribution<double>{0, 1}(dice);
}

upstream_pool::upstream_pool(loop& owner, pool_settings settings)
    : loop_{owner},
      settings_{settings}
{
    loop_.timers().add(*this);
}

// They keep themselves until they are closed.
upstream_pool::~upstream_pool()
{
    for (const auto& [key, origin] : origins_) {
        origin->close();
    }
}

const std::shared_ptr<http2_origin>& upstream_pool::origin_of(const upstream_target& target)
{
    auto& origin = origins_[target.key];
    if (origin == nullptr) {
        origin = std::make_shared<http2_origin>(loop_, settings_);
    }
    return origin;
}

agent_lease upstream_pool::take_idle(const upstream_target& target)
{
    if (target.http2) {
        return origin_of(target)->take(target);
    }
    const auto found = idle_.find(target.key);
    if (found == idle_.end()) {
        return nullptr;
    }
    auto& [list, trust, used] = found->second;
    const auto now = loop_.now();
    while (!list.empty()) {
        const auto& life = list.back()->life();
        if (!life.announced() && !trust.holds(life.idle_for(now))) {
            return nullptr;
        }
        auto last = std::move(list.back());
        list.pop_back();
        --idle_count_;
        // Bytes that nobody asked for are as bad as an end: they would be taken for the next answer. Both may have come
        // along with the call that wants this connection.
        last->side().look();
        if (!last->side().ended() && last->side().received().empty() && last->usable(now) && last->suits(target)) {
            last->note_use(now);
            return last;
        }
        discard(std::move(last));
    }
    return nullptr;
}

agent_lease upstream_pool::make(std::shared_ptr<const upstream_target> target, std::uint64_t whose)
{
    if (target->http2) {
        return origin_of(*target)->make(std::move(target), whose);
    }
    auto made = std::make_unique<upstream_connection>(loop_, std::move(target), settings_.head_limit);
    made->life() = connection_life{settings_.life, loop_.now(), settings_.random()};
    return made;
}

void upstream_pool::give_back(agent_lease lease)
{
    auto* const kept = lease->to_keep();
    if (kept == nullptr) {
        return discard(std::move(lease));
    }
    lease.release();
    std::unique_ptr<upstream_connection> connection{kept};
    auto& side = connection->side();
    connection->set_listener(nullptr);
    const auto now = loop_.now();
    const bool lives = connection->life().rest(now, connection->head().keep_alive_for) && connection->usable(now);
    if (closed_ || !lives || side.ended() || side.writing() || side.write_error() || !side.received().empty() ||
        settings_.idle_connections == 0) {
        discard(std::move(connection));
        return;
    }
    auto& place = idle_[connection->target().key];
    auto& list = place.list;
    place.used = now;
    if (list.size() >= settings_.idle_connections) {
        // The one that has rested longest goes: calls may not trust it any more.
        discard(std::move(list.front()));
        list.erase(list.begin());
        --idle_count_;
    }
    connection->rest();
    side.arm();  // its end is noticed while it waits
    list.push_back(std::move(connection));
    ++idle_count_;
}

void upstream_pool::discard(agent_lease connection)
{
    connection->set_listener(nullptr);
    if (!connection->target().http2) {
        return connection->close();
    }
    std::unique_ptr<http2_side> side{static_cast<http2_side*>(connection.release())};
    auto& origin = side->origin();
    origin.give_back(std::move(side));
}

std::size_t upstream_pool::idle() const noexcept
{
    auto all = idle_count_;
    for (const auto& [key, origin] : origins_) {
        all += origin->idle();
    }
    return all;
}

void upstream_pool::drop_idle(std::string_view key)
{
    if (const auto origin = origins_.find(std::string(key)); origin != origins_.end()) {
        origin->second->drop_idle();
    }
    const auto found = idle_.find(std::string(key));
    if (found == idle_.end()) {
        return;
    }
    idle_count_ -= found->second.list.size();
    for (auto& each : found->second.list) {
        discard(std::move(each));
    }
    idle_.erase(found);
}

void upstream_pool::close()
{
    closed_ = true;
    for (auto& [key, origin] : origins_) {
        origin->close();
    }
    for (auto& [key, resting] : idle_) {
        auto& list = resting.list;
        while (!list.empty()) {
            discard(std::move(list.back()));
            list.pop_back();
        }
    }
    idle_count_ = 0;
}

void upstream_pool::on_sweep(core::steady_time now)
{
    for (auto at = origins_.begin(); at != origins_.end();) {
        auto& origin = *at->second;
        origin.sweep(now);
        at = origin.unused() && now - origin.used() > settings_.life.max_age ? origins_.erase(at) : std::next(at);
    }
    for (auto at = idle_.begin(); at != idle_.end();) {
        auto& [list, trust, used] = at->second;
        for (std::size_t i = list.size(); i-- > 0;) {
            auto& each = *list[i];
            if (each.side().ended()) {
                trust.record_ended(each.life().idle_for(now));
            } else {
                trust.record_kept(each.life().idle_for(now));
            }
            if (each.side().ended() || !each.side().received().empty() || !each.usable(now)) {
                discard(std::move(list[i]));
                list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
                --idle_count_;
            }
        }
        at = list.empty() && now - used > settings_.life.max_age ? idle_.erase(at) : std::next(at);
    }
}

}  // namespace net
