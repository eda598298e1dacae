#include "net/loop/dns_cache.hpp"

#include <boost/asio/error.hpp>

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

namespace net {
namespace {

// Between two walks over all names.
constexpr core::duration least_pause{200};

error_code error_of(int outcome)
{
    switch (outcome) {
        case EAI_AGAIN:
            return asio::error::host_not_found_try_again;
        case EAI_MEMORY:
            return asio::error::no_memory;
        case EAI_SYSTEM:
            return last_error();
        default:
            return asio::error::host_not_found;
    }
}

}  // namespace

name_answer system_lookup(const std::string& host)
{
    ::addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    ::addrinfo* list = nullptr;
    const int outcome = ::getaddrinfo(host.c_str(), nullptr, &wanted, &list);
    name_answer found;
    if (outcome != 0) {
        found.ec = error_of(outcome);
        return found;
    }
    const std::unique_ptr<::addrinfo, void (*)(::addrinfo*)> owned{list, ::freeaddrinfo};
    for (const auto* each = list; each != nullptr; each = each->ai_next) {
        tcp::endpoint address;
        if (each->ai_addrlen <= address.capacity()) {
            std::memcpy(address.data(), each->ai_addr, each->ai_addrlen);
            address.resize(each->ai_addrlen);
            found.addresses.push_back(address.address());
        }
    }
    if (found.addresses.empty()) {
        found.ec = asio::error::host_not_found;
    }
    return found;
}

dns_cache::dns_cache(const name_settings& settings, name_lookup lookup)
    : settings_{settings},
      lookup_{std::move(lookup)},
      next_tick_{core::steady_time::max().time_since_epoch().count()}
{
}

dns_cache::~dns_cache() = default;

dns_cache::known_name
dns_cache::follow(const std::string& host, const std::shared_ptr<dns_listener>& follower, core::steady_time now)
{
    const std::lock_guard guard{mutex_};
    auto& name = names_.try_emplace(host, settings_).first->second;
    if (std::ranges::find(name.followers, follower) == name.followers.end()) {
        name.followers.push_back(follower);
    }
    if (!name.record.addresses()) {
        look_up(host, name, now);
    }
    return {name.record.addresses(), name.families, name.record.late_at()};
}

void dns_cache::unfollow(const std::string& host, const dns_listener& follower)
{
    const std::lock_guard guard{mutex_};
    if (const auto found = names_.find(host); found != names_.end()) {
        std::erase_if(found->second.followers, [&](const auto& each) { return each.get() == &follower; });
        forget_if_unused(found);
    }
}

void dns_cache::leave(const dns_listener& follower)
{
    const std::lock_guard guard{mutex_};
    for (auto each = names_.begin(); each != names_.end();) {
        const auto name = each++;
        std::erase_if(name->second.followers, [&](const auto& one) { return one.get() == &follower; });
        forget_if_unused(name);
    }
}

// A lookup under way finds the name gone at its end.
void dns_cache::forget_if_unused(entries::iterator name)
{
    if (name->second.followers.empty() && name->second.where != stage::running) {
        names_.erase(name);
    }
}

// A name of which no address is known: somebody waits.
void dns_cache::look_up(const std::string& host, entry& name, core::steady_time now)
{
    if (name.where == stage::running) {
        return;
    }
    if (name.where == stage::idle) {
        name.record.begin(now);
        name.where = stage::queued;
        expect(name.record.due());
    }
    if (std::ranges::find(new_names_, host) == new_names_.end()) {
        new_names_.push_back(host);
    }
    start_threads();
}

void dns_cache::refresh(const std::string& host, entry& name, core::steady_time now)
{
    name.record.begin(now);
    name.where = stage::queued;
    known_names_.push_back(host);
}

void dns_cache::expect(core::steady_time due) noexcept
{
    const auto when = due.time_since_epoch().count();
    if (when < next_tick_.load(std::memory_order_relaxed)) {
        next_tick_.store(when, std::memory_order_relaxed);
    }
}

void dns_cache::tick(core::steady_time now)
{
    const auto too_early = [&] { return now.time_since_epoch().count() < next_tick_.load(std::memory_order_relaxed); };
    if (too_early()) {
        return;
    }
    const std::lock_guard guard{mutex_};
    if (too_early()) {
        return;  // another loop was quicker
    }
    auto next = core::steady_time::max();
    for (auto& [host, name] : names_) {
        const auto change = name.record.pass(now);
        failures_.fetch_add(change.late ? 1 : 0, std::memory_order_relaxed);
        if (change.gone) {
            publish(host, name, asio::error::host_not_found_try_again);
        }
        if (change.look_up) {
            refresh(host, name, now);
        }
        next = std::min(next, name.record.due());
    }
    next = std::max(next, now + least_pause);
    next_tick_.store(next.time_since_epoch().count(), std::memory_order_relaxed);
    start_threads();
}

bool dns_cache::has_work() const noexcept
{
    return !new_names_.empty() || (!known_names_.empty() && refreshes_ < most_refreshes);
}

void dns_cache::start_threads()
{
    const auto work = new_names_.size() + std::min(known_names_.size(), most_refreshes - refreshes_);
    while (threads_ < most_lookups && threads_ - running_ < work) {
        try {
            std::thread{[self = shared_from_this()] { self->serve(); }}.detach();
        } catch (const std::system_error&) {
            break;  // no thread can be started
        }
        ++threads_;
    }
    if (threads_ == 0) {
        for (const auto& host : std::exchange(new_names_, {})) {
            ended(host, {asio::error::no_descriptors, {}});
        }
        for (const auto& host : std::exchange(known_names_, {})) {
            ended(host, {asio::error::no_descriptors, {}});
        }
    }
}

// Empty: there is none.
std::string dns_cache::next_name(bool& refreshes)
{
    while (has_work()) {
        refreshes = new_names_.empty();
        auto& line = refreshes ? known_names_ : new_names_;
        auto host = std::move(line.front());
        line.pop_front();
        const auto found = names_.find(host);
        // A name may have waited in both lines, or has no followers any more.
        if (found != names_.end() && found->second.where == stage::queued) {
            found->second.where = stage::running;
            return host;
        }
    }
    return {};
}

void dns_cache::serve()
{
    std::unique_lock lock{mutex_};
    bool refreshes = false;
    for (auto host = next_name(refreshes); !host.empty(); host = next_name(refreshes)) {
        ++running_;
        refreshes_ += refreshes ? 1 : 0;
        lock.unlock();
        auto answer = lookup_(host);
        lock.lock();
        --running_;
        refreshes_ -= refreshes ? 1 : 0;
        ended(host, std::move(answer));
    }
    --threads_;
}

void dns_cache::ended(const std::string& host, name_answer answer)
{
    const auto found = names_.find(host);
    if (found == names_.end()) {
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    auto& name = found->second;
    name.where = stage::idle;
    if (!answer.ec) {
        if (name.record.found(std::move(answer.addresses), now)) {
            publish(host, name, {});
        }
    } else {
        failures_.fetch_add(name.record.failed(now) ? 1 : 0, std::memory_order_relaxed);
        if (!name.record.addresses()) {
            publish(host, name, answer.ec);
        }
    }
    expect(name.record.due());
    forget_if_unused(found);
}

void dns_cache::publish(const std::string& host, const entry& name, error_code ec) const
{
    for (const auto& each : name.followers) {
        each->tell(host, ec, name.record.addresses());
    }
}

}  // namespace net
