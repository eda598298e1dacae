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

    bool begun() const noexcept { return begun_; }

    // Everything is taken down, and the loop stops.
    bool complete() const noexcept { return complete_; }

    // Connections that were in use when time was over.
    std::size_t cut() const noexcept { return cut_; }

private:
    net::task<> run();
    net::task<> finish_callers();
    void stop_planes();
    bool idle() const;

    parts all_;
    drain_wait drain_;
    bool keeps_signals_ = false;
    bool begun_ = false;
    bool complete_ = false;
    std::size_t cut_ = 0;
};

}  // namespace gateway
