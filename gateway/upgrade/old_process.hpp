// The first steps of a process that may take another one's place, before there is a second thread.
#pragma once

#include "config/expand.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/cli/command_line.hpp"
#include "gateway/lifecycle/listeners.hpp"
#include "gateway/reload/configuration.hpp"
#include "gateway/upgrade/handover.hpp"
#include "gateway/upgrade/upgrade_messages.hpp"
#include "gateway/upgrade/upgrade_state.hpp"
#include "net/loop/loop.hpp"
#include "net/process/service_manager.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::upgrade {

// The gateway whose place this process takes at a hand-over: what it passes, and what it is told. Before run() the calls block; from
// then on all is on the control loop's thread. If the old process ends at any time, this process goes on alone.
class old_process {
public:
    // `end`: of the socket pair, as the old process passed it.
    explicit old_process(core::descriptor end);

    // Waits for its first word: for which addresses its sockets are. Nothing: it has ended. Fails with internal: it is none that
    // this process understands.
    core::result<std::optional<handover_hello>> greet();

    // Says that the configuration is valid, and waits until the store is closed. What was passed.
    core::result<upgrade_state> prepare(const handover_prepared& self);

    // The outcome of what this process tries to begin: it serves, or it ends and says why. What it cannot be told any more is nothing.
    void say_ready() { say(handover_word::ready, {}); }
    void say_failed(const std::string& why) { say(handover_word::failed, why); }

    struct observers {
        std::function<void(const model::known_tasks& tasks)>
            tasks;  // it has learnt of these meanwhile; any number of times
        std::function<void(const store::kept_document& document)> contained;  // the same
        std::function<void()> settled;  // the service manager knows of this process
        std::function<void()> free;     // its programs are gone; after `settled`
    };

    // After say_ready(): `settled` and `free` are called once, on that loop, also if the old process has ended.
    void watch(net::loop& on, observers told);

    // After watch(): it contains this too, for what it still drains. Once it has ended nothing is told.
    void tell_contained(const store::kept_document& document);

    // Whether free() has still to be told.
    bool expected() const noexcept { return static_cast<bool>(told_.free); }

    // Nothing is told any more.
    void stop();

private:
    using stream = net::asio::local::stream_protocol;

    core::result<std::optional<handover_message>> hear();
    void say(handover_word word, std::string content);
    void send(std::string_view frame);
    void read_on();
    void take(const handover_message& message);
    void tell_settled();
    void tell_free();

    core::descriptor end_;
    handover_reader reader_;
    observers told_;
    std::unique_ptr<net::asio::basic_stream_socket<stream, net::executor>> socket_;
    std::array<char, 16 * 1024> piece_{};
};

struct taken_over {
    std::unique_ptr<old_process> from;    // null: there is none
    std::optional<handover_hello> hello;  // nothing: it has ended already
    upgrade_state state;
};

// `end`: of the socket pair; not open: there is no old process. Fails as old_process::greet() does.
core::result<taken_over> greet_old_process(core::descriptor end);

// With those of the inherited sockets whose addresses are still the same, which the others leave. Those that the service manager passed
// stay, whatever the configuration says.
reload::configuration read_configuration_for(
    lifecycle::inherited_listeners& sockets,
    const std::optional<handover_hello>& hello,
    const cli::command_line& asked,
    const config::environment& variables
);

// Tells the old process that this configuration is valid, and takes what it passes. Nothing was touched before that it still has: if
// this process ends, that one goes on. Fails with config_invalid: an agent cannot be used.
core::result<> take_over(taken_over& all, const reload::configuration& configured);

// The addresses that the sockets are for; nothing for a socket of the service manager.
reload::inherited_addresses written_addresses(
    reload::inherited_addresses written,
    const lifecycle::inherited_listeners& sockets,
    const std::optional<handover_hello>& hello
);

// How this process was started, so that another one can be started as it was: `words` are its arguments, the program's name first.
// `store`: the path of its file; empty: it is in memory.
handover_source
how_started(const std::vector<std::string>& words, const net::service_manager& manager, const std::string& store);

}  // namespace gateway::upgrade
