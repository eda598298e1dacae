// The orderly end of the gateway: what was begun goes on for its time, then everything is taken down, each part after what uses it.
// On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/access/credential_verifier.hpp"
#include "gateway/breaker_watch.hpp"
#include "gateway/caller_sessions.hpp"
#include "gateway/cards/card_keeper.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/cards/card_thread.hpp"
#include "gateway/drain_wait.hpp"
#include "gateway/listeners.hpp"
#include "gateway/overload_watch.hpp"
#include "gateway/push/push_plane.hpp"
#include "gateway/reload.hpp"
#include "gateway/service_reports.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/task_keeper.hpp"
#include "gateway/tokens/token_plane.hpp"
#include "gateway/tracing.hpp"
#include "gateway/worker_settings.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/loop.hpp"

#include <boost/asio/basic_signal_set.hpp>

#include <cstddef>
#include <functional>
#include <memory>

namespace gateway {

// Callers' connections that are open. Any thread.
std::size_t open_connections(worker_list workers) noexcept;

class orderly_end {
public:
    using signal_set = net::asio::basic_signal_set<net::executor>;

    // What the gateway consists of. All of it outlives the end.
    struct parts {
        net::loop& control;
        const config::settings& settings;
        const core::logger& log;
        worker_list workers;
        listeners& addresses;
        service_reports& reports;
        reloader& reloads;
        sessions::session_plane& sessions;
        caller_sessions& callers;
        breaker_watch& breakers;
        overload_watch& overload;
        tracing& traces;
        cards::card_plane& cards;
        cards::card_thread& card_work;
        access::credential_verifier& credentials;
        tokens::token_plane& tokens;
        push::push_plane& deliveries;
        cards::card_keeper& keeper;
        task_keeper& tasks;
        std::unique_ptr<net::curl_fetcher>& fetcher;
        signal_set& signals;
    };

    explicit orderly_end(parts all);

    // SIGTERM and SIGINT have handlers, and are to have them until the process is gone.
    void keep_signals() noexcept { keeps_signals_ = true; }

    // The first call begins the end, a second one makes it abrupt.
    void begin();

    // The same, but another process has taken this one's place and accepts already; that is no call of begin().
    void begin_handed_over();

    // Before begin(): the end waits for what else is under way. `told` hears when the programs of MCP servers are gone.
    void set_also(std::function<bool()> busy, std::function<void()> told);

    bool begun() const noexcept { return begun_ || handed_over_; }

    // Everything is taken down, and the loop stops.
    bool complete() const noexcept { return complete_; }

    // Connections that were in use when time was over.
    std::size_t cut() const noexcept { return cut_; }

private:
    void start();
    net::task<> run();
    net::task<> finish_callers();
    void stop_planes();
    bool idle() const;

    parts all_;
    drain_wait drain_;
    bool keeps_signals_ = false;
    std::function<bool()> also_busy_;
    std::function<void()> programs_gone_;
    bool begun_ = false;
    bool handed_over_ = false;
    bool complete_ = false;
    std::size_t cut_ = 0;
};

}  // namespace gateway
