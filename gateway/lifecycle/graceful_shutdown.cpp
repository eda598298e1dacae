#include "gateway/lifecycle/graceful_shutdown.hpp"

#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/signal_set.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <ranges>
#include <utility>

namespace gateway::lifecycle {
namespace {

// After a hand-over, for operators whose answers are on their way, such as the one that asked for it.
constexpr core::duration last_answers{2000};

constexpr core::duration time_to_log{200};

void each_of(worker::worker_list workers, void (worker::worker::*what)())
{
    for (const auto& each : workers) {
        each->post([what](worker::worker& on) { (on.*what)(); });
    }
}

// The last set that lets go of a signal gives it its default back, and one that comes while the rest is being taken down would
// kill a process that ends in order. This set stays; it is made at the end because it costs descriptors.
void keep_signals_from_killing()
{
    static auto* const nobody = new net::asio::io_context;
    static auto* const kept = new net::asio::signal_set{*nobody, SIGINT, SIGTERM, SIGUSR2};
    static_cast<void>(kept);
}

}  // namespace

graceful_shutdown::graceful_shutdown(parts all)
    : all_{std::move(all)},
      drain_{all_.control.get_executor()},
      programs_drain_{all_.control.get_executor()},
      late_{all_.control.get_executor()}
{
}

void graceful_shutdown::begin()
{
    if (std::exchange(begun_, true)) {
        drain_.cut_short();
        programs_drain_.cut_short();
        bound(core::duration{0});
    } else if (!handed_over_) {
        start();
    }
}

void graceful_shutdown::begin_handed_over()
{
    if (!begun_ && !std::exchange(handed_over_, true)) {
        start();
    }
}

// A disk that does not answer, for example, holds up the store's thread for ever.
void graceful_shutdown::bound(core::duration longest)
{
    if (!owns_process_) {
        return;
    }
    late_.expires_after(longest + overtime);
    late_.async_wait([this](net::error_code cancelled) {
        if (cancelled || complete_) {
            return;
        }
        all_.log.write(
            core::log_level::error,
            "shutdown_timed_out",
            {{"connections", worker::open_connections(all_.workers)}}
        );
        late_.expires_after(time_to_log);
        late_.async_wait([](net::error_code) { std::_Exit(EXIT_SUCCESS); });
    });
}

void graceful_shutdown::start()
{
    const auto& times = all_.settings.timeouts;
    bound(std::max({times.drain_delay, times.drain_idle, times.drain, times.drain_streams}));
    net::asio::co_spawn(all_.control.get_executor(), run(), [this](const std::exception_ptr& bug) {
        net::log_thrown(bug, all_.log, "shutdown");
    });
}

net::task<> graceful_shutdown::run()
{
    if (!handed_over_) {
        all_.reports.stopping();
    } else {
        programs_finish_ = true;
        net::asio::co_spawn(all_.control.get_executor(), finish_programs(), [this](const std::exception_ptr& bug) {
            programs_finish_ = false;
            net::log_thrown(bug, all_.log, "shutdown");
        });
    }
    co_await finish_callers();
    std::ranges::for_each(all_.planes | std::views::reverse, &model::plane::stop);
    all_.end_fetches();
    const std::function<bool()> empty = [this] { return worker::open_connections(all_.workers) == 0; };
    co_await drain_.wait(empty, net::never);
    const std::function<bool()> no_programs = [this] { return !programs_finish_ && !has_programs(); };
    co_await drain_.wait(no_programs, net::never);
    if (!handed_over_ && others_.no_programs) {
        others_.no_programs();
    }
    co_await all_.send_last(drain_);
    if (handed_over_) {
        const std::function<bool()> no_operator = [this] { return !all_.addresses.busy(); };
        co_await drain_.wait(no_operator, std::chrono::steady_clock::now() + last_answers);
    }
    all_.addresses.end();
    const std::function<bool()> nothing_left = [this] { return idle(); };
    co_await drain_.wait(nothing_left, net::never);
    each_of(all_.workers, &worker::worker::stop);
    complete_ = true;
    if (owns_process_) {
        keep_signals_from_killing();
    }
    all_.signals.cancel();
    late_.cancel();
    all_.reports.end();
    all_.addresses.certificates().stop();
    all_.close_connections();
    all_.control.stop();
}

// Calls and streams have their times; who still has a connection then is cut.
net::task<> graceful_shutdown::finish_callers()
{
    const auto& times = all_.settings.timeouts;
    const auto begun = std::chrono::steady_clock::now();
    each_of(all_.workers, &worker::worker::announce_end);
    all_.log.write(core::log_level::info, "draining", {{"connections", worker::open_connections(all_.workers)}});
    const std::function<bool()> nothing = [] { return false; };
    const std::function<bool()> empty = [this] { return worker::open_connections(all_.workers) == 0; };
    const auto closes = handed_over_ ? begun : begun + times.drain_delay;
    co_await drain_.wait(nothing, closes);
    all_.addresses.end_traffic();
    if (handed_over_) {
        all_.addresses.end_operators();
    }
    each_of(all_.workers, &worker::worker::drain);
    co_await drain_.wait(empty, begun + times.drain_streams);
    each_of(all_.workers, &worker::worker::end_streams);
    co_await drain_.wait(empty, begun + std::max(times.drain, times.drain_streams));
    cut_ = worker::open_connections(all_.workers);
    each_of(all_.workers, &worker::worker::abort);
}

// Another process waits for it: the calls that this one's programs have end in their time, everything else of them now.
net::task<> graceful_shutdown::finish_programs()
{
    const auto& times = all_.settings.timeouts;
    const auto begun = std::chrono::steady_clock::now();
    const std::function<bool()> nothing = [] { return false; };
    // Until then connections that stand may bring another call.
    co_await programs_drain_.wait(nothing, begun + std::min(times.drain_idle, times.drain));
    const std::function<bool()> no_calls = [this] { return all_.calls() == 0; };
    co_await programs_drain_.wait(no_calls, begun + times.drain);
    all_.sessions.stop();
    all_.programs.stop();
    const std::function<bool()> gone = [this] { return !has_programs(); };
    co_await programs_drain_.wait(gone, net::never);
    if (others_.no_programs) {
        others_.no_programs();
    }
}

bool graceful_shutdown::has_programs() const
{
    return all_.sessions.busy() || all_.programs.busy() || (others_.busy && others_.busy());
}

bool graceful_shutdown::idle() const
{
    return std::ranges::none_of(all_.planes, [](const auto* each) { return each->busy(); }) &&
           !(others_.tells && others_.tells());
}

}  // namespace gateway::lifecycle
