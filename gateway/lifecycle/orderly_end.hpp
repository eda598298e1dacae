// The orderly end of the gateway: what was begun goes on for its time, then everything is taken down, each part after what uses it.
// On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/access/credential_verifier.hpp"
#include "gateway/cards/card_keeper.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/cards/card_thread.hpp"
#include "gateway/lifecycle/listeners.hpp"
#include "gateway/lifecycle/service_reports.hpp"
#include "gateway/monitors/breaker_watch.hpp"
#include "gateway/monitors/overload_watch.hpp"
#include "gateway/push/push_plane.hpp"
#include "gateway/reload/reload.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/threads/drain_wait.hpp"
#include "gateway/tokens/token_plane.hpp"
#include "gateway/wiring/caller_sessions.hpp"
#include "gateway/wiring/task_keeper.hpp"
#include "gateway/wiring/tracing.hpp"
#include "gateway/wiring/worker_settings.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/loop.hpp"

#include <boost/asio/basic_signal_set.hpp>
#include <boost/asio/basic_waitable_timer.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace gateway::lifecycle {

// Callers' connections that are open. Any thread.
std::size_t open_connections(wiring::worker_list workers) noexcept;

class orderly_end {
public:
    using signal_set = net::asio::basic_signal_set<net::executor>;

    // What the gateway consists of. All of it outlives the end.
    struct parts {
        net::loop& control;
        const config::settings& settings;
        const core::logger& log;
        wiring::worker_list workers;
        listeners& addresses;
        service_reports& reports;
        reload::reloader& reloads;
        sessions::session_plane& sessions;
        wiring::caller_sessions& callers;
        monitors::breaker_watch& breakers;
        monitors::overload_watch& overload;
        wiring::tracing& traces;
        cards::card_plane& cards;
        cards::card_thread& card_work;
        access::credential_verifier& credentials;
        tokens::token_plane& tokens;
        push::push_plane& deliveries;
        cards::card_keeper& keeper;
        wiring::task_keeper& tasks;
        std::unique_ptr<net::curl_fetcher>& fetcher;
        signal_set& signals;
    };

    explicit orderly_end(parts all);

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
    void stop_planes();
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
