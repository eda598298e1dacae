// A child and what it tells, and what is left of children in this process.
#pragma once

#include "net/process/child_process.hpp"
#include "tests/support/script.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace net_test {

using net::child_command;
using net::child_end;
using net::child_process;

inline child_command shell(const std::string& script)
{
    return {.program = "sh", .arguments = {"-c", script}, .environment = {{"PATH", "/usr/bin:/bin"}}, .directory = {}};
}

inline std::size_t open_descriptors()
{
    const std::filesystem::directory_iterator all{"/proc/self/fd"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Children of this process, zombies included.
inline std::size_t children()
{
    std::size_t count = 0;
    for (const auto& each : std::filesystem::directory_iterator{"/proc/self/task"}) {
        std::ifstream list{each.path() / "children"};
        std::string id;
        while (list >> id) {
            ++count;
        }
    }
    return count;
}

inline bool alive(pid_t id)
{
    return ::kill(id, 0) == 0;
}

class watched final : public net::child_observer {
public:
    watched() { std::signal(SIGPIPE, SIG_IGN); }

    void wrote(std::string_view bytes) override
    {
        out.append(bytes);
        if (on_output) {
            on_output();
        }
    }
    void complained(std::string_view bytes) override { complaints += bytes.size(); }
    void ended(child_end how) override { end = how; }

    void start(const child_command& command, net::child_limits limits = {})
    {
        auto made = child_process::start(loop, command, *this, limits);
        REQUIRE_MESSAGE(made.has_value(), made.error().detail);
        child = std::move(*made);
    }

    bool wait_until(const std::function<bool()>& reached)
    {
        const auto by = std::chrono::steady_clock::now() + test_support::patience;
        while (!reached() && std::chrono::steady_clock::now() < by) {
            loop.io().restart();
            loop.io().run_for(std::chrono::milliseconds{5});
        }
        return reached();
    }

    child_end wait()
    {
        REQUIRE(wait_until([this] { return end.has_value(); }));
        return *end;
    }

    net::loop loop;
    std::unique_ptr<child_process> child;
    std::string out;
    std::size_t complaints = 0;
    std::optional<child_end> end;
    std::function<void()> on_output;
};

}  // namespace net_test
