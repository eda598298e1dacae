// The calls of one session on one program: what is sent, and who reads what comes of it. On the thread of one loop.
#pragma once

#include "core/agent.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/mcp/programs/program.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/calls/exchange_book.hpp"
#include "mcp/protocol/version.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace gateway::mcp::programs {

// For mcp::book_settings::note, of an agent's server.
std::function<void(std::string_view why)> note_to(const core::logger& log, std::string agent);

class program_calls {
public:
    static constexpr core::duration longest = std::chrono::hours{1};  // of one call, whatever comes meanwhile

    // `spoken`: with the program, as far as that is known.
    program_calls(std::unique_ptr<program> on, ::mcp::era spoken, ::mcp::book_settings settings)
        : program_{std::move(on)},
          spoken_{spoken},
          book_{std::move(settings)}
    {
    }

    // The messages of the call go to `reader`; null: nowhere, and questions and log messages go to others. Fails with overloaded, body_too_large
    // and upstream_reset: nothing was sent.
    core::result<::mcp::call_number> begin(
        const ::mcp::client_message& request,
        const std::shared_ptr<table::text_queue>& reader,
        core::steady_time now
    );

    // A request of the gateway's own: nobody reads the answer. Fails in the same ways.
    core::result<> begin_own(const ::mcp::client_message& request, core::steady_time now);

    // The reader of this call is the client's only stream for it: that it leaves cancels the call (MCP 2026-07-28,
    // basic/patterns/cancellation).
    void cancel_if_left(table::text_queue& reader, ::mcp::call_number call);

    // A client's notification or answer; an answer that nobody waits for is dropped. Fails in the same ways.
    core::result<> tell(const ::mcp::client_message& message, core::steady_time now);

    // A client's `notifications/cancelled`.
    void cancel(const ::mcp::client_message& notification);

    // A message to the program, if it takes it: one that does not read has worse troubles. `method`: empty: an answer.
    void send(std::string text, std::string_view method = {});
    void refuse(std::string_view question) { send(book_.refuse_question(question)); }

    // Refuses the questions that wait there or have not arrived.
    void refuse_those_of(table::text_queue& reader);

    // The message, unless it was for the reader of a call that goes on: what is unasked, or the answer to a call, whose reader has
    // the text. The answer to `initialize` is for the caller of this to judge and to pass on, unless it is a failure.
    std::optional<::mcp::delivery> take(std::string_view text, core::steady_time now, bool listening);
    std::optional<::mcp::delivery> take(const ::mcp::read_part& message, core::steady_time now, bool listening);
    std::optional<::mcp::delivery> take_too_long(std::string_view beginning, std::size_t limit, core::steady_time now);

    // Calls that were silent for `silence`, or take longer than any may, fail with upstream_timeout, and the program is told.
    // `initialize` is not among them, nor are `events/stream` and, of the modern era, `subscriptions/listen`. What the program has asked and nobody has
    // answered for `silence` is refused.
    void time_out(core::steady_time now, core::duration silence);

    // No answer will come to this one, if it is not over. True: it is `initialize`.
    bool fail(::mcp::call_number call, const core::error& why);

    // All of them, and the program is another's.
    std::unique_ptr<program> fail(const core::error& why);

    // Gives up `initialize`, which goes to another program, without an answer to the caller.
    std::unique_ptr<program> abandon();

    // See mcp::exchange_book::next_question().
    std::int64_t next_question() const noexcept { return book_.next_question(); }

    // `subscriptions/listen` ends if callers get other resources now: the program is told, and it fails.
    void agent_changed(const core::agent& before, const core::agent& now);

    // Those of one of the clients that share the program (client_message::client): the program is told, and they fail.
    void end_those_of(std::uint64_t client, const core::error& why);
    std::size_t count_of(std::uint64_t client) const noexcept;
    std::size_t count_of(std::string_view principal) const { return book_.in_flight_of(principal); }
    std::set<std::uint64_t> clients() const;  // that have any

    void set_era(::mcp::era spoken) noexcept { spoken_ = spoken; }
    void ready(std::string_view version) { program_->ready(version); }
    bool listen() { return program_->listen(); }
    bool is_held() const noexcept { return program_->is_held(); }
    bool any() const noexcept { return !calls_.empty(); }
    std::size_t count() const noexcept { return calls_.size(); }
    std::size_t own() const noexcept;

    // `initialize` waits for its answer since then.
    std::optional<core::steady_time> opens_since() const;

private:
    struct live_call {
        std::weak_ptr<table::text_queue> reader;
        core::steady_time began;
        core::steady_time heard;  // of it, either way
        bool initialize;
        bool listens;  // and may be silent, in the modern era
        bool streams;  // `events/stream`
        bool own;      // the gateway's
        std::uint64_t client;
    };

    // Those for which `ends` holds: the program is told for this reason, and they fail.
    template <class Predicate>
    void end_if(Predicate ends, std::string_view reason, const core::error& why);

    // `text` tells the program so; empty: it is not told.
    void give_up(::mcp::call_number call, std::string text);
    std::optional<::mcp::delivery> deliver(::mcp::delivery told, core::steady_time now);

    std::unique_ptr<program> program_;
    ::mcp::era spoken_;
    ::mcp::exchange_book book_;
    std::map<::mcp::call_number, live_call> calls_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::programs
