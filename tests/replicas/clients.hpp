// Clients of replicas that write down what they asked for and what they were told.
#pragma once

#include "tests/replicas/history.hpp"
#include "tests/replicas/replica.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace replicas {

using fleet = std::vector<std::unique_ptr<replica>>;

// What all clients write into. Any thread.
class recorder {
public:
    moment now() const;
    std::string new_text() { return "http://127.0.0.1:9/" + std::to_string(++texts_); }
    void add(operation each);
    void surprise(std::string what);  // an answer that no client can explain

    // Once nobody writes any more.
    std::vector<operation> take_operations() { return std::move(operations_); }
    const std::vector<std::string>& surprises() const noexcept { return surprises_; }

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::atomic<std::uint64_t> texts_ = 0;
    std::mutex mutex_;
    std::vector<operation> operations_;
    std::vector<std::string> surprises_;
};

// A client's connections to all replicas. One thread.
class client {
public:
    client(recorder& into, const fleet& replicas, int number);

    // Whether it was carried out.
    bool write(std::size_t at, const std::string& key, std::optional<std::uint64_t> if_version);
    void remove(std::size_t at, const std::string& key, std::optional<std::uint64_t> if_version);
    void read(std::size_t at, const std::string& key, bool fresh);

    // All agents at once, each a line of its own: of these keys, which may not be there.
    void list_fresh(std::size_t at, const std::vector<std::string>& keys);

    // Something of these keys.
    void act(std::mt19937_64& random, const std::vector<std::string>& keys);

private:
    operation begin(std::size_t at, const std::string& key, deed what) const;
    void end(operation& each, const told& answer);
    void keep(operation each);

    recorder& into_;
    const fleet& replicas_;
    int number_;
    std::vector<manager> managers_;
    std::map<std::string, std::uint64_t> known_;  // versions that it has seen
};

// Clients of their own threads, from now on until the end. May be held.
class crowd {
public:
    crowd(recorder& into, const fleet& replicas, std::vector<std::string> keys, std::uint64_t seed);
    ~crowd() { stop(); }
    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;

    void hold(bool still) { held_ = still; }
    void stop();

    static constexpr int size = 10;

private:
    void run(int number, std::uint64_t seed);

    recorder& into_;
    const fleet& replicas_;
    std::vector<std::string> keys_;
    std::atomic<bool> held_ = false;
    std::atomic<bool> over_ = false;
    std::vector<std::thread> threads_;
};

// What there is at a replica: plain agents/list, or fresh. Nothing: it does not say.
std::optional<std::map<std::string, content>> list_of(const replica& at, bool fresh = false);

// All of agents/changes.
std::vector<trail_line> trail_of(const replica& at);

}  // namespace replicas
