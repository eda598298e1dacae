// Callers that notice every lost call while gateways restart. A call is lost that is refused, reset, answered with another status than
// 200, or with another's answer; a stream, that does not end with its last chunk. No caller repeats anything.
#pragma once

#include "tests/support/plain_agent.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace flow {

// The numbers of the environment for the long form (./dev handover).
std::uint64_t number_from(const char* variable, std::uint64_t otherwise);

// Asked a hundred times a second.
bool comes_true(const std::function<bool()>& question, std::chrono::seconds limit);

// Of the agent: answers a call with its own number, and a stream with events that take a while.
bool serve_numbered(const test_support::plain_exchange& call);

class restart_load {
public:
    // Calls agent `a` of the gateway at this port, a tenth of the calls on connections of their own, with so many streams beside them.
    restart_load(std::uint16_t port, std::uint64_t streams);
    ~restart_load() { stop(); }
    restart_load(const restart_load&) = delete;
    restart_load& operator=(const restart_load&) = delete;

    bool wait_for_calls(std::uint64_t count);

    // Once; says what was lost, and fails the test then.
    void check_nothing_lost();

private:
    void call(std::uint64_t first);
    void stream(std::uint64_t number);
    void lose(const std::string& what);
    void stop();

    std::uint16_t port_;
    std::uint64_t streams_wanted_;
    std::atomic<bool> over_ = false;
    std::atomic<std::uint64_t> calls_ = 0;
    std::atomic<std::uint64_t> connections_ = 0;
    std::atomic<std::uint64_t> streams_ = 0;
    std::mutex mutex_;
    std::vector<std::string> lost_;
    std::vector<std::thread> threads_;
};

}  // namespace flow
