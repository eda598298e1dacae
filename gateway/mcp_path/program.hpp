// One program that a server is, or a connection to one that speaks HTTP+SSE, from its turn to start until it is gone. It belongs to one session, or waits for one. On the
// thread of its loop.
#pragma once

#include "core/error.hpp"
#include "mcp/session/start_turns.hpp"
#include "mcp/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::mcp_path {

// Never from within a call of the program's own functions; each may let go of the program.
class program_observer {
public:
    virtual ~program_observer() = default;

    // One line; valid during the call.
    virtual void said(std::string_view text) = 0;

    // A line that was longer than a message may be: its beginning.
    virtual void said_too_much(std::string_view beginning, std::size_t limit) = 0;

    // No answer will come to the call with this number of send().
    virtual void failed(std::uint64_t call, core::error why) = 0;

    // It has ended by itself, or could not be started. The last thing that is told.
    virtual void ended(core::error why) = 0;
};

class program final : private mcp::transport_observer {
public:
    // It starts when its turn comes; null: at once, as what is no program of this machine. `turns` outlives it.
    program(mcp::start_turns* turns, const mcp::transport_factory& make);

    // Null: nobody, as it is at first.
    void set_observer(program_observer* observer) noexcept { observer_ = observer; }

    // One message with its method (empty: an answer), which waits until the program runs; `call`: a number for failed(), 0: it is no
    // request. Fails with overloaded (it does not read), body_too_large and
    // upstream_reset (it has ended).
    core::result<> send(std::string text, std::string_view method, std::uint64_t call);

    // It serves, in this version: what starts behind it need not wait for it any more.
    void ready(std::string_view version);

    bool runs() const noexcept { return stage_ == stage::runs; }
    bool ended() const noexcept { return stage_ == stage::ended; }

    // Ends it in order; nothing is observed any more. `gone` is called once, not from within this call, when nothing of it is left.
    void stop(std::function<void()> gone);

private:
    enum class stage : unsigned char { waits, opens, runs, stops, ended };

    void open();

    void connected() override;
    void received(std::string_view text) override;
    void refused(std::string_view beginning, std::size_t limit) override;
    void failed(std::uint64_t request, core::error why, std::optional<mcp::era> says) override;
    void session_lost() override;
    void stream_changed(mcp::stream_news /*news*/) override {}
    void lost(core::error why) override;
    void closed() override;

    std::unique_ptr<mcp::transport> wire_;
    program_observer* observer_ = nullptr;
    stage stage_ = stage::waits;
    std::vector<mcp::outgoing> waiting_;  // until it runs
    std::function<void()> gone_;
    std::unique_ptr<mcp::start_turns::turn> turn_;
};

}  // namespace gateway::mcp_path
