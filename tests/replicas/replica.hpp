// One gateway of several that share a store: its own binary, on ports that it keeps over restarts, its log in a file. The thread that
// starts it outlives it.
#pragma once

#include "core/json/json.hpp"
#include "tests/flow/child_process.hpp"
#include "tests/support/failing_calls.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace replicas {

using namespace std::chrono_literals;

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

class replica {
public:
    // `more`: the rest of its configuration file, with agents.
    replica(std::string name, std::string store, std::string more, std::string program = CARDEA_BIN);
    ~replica();
    replica(const replica&) = delete;
    replica& operator=(const replica&) = delete;

    const std::string& name() const noexcept { return name_; }
    std::uint16_t traffic() const noexcept { return traffic_; }
    std::uint16_t admin() const noexcept { return admin_; }

    void start();
    void kill();  // SIGKILL, and its end is waited for
    void signal(int number) { process_->signal(number); }
    std::optional<int> wait(std::chrono::milliseconds timeout = 15s) { return process_->wait(timeout); }

    pid_t id() const { return process_->id(); }

    // Its wall clock is so much wrong from now on, over restarts too. Without effect under a sanitizer.
    void move_clock(std::chrono::seconds by);

    // Rises before it is killed, and again when it has been started: an odd one is none. Any thread, as all below.
    int life() const noexcept { return life_; }

    // The status of GET /readyz, or another page; 0: nobody answers.
    unsigned status_of(std::string_view page = "/readyz", std::chrono::milliseconds timeout = 1s) const;
    bool wait_until_ready(std::chrono::milliseconds timeout = 15s) const;

    // Everything that it has logged, in all its lives.
    std::string log() const { return test_support::read_whole(folder_.file("log")); }
    std::size_t logged(std::string_view event) const;  // how often

private:
    test_support::scratch_directory folder_;
    std::string name_;
    std::string program_;
    std::uint16_t traffic_;
    std::uint16_t admin_;
    std::unique_ptr<test_support::failing_calls> clock_;
    std::unique_ptr<flow::child_process> process_;
    std::atomic<int> life_ = 0;
};

// What came of a method of `/rpc`.
struct told {
    core::json result;  // null: an error
    std::string
        code;  // of the error; empty: there is none; "lost": no answer came; "unreached": there was nobody to ask
};

// Keeps its connection. One thread.
class manager {
public:
    explicit manager(std::uint16_t admin_port, std::chrono::milliseconds patience = 10s)
        : port_{admin_port},
          patience_{patience}
    {
    }

    // `params` is JSON.
    told ask(std::string_view method, std::string_view params);
    void leave() { connection_.reset(); }

private:
    std::uint16_t port_;
    std::chrono::milliseconds patience_;
    std::optional<test_support::http_client> connection_;
};

// Asked a hundred times a second; how long it took, or nothing if it was too long.
template <class Question>
std::optional<std::chrono::milliseconds> wait_until(Question question, std::chrono::milliseconds limit)
{
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
        const bool so = question();
        const auto time =
            std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
        if (so) {
            return time;
        }
        if (time > limit) {
            return std::nullopt;
        }
        std::this_thread::sleep_for(10ms);
    }
}

}  // namespace replicas
