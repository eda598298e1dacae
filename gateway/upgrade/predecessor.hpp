// The gateway whose place this process takes at a hand-over: what it passes, and what it is told. Before run() the calls block; from
// then on all is on the control loop's thread. If the predecessor ends at any time, this process goes on alone.
#pragma once

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/upgrade/carried_state.hpp"
#include "gateway/upgrade/handover_messages.hpp"
#include "net/loop/loop.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace gateway::upgrade {

class predecessor {
public:
    // `end`: of the socket pair, as the predecessor passed it.
    explicit predecessor(core::descriptor end);

    // Waits for its first word: for which addresses its sockets are. Nothing: it has ended. Fails with internal: it is none that
    // this process understands.
    core::result<std::optional<handover_hello>> greet();

    // Says that the configuration is valid, and waits until the store is closed. What was passed.
    core::result<carried_state> prepare(const handover_prepared& self);

    // The outcome of what this process tries to begin: it serves, or it ends and says why. What it cannot be told any more is nothing.
    void say_ready() { say(handover_word::ready, {}); }
    void say_failed(const std::string& why) { say(handover_word::failed, why); }

    struct observers {
        std::function<void(const model::known_tasks& tasks)>
            tasks;                      // it has learnt of these meanwhile; any number of times
        std::function<void()> settled;  // the service manager knows of this process
        std::function<void()> free;     // its programs are gone; after `settled`
    };

    // After say_ready(): `settled` and `free` are called once, on that loop, also if the predecessor has ended.
    void watch(net::loop& on, observers told);

    // Whether free() has still to be told.
    bool expected() const noexcept { return static_cast<bool>(told_.free); }

    // Nothing is told any more.
    void stop();

private:
    using stream = net::asio::local::stream_protocol;

    core::result<std::optional<handover_message>> hear();
    void say(handover_word word, std::string content);
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

}  // namespace gateway::upgrade
