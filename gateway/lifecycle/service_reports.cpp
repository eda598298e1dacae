#include "gateway/lifecycle/service_reports.hpp"

#include <algorithm>
#include <utility>

namespace gateway::lifecycle {
namespace {

constexpr std::chrono::seconds status_pause{10};
constexpr std::chrono::milliseconds retry_pause{500};    // after a word that was withheld or could not be sent
constexpr std::chrono::milliseconds shortest_pause{10};  // a watchdog of microseconds does not occupy the loop

// A shorter watchdog would ask more of the loops than that they sweep.
constexpr std::chrono::microseconds shortest_silence = 5 * net::sweep_interval;

std::string counted(std::size_t number, const std::string& what)
{
    return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

}  // namespace

std::string status_of(const service_state& now)
{
    if (now.stopping) {
        return "Stops after the calls in flight; " + counted(now.connections, "connection") + " open.";
    }
    if (now.waits) {
        return "Waits for its store, and answers 503.";
    }
    return "Serves " + counted(now.agents, "agent") + '.' +
           (now.rejected ? " The latest configuration was rejected; the previous one is in use." : "");
}

bool all_ran(std::span<const net::heartbeat* const> loops, core::steady_time since)
{
    return std::ranges::all_of(loops, [since](const auto* each) { return each->last() >= since; });
}

service_reports::service_reports(net::executor on, const core::logger& log)
    : log_{log},
      timer_{on}
{
}

void service_reports::set_manager(const net::service_manager& manager)
{
    if (!manager.socket.empty()) {
        notifier_ = std::make_unique<net::service_notifier>(manager.socket);
        watchdog_ = manager.watchdog;
    }
}

void service_reports::serving(subject what)
{
    subject_ = std::move(what);
    if (notifier_ == nullptr) {
        return;
    }
    if (!stopping_) {
        told_ = status();
        tell(net::ready_message(told_));
    }
    wait(until_next());
}

void service_reports::reloading(bool begins)
{
    if (notifier_ == nullptr || stopping_ || !subject_.state) {
        return;
    }
    if (begins) {
        tell(net::reloading_message(std::chrono::steady_clock::now()));
    } else {
        told_ = status();
        tell(net::ready_message(told_));
    }
    retry_soon();
}

void service_reports::stopping()
{
    stopping_ = true;
    if (notifier_ != nullptr) {
        told_ = status();
        tell(net::stopping_message(told_));
        retry_soon();
    }
}

void service_reports::succeeded_by(pid_t process)
{
    if (notifier_ != nullptr) {
        send(net::main_process_message(process));
    }
    end();
}

void service_reports::end()
{
    notifier_ = nullptr;
    timer_.cancel();
}

std::chrono::microseconds service_reports::turn(core::steady_time now)
{
    if (notifier_ == nullptr) {
        return pause();
    }
    if (!unsent_.empty()) {
        tell(std::exchange(unsent_, {}));
    }
    // Not past a state that waits: that one has an older status, and would replace this one.
    if (auto latest = status(); unsent_.empty() && latest != told_ && send(net::status_message(latest))) {
        told_ = std::move(latest);
    }
    const bool heard = watchdog_ == std::chrono::microseconds::zero() || tell_watchdog(now);
    return heard ? until_next() : std::min<std::chrono::microseconds>(pause(), retry_pause);
}

// False: it has not heard that the loops run, and has to hear it before its time is over.
bool service_reports::tell_watchdog(core::steady_time now)
{
    if (all_ran(subject_.loops, now - std::max(watchdog_ / 2, shortest_silence))) {
        withheld_ = false;
        return send(net::watchdog_message);
    }
    if (!std::exchange(withheld_, true)) {
        log_.write(core::log_level::error, "watchdog_withheld", {{"reason", "a thread is stuck"}});
    }
    return false;
}

std::string service_reports::status() const
{
    auto now = subject_.state ? subject_.state() : service_state{};
    now.stopping = stopping_;
    return status_of(now);
}

std::chrono::microseconds service_reports::pause() const noexcept
{
    return watchdog_ > std::chrono::microseconds::zero()
               ? std::max<std::chrono::microseconds>(watchdog_ / 2, shortest_pause)
               : status_pause;
}

std::chrono::microseconds service_reports::until_next() const noexcept
{
    return unsent_.empty() ? pause() : std::min<std::chrono::microseconds>(pause(), retry_pause);
}

void service_reports::retry_soon()
{
    if (!unsent_.empty()) {
        wait(until_next());
    }
}

// A state that could not be sent is sent again at the next turn, unless another one has come.
void service_reports::tell(std::string message)
{
    unsent_ = send(message) ? std::string{} : std::move(message);
}

bool service_reports::send(std::string_view message)
{
    const auto sent = notifier_->send(message);
    if (!sent && !std::exchange(failed_, true)) {
        log_.write(core::log_level::warn, "notify_failed", {{"reason", sent.error().detail}});
    }
    return sent.has_value();
}

void service_reports::wait(std::chrono::microseconds time)
{
    timer_.expires_after(time);
    timer_.async_wait([this](net::error_code cancelled) {
        if (!cancelled && notifier_ != nullptr) {
            wait(turn(std::chrono::steady_clock::now()));
        }
    });
}

}  // namespace gateway::lifecycle
