// What goes wrong with replicas and their store, one thing after the other, in an order that a seed decides.
#pragma once

#include "tests/replicas/clients.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/postgres_cluster.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace replicas {

// A database that replicas share: each reaches it by a proxy of its own, the last one by PgBouncer too.
class shared_store {
public:
    explicit shared_store(std::size_t replicas, std::vector<std::string> settings = {});

    std::string url(std::size_t replica) const;
    test_support::fault_proxy& proxy(std::size_t replica) { return *proxies_[replica]; }
    std::size_t proxies() const noexcept { return proxies_.size(); }

    // Of the agents that the database has, by id.
    std::map<std::string, std::uint64_t> versions() const { return versions_in(database, name); }
    static std::map<std::string, std::uint64_t>
    versions_in(const test_support::postgres_cluster& database, const std::string& name);

    test_support::postgres_cluster database;
    test_support::postgres_pooler pooler{database};
    const std::string name{database.make_database()};

private:
    std::vector<std::unique_ptr<test_support::fault_proxy>> proxies_;
};

enum class fault : std::uint8_t {
    kill,
    stop,
    reload,
    clock,
    // Those of a store that is shared.
    cut,
    silence,
    silent_requests,
    silent_answers,
    delay,
    database_killed,
    database_frozen,
    pooler_killed,
    pooler_frozen,
};

std::string_view name(fault which) noexcept;

class trouble {
public:
    // `store`: null if the replicas share none. The longest stop of a replica.
    trouble(const fleet& replicas, shared_store* store, std::uint64_t seed, std::chrono::milliseconds longest_stop);

    // The next fault, from its begin to its end.
    fault cause();

private:
    std::chrono::milliseconds between(std::chrono::milliseconds least, std::chrono::milliseconds most);
    void of_replica(fault which, replica& of);
    void of_link(fault which, std::size_t of);
    void of_store(fault which);

    const fleet& replicas_;
    shared_store* store_;
    std::mt19937_64 random_;
    std::chrono::milliseconds longest_stop_;
    std::vector<fault> order_;
    std::size_t next_ = 0;
};

}  // namespace replicas
