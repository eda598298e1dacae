// What the gateway tells the service manager that started it: it serves, reads its configuration, stops, and its loops run. Without
// a NOTIFY_SOCKET nothing is told. On the control loop's thread.
#pragma once

#include "core/log.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"
#include "net/process/service_manager.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gateway::lifecycle {

// What the sentence for operators is made of.
struct service_state {
    std::size_t agents = 0;
    std::size_t connections = 0;  // of callers, open
    bool stopping = false;
    bool waits = false;     // for its store
    bool rejected = false;  // the latest configuration
};

// "Serves 3 agents." Pure.
std::string status_of(const service_state& now);

// Whether each of these loops has run at or after `since`. Pure.
bool all_ran(std::span<const net::heartbeat* const> loops, core::steady_time since);

class service_reports {
public:
    // `log` outlives the reports.
    service_reports(net::executor on, const core::logger& log);

    // Before serving(); without it nothing is told.
    void set_manager(const net::service_manager& manager);

    struct subject {
        std::function<service_state()> state;
        std::vector<const net::heartbeat*> loops;  // each has to run; they live until end()
    };

    // From now on the gateway serves, and the watchdog is told so while all loops run.
    void serving(subject what);

    // A reading of the configuration begins, or has ended.
    void reloading(bool begins);

    // The drain begins: later reloads are not told.
    void stopping();

    // Another process serves from now on: the manager is told which, and by that process of all that follows.
    void succeeded_by(pid_t process);

    // Nothing is told any more.
    void end();

    // What happens when the timer is due: what could not be sent is sent again, a changed status is told, and the watchdog hears of
    // loops that all ran. Returns the time until the next turn.
    std::chrono::microseconds turn(core::steady_time now);

private:
    using timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>;

    std::string status() const;
    std::chrono::microseconds pause() const noexcept;       // while all is well
    std::chrono::microseconds until_next() const noexcept;  // shorter while a state is unsent
    void retry_soon();
    void tell(std::string message);
    bool tell_watchdog(core::steady_time now);
    bool send(std::string_view message);
    void wait(std::chrono::microseconds time);

    const core::logger& log_;
    timer timer_;
    std::unique_ptr<net::service_notifier> notifier_;  // null: nobody listens
    std::chrono::microseconds watchdog_{0};
    subject subject_;
    std::string unsent_;  // the latest state, while it could not be sent
    std::string told_;    // the latest status
    bool stopping_ = false;
    bool failed_ = false;    // once; it was logged
    bool withheld_ = false;  // the latest word to the watchdog
};

}  // namespace gateway::lifecycle
