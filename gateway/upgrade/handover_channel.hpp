// The running gateway's end of the socket pair to the one that is to take its place: messages, each with a time limit. On the control
// loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "gateway/upgrade/handover_messages.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace gateway::upgrade {

class handover_channel {
public:
    handover_channel(net::executor on, core::descriptor end);

    // Each of these fails with upstream_timeout if the other side takes or says nothing for as long, with upstream_reset if it has
    // ended, with draining if cancel() was called, and with too_large. After send() has failed nothing more is sent: the other side may
    // have got a part of a frame, and would read what came next as the rest of it. What it says is heard all the same.
    net::task<core::result<>> send(std::string frame, core::duration silence);
    net::task<core::result<handover_message>> receive(core::duration silence);

    // What is under way fails, and what comes later.
    void cancel();

private:
    using stream = net::asio::local::stream_protocol;

    void begin_wait(core::duration silence);
    void end_wait();
    core::error failure(const net::error_code& why) const;

    net::asio::basic_stream_socket<stream, net::executor> socket_;
    net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>
        timer_;
    handover_reader reader_;
    std::string piece_;
    std::shared_ptr<bool> turn_;  // of the wait under way
    bool expired_ = false;
    bool cancelled_ = false;
    bool mute_ = false;  // send() has failed
};

}  // namespace gateway::upgrade
