// The messages of two gateways at a hand-over, over a socket pair: framed messages of bounded size. Each is a byte that says what
// it is, four bytes with the length of its content, the largest first, and the content. Pure; the bytes may come in any pieces.
#pragma once

#include "core/clock.hpp"
#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::upgrade {

// The numbers are what is sent: they stay what they are, and one that is not known is passed over.
enum class handover_word : std::uint8_t {
    // The gateway that runs says:
    hello = 1,        // which addresses its sockets are for
    ticket_keys = 2,  // of TLS sessions
    session_key = 3,  // this one, records, changes, deliveries: of a store in memory
    record = 4,
    change = 5,
    delivery = 6,
    counts = 8,        // of hand-overs
    store_closed = 9,  // the next gateway may open it; all that is passed has been
    settled = 10,      // the service manager knows of the next gateway
    free = 11,         // no program of an MCP server runs any more
    tasks = 12,        // whose they are, of those that are learnt after `ready`
    lists = 13,        // of an MCP server
    document = 14,     // of a store in memory
    unwritten = 15,    // a document that the store has not taken; also after `ready`, and then of the next one, too
    // The next one says:
    prepared = 64,  // its configuration is valid
    ready = 65,     // it accepts connections
    failed = 66,    // it ends, and says why
};

struct handover_message {
    handover_word word{};
    std::string content;

    friend bool operator==(const handover_message&, const handover_message&) = default;
};

// Bytes of one content: a definition of an agent and a notification are far smaller.
inline constexpr std::size_t largest_handover_content = 64 * 1024 * 1024;

// Bytes of all that one gateway passes to the next, so that a full memory is not filled twice.
inline constexpr std::size_t largest_handover = 512 * 1024 * 1024;

// Fails with too_large: the content is longer than `largest`.
core::result<std::string> framed(const handover_message& message, std::size_t largest = largest_handover_content);

// Reads messages from bytes in the pieces in which they come.
class handover_reader {
public:
    explicit handover_reader(std::size_t largest = largest_handover_content)
        : largest_{largest}
    {
    }

    void add(std::string_view bytes) { bytes_.append(bytes); }

    // The next whole message; nothing: it has not come whole. Fails with too_large as soon as a length says so, and from then on.
    core::result<std::optional<handover_message>> next();

private:
    std::size_t largest_;
    std::string bytes_;  // not read yet, behind `taken_`
    std::size_t taken_ = 0;
};

// A content of numbers and texts, in an order that both sides know.
class handover_writer {
public:
    handover_writer& number(std::uint64_t value);
    handover_writer& text(std::string_view value);
    std::string take() { return std::move(content_); }

private:
    std::string content_;
};

// After one that is not there as expected, all are 0 and empty, and good() is false.
class handover_content {
public:
    explicit handover_content(std::string_view content)
        : rest_{content}
    {
    }

    std::uint64_t number();
    std::string text();

    // All that was asked for was there. What follows is of a newer version, and is passed over.
    bool good() const noexcept { return good_; }
    bool empty() const noexcept { return rest_.empty(); }

private:
    std::string_view piece(std::size_t size);

    std::string_view rest_;
    bool good_ = true;
};

// The running gateway's end of the socket pair to the one that is to take its place: messages, each with a time limit. On the control
// loop's thread.
class handover_channel {
public:
    handover_channel(net::executor on, core::descriptor end);

    // Each of these fails with upstream_timeout if the other side takes or says nothing for as long, with upstream_reset if it has
    // ended, with draining if cancel() was called, and with too_large. After send() has failed nothing more is sent: the other side may
    // have got a part of a frame, and would read what came next as the rest of it. What it says is heard all the same.
    net::task<core::result<>> send(std::string frame, core::duration silence);
    net::task<core::result<handover_message>> receive(core::duration silence);

    // After the last receive(): `told` hears each later message, until the other side ends or takes nothing any more.
    void listen(std::function<void(const handover_message& message)> told);

    // Messages under way fail, and so do later ones.
    void cancel();

private:
    using stream = net::asio::local::stream_protocol;

    void begin_wait(core::duration silence);
    void end_wait();
    core::error failure(const net::error_code& why) const;
    void hear_on();

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
    std::function<void(const handover_message& message)> told_;
};

}  // namespace gateway::upgrade
