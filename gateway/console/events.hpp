// GET /events of the admin listener: the log, live, as an event stream. Each viewer has a bounded queue, and loses lines when it does not
// read; no other viewer and no writer of the log waits for it. On the control loop's thread.
#pragma once

#include "core/clock.hpp"
#include "gateway/console/event_filter.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/responses/answer.hpp"
#include "gateway/telemetry/live_log.hpp"
#include "net/loop/loop.hpp"
#include "net/server/caller_exchange.hpp"

#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::console {

inline constexpr std::string_view events_path = "/events";

struct event_limits {
    std::size_t viewers = 8;
    std::size_t behind = 256 * 1024;  // bytes of events that a viewer has not taken
    core::duration comment{15'000};   // after so long without an event
    std::size_t turn = 128 * 1024;    // bytes of lines that are told at once
    core::duration pause{15};         // for which lines are gathered, so that busy workers do not wake the loop
};

class event_feed final : public model::plane {
public:
    // `make_lines`: with the first viewer gets the sink for access lines that the log's level leaves out, and null after the last one; it may
    // be empty. References outlive this.
    using line_switch = std::function<void(core::log_sink* viewers)>;
    event_feed(net::loop& control, telemetry::live_log& log, line_switch make_lines, event_limits limits = {});
    ~event_feed() override;
    event_feed(const event_feed&) = delete;
    event_feed& operator=(const event_feed&) = delete;

    // Answers a request until its viewer leaves, or stop(). 400 invalid_params for a wrong filter, 503 overloaded without a place.
    net::routine<> serve(net::caller_exchange& caller);

    void stop() override;

private:
    struct viewer;
    class place;

    std::string begin(viewer& who, std::string_view last_id);
    net::routine<bool> send(viewer& who, std::string_view text);
    net::routine<> follow(viewer& who);
    void tell();
    void gather();
    void listen();
    void tell_soon();

    net::loop& control_;
    telemetry::live_log& log_;
    line_switch make_lines_;
    const event_limits limits_;
    std::list<viewer*> viewers_;
    std::uint64_t next_ = 0;  // the first line that viewers have not been told
    std::string event_;       // the one that is told
    bool stopped_ = false;
    net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>
        gathering_;
    std::shared_ptr<const bool> here_ = std::make_shared<const bool>(true);  // what was posted may come after the end
};

}  // namespace gateway::console
