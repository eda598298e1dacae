// The graceful shutdown of the gateway: what was begun goes on for its time, then everything is taken down, each part after what uses it.
// On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/lifecycle/listeners.hpp"
#include "gateway/lifecycle/service_reports.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/threads/drain_wait.hpp"
#include "gateway/worker/worker.hpp"
#include "net/loop/loop.hpp"

#include <boost/asio/basic_signal_set.hpp>
#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>

namespace gateway::lifecycle {

class graceful_shutdown {
public:
    using signal_set = net::asio::basic_signal_set<net::executor>;

    // Everything here outlives the end.
    struct parts {
        net::loop& control;
        const config::settings& settings;
        const core::logger& log;
        worker::worker_list workers;
        listeners& addresses;
        service_reports& reports;
        std::span<model::plane* const> planes;                               // they stop from the last to the first
        model::plane& sessions;                                              // with MCP servers
        model::plane& programs;                                              // of MCP servers, for callers
        std::function<std::size_t()> calls;                                  // that programs have not answered
        std::function<void()> end_fetches;                                   // once the planes have stopped
        std::function<net::task<>(threads::drain_wait& waiting)> send_last;  // spans, and whose tasks are whose
        std::function<void()> close_connections;                             // to MCP servers
        signal_set& signals;
    };

    explicit graceful_shutdown(parts all);

    // This process is the gateway's alone. SIGTERM and SIGINT have handlers, and are to have them until it is gone. `overtime` after
    // the longest time of the drain it ends with 0, whatever still holds it up.
    void own_process() noexcept { owns_process_ = true; }
    static constexpr core::duration overtime{4500};

    // The first call begins the end, a second one makes it abrupt.
    void begin();

    // The same, but another process has taken this one's place and accepts already; that is no call of begin().
    void begin_handed_over();

    // Before begin(): what else is under way, and who hears that the programs of MCP servers are gone.
    struct others {
        std::function<bool()> busy;         // programs that this process does not know of may still run
        std::function<void()> no_programs;  // once
        std::function<bool()> tells;        // something was not sent yet
    };
    void set_others(others all) { others_ = std::move(all); }

    bool begun() const noexcept { return begun_ || handed_over_; }

    // Everything is taken down, and the loop stops.
    bool complete() const noexcept { return complete_; }

    // Connections that were in use when time was over.
    std::size_t cut() const noexcept { return cut_; }

private:
    using timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>;

    void start();
    void bound(core::duration longest);
    net::task<> run();
    net::task<> finish_callers();
    net::task<> finish_programs();
    bool has_programs() const;
    bool idle() const;

    parts all_;
    threads::drain_wait drain_;
    threads::drain_wait programs_drain_;
    bool programs_finish_ = false;  // finish_programs() goes on
    timer late_;
    bool owns_process_ = false;
    others others_;
    bool begun_ = false;
    bool handed_over_ = false;
    bool complete_ = false;
    std::size_t cut_ = 0;
};

}  // namespace gateway::lifecycle
