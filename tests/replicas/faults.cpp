#include "tests/replicas/faults.hpp"

#include <algorithm>
#include <csignal>
#include <thread>
#include <utility>

namespace replicas {
namespace {

using std::this_thread::sleep_for;
using test_support::direction_faults;
using test_support::proxy_faults;

constexpr std::size_t faults_of_one = 4;
constexpr std::size_t all_faults = 13;

direction_faults silent()
{
    direction_faults none;
    none.limit = 0;
    none.then = test_support::at_limit::silence;
    return none;
}

proxy_faults faults_of(fault which)
{
    proxy_faults out;
    if (which == fault::cut) {
        out.down = true;
    } else if (which == fault::delay) {
        out.to_agent.latency = 200ms;
        out.to_caller.latency = 200ms;
    }
    if (which == fault::silence) {
        out.accepts = test_support::on_accept::silence;
    }
    if (which == fault::silence || which == fault::silent_requests) {
        out.to_agent = silent();
    }
    if (which == fault::silence || which == fault::silent_answers) {
        out.to_caller = silent();
    }
    return out;
}

}  // namespace

shared_store::shared_store(std::size_t replicas, std::vector<std::string> settings)
    : database{std::move(settings)}
{
    for (std::size_t i = 0; i < replicas; ++i) {
        const auto port = i + 1 == replicas ? pooler.port() : database.port();
        proxies_.push_back(std::make_unique<test_support::fault_proxy>(port));
    }
}

std::string shared_store::url(std::size_t replica) const
{
    return database.url(name, proxies_[replica]->port());
}

std::map<std::string, std::uint64_t>
shared_store::versions_in(const test_support::postgres_cluster& database, const std::string& name)
{
    std::map<std::string, std::uint64_t> found;
    for (const auto& row : database.sql(name, "SELECT id, version FROM cardea.agents")) {
        found[row[0]] = std::stoull(row[1]);
    }
    return found;
}

std::string_view name(fault which) noexcept
{
    switch (which) {
        case fault::kill:
            return "kill -9 of a replica";
        case fault::stop:
            return "SIGSTOP of a replica";
        case fault::reload:
            return "reload";
        case fault::clock:
            return "clock";
        case fault::cut:
            return "cut";
        case fault::silence:
            return "silence";
        case fault::silent_requests:
            return "silence to the store";
        case fault::silent_answers:
            return "silence from the store";
        case fault::delay:
            return "delay of 200 ms";
        case fault::database_killed:
            return "kill -9 of PostgreSQL";
        case fault::database_frozen:
            return "SIGSTOP of PostgreSQL";
        case fault::pooler_killed:
            return "kill -9 of PgBouncer";
        case fault::pooler_frozen:
            return "SIGSTOP of PgBouncer";
    }
    return {};
}

trouble::trouble(const fleet& replicas, shared_store* store, std::uint64_t seed, std::chrono::milliseconds longest_stop)
    : replicas_{replicas},
      store_{store},
      random_{seed},
      longest_stop_{longest_stop}
{
    for (std::size_t i = 0; i < (store == nullptr ? faults_of_one : all_faults); ++i) {
        order_.push_back(static_cast<fault>(i));
    }
}

std::chrono::milliseconds trouble::between(std::chrono::milliseconds least, std::chrono::milliseconds most)
{
    return least + std::chrono::milliseconds{random_() % static_cast<std::uint64_t>((most - least).count() + 1)};
}

// Each fault once, then each again in another order.
fault trouble::cause()
{
    if (next_ % order_.size() == 0) {
        std::ranges::shuffle(order_, random_);
    }
    const auto which = order_[next_++ % order_.size()];
    const auto of = random_() % replicas_.size();
    if (which <= fault::clock) {
        of_replica(which, *replicas_[of]);
    } else if (which <= fault::delay) {
        of_link(which, of);
    } else {
        of_store(which);
    }
    return which;
}

void trouble::of_replica(fault which, replica& of)
{
    if (which == fault::kill) {
        of.kill();
        sleep_for(between(0ms, 500ms));
        of.start();
        of.wait_until_ready();
    } else if (which == fault::stop) {
        of.signal(SIGSTOP);
        sleep_for(between(100ms, longest_stop_));
        of.signal(SIGCONT);
    } else if (which == fault::reload) {
        for (int i = 0; i < 3; ++i) {
            of.signal(SIGHUP);
            sleep_for(between(0ms, 200ms));
        }
    } else {
        of.move_clock(random_() % 2 == 0 ? 60s : -60s);
    }
}

// Bytes are never lost from a connection that goes on: one that was silent ends.
void trouble::of_link(fault which, std::size_t of)
{
    auto& link = store_->proxy(of);
    link.set(faults_of(which));
    sleep_for(between(500ms, 3500ms));
    if (which != fault::delay) {
        link.set(faults_of(fault::cut));
    }
    link.heal();
}

void trouble::of_store(fault which)
{
    const auto length = between(200ms, 3500ms);
    if (which == fault::database_killed) {
        store_->database.kill();
        sleep_for(length);
        store_->database.start();
    } else if (which == fault::database_frozen) {
        store_->database.freeze();
        sleep_for(length);
        store_->database.thaw();
    } else if (which == fault::pooler_killed) {
        store_->pooler.kill();
        sleep_for(length);
        store_->pooler.start();
    } else {
        store_->pooler.freeze();
        sleep_for(length);
        store_->pooler.thaw();
    }
}

}  // namespace replicas
