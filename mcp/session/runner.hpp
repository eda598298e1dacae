// Owns a session_runner.
#pragma once

#include "mcp/session/session_runner.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace mcp {

class runner {
public:
    // See session_runner::make() and the functions of session_runner.
    runner(
        net::loop& on,
        runner_settings settings,
        transport_factory make,
        runner_observer& observer,
        const core::logger& log,
        std::string name
    )
        : runner_{session_runner::make(on, std::move(settings), std::move(make), observer, log, std::move(name))}
    {
    }

    void begin() { runner_->begin(); }
    void demand() { runner_->demand(); }
    void stop() { runner_->stop(); }
    void refresh() { runner_->refresh(); }
    void set_walk(core::duration interval) { runner_->set_walk(interval); }
    void look(std::function<void(const look_result&)> then) { runner_->look(std::move(then)); }
    void end_look() { runner_->end_look(); }
    transport_factory lane() { return runner_->lane(); }
    session_state state() const noexcept { return runner_->state(); }
    session_reason reason() const noexcept { return runner_->reason(); }
    const std::string& detail() const noexcept { return runner_->detail(); }
    bool has_begun() const noexcept { return runner_->has_begun(); }
    bool needs_operator() const noexcept { return runner_->needs_operator(); }
    const std::shared_ptr<const server_lists>& latest() const noexcept { return runner_->latest(); }
    std::optional<core::steady_time> ready_since() const noexcept { return runner_->ready_since(); }
    std::optional<core::steady_time> next_attempt() const noexcept { return runner_->next_attempt(); }
    const runner_counts& counts() const noexcept { return runner_->counts(); }
    std::optional<era> spoken() const noexcept { return runner_->spoken(); }
    bool fell_back() const noexcept { return runner_->fell_back(); }
    std::size_t queued() const noexcept { return runner_->queued(); }

private:
    std::shared_ptr<session_runner> runner_;
};

}  // namespace mcp
