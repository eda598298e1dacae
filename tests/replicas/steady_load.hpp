// Calls of an agent through all replicas, a thousand a second, as a balancer would spread them: a replica gets calls from the moment at
// which it says that it is ready. What fails while the replica itself is killed does not count.
#pragma once

#include "tests/replicas/clients.hpp"
#include "tests/support/plain_agent.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace replicas {

// Of an agent that answers every call at once.
bool answer_call(const test_support::plain_exchange& call);

class steady_load {
public:
    // Calls these agents in turn; a tenth as often with a sanitizer.
    steady_load(const fleet& replicas, std::vector<std::string> agents, unsigned calls_a_second = 1000);
    ~steady_load() { stop(); }
    steady_load(const steady_load&) = delete;
    steady_load& operator=(const steady_load&) = delete;

    void stop();

    std::uint64_t calls() const noexcept { return calls_; }
    std::uint64_t excused() const noexcept { return excused_; }
    std::uint64_t failed() const noexcept { return failed_; }
    std::vector<std::string> failures() const;  // the first few

private:
    void run(const replica& at, std::chrono::microseconds pause);
    void fail(std::string what);

    std::vector<std::string> requests_;
    std::atomic<bool> over_ = false;
    std::atomic<std::uint64_t> calls_ = 0;
    std::atomic<std::uint64_t> excused_ = 0;
    std::atomic<std::uint64_t> failed_ = 0;
    mutable std::mutex mutex_;
    std::vector<std::string> failures_;
    std::vector<std::thread> threads_;
};

}  // namespace replicas
