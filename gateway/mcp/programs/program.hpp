// One program that a server is, or a connection to one that speaks HTTP+SSE, from its turn to start until it is gone. It belongs to one session, or waits for one. On the
// thread of its loop.
#pragma once

#include "core/error.hpp"
#include "mcp/protocol/read_text.hpp"
#include "mcp/session/start_turns.hpp"
#include "mcp/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::mcp::programs {

// Never from within a call of the program's own functions; each may let go of the program.
class program_observer {
public:
    virtual ~program_observer() = default;

    // The program runs: the waiting messages have been sent.
    virtual void connected() {}

    // Tells whoever called listen() that what the server says unasked is heard from now on, or it does not offer that.
    virtual void listening() {}

    // One line; valid during the call.
    virtual void said(std::string_view text) = 0;

    // A long one that was read elsewhere; valid during the call.
    virtual void said_long(const ::mcp::read_text& what) { said(what.text); }

    // A line that was longer than a message may be: its beginning.
    virtual void said_too_much(std::string_view beginning, std::size_t limit) = 0;

    // No answer will come to the call with this number of send().
    virtual void failed(std::uint64_t call, core::error why) = 0;

    // The program has ended by itself, or could not be started. The last report.
    virtual void ended(core::error why) = 0;
};

class program final : private ::mcp::transport_observer {
public:
    // The limits of messages that wait until it runs.
    static constexpr std::size_t most_waiting = 64;
    static constexpr std::size_t most_waiting_bytes = 16 * 1024 * 1024;  // of all; the only one may be longer

    // The program starts when its turn comes; without turns at once, such as a connection. `held`: not before let_start().
    program(::mcp::start_place turns, const ::mcp::transport_factory& make, bool held = false);

    // Once, if it is held.
    void let_start();
    bool is_held() const noexcept { return stage_ == stage::held; }

    // Null: nobody, as it is at first.
    void set_observer(program_observer* observer) noexcept { observer_ = observer; }

    // One message with its method (empty: an answer), which waits until the program runs; `call`: a number for failed(), 0: it is no
    // request. Fails with overloaded (it does not read, or too much waits for its start), body_too_large and upstream_reset (it
    // has ended).
    core::result<> send(std::string text, std::string_view method, std::uint64_t call);

    // Sends a message whose id and name are known.
    core::result<> send(::mcp::outgoing message);

    // The dialect, where it has to be known for a message to be sent; before the first one.
    void settle(const ::mcp::dialect& speaks) { wire_->settle(speaks); }

    // The program serves, in this version: the next start need not wait for it any more.
    void ready(std::string_view version);

    // Hears what the server says unasked over streamable HTTP; listening() follows. False: what is said there comes by itself.
    bool listen();

    bool runs() const noexcept { return stage_ == stage::runs; }
    bool ended() const noexcept { return stage_ == stage::ended; }

    // Ends it in order; nothing is observed any more. `gone` is called once, not from within this call, when nothing of it is left.
    // `silently`: a server over HTTP is not told.
    void stop(std::function<void()> gone, bool silently = false);

private:
    enum class stage : unsigned char { held, waits, opens, runs, stops, ended };

    void open();

    void connected() override;
    void received(std::string_view text) override;
    void received_long(const ::mcp::read_text& what) override;
    void refused(std::string_view beginning, std::size_t limit) override;
    void failed(std::uint64_t request, core::error why, std::optional<::mcp::era> says) override;
    void session_lost() override;
    void stream_changed(::mcp::stream_news news) override;
    void lost(core::error why) override;
    void closed() override;

    std::unique_ptr<::mcp::transport> wire_;
    ::mcp::start_place turns_;
    program_observer* observer_ = nullptr;
    stage stage_ = stage::held;
    std::vector<::mcp::outgoing> waiting_;  // until it runs
    std::size_t waiting_bytes_ = 0;
    std::function<void()> gone_;
    std::unique_ptr<::mcp::start_turns::turn> turn_;
};

}  // namespace gateway::mcp::programs
