// The caller's side of a relayed answer: a new head, the body in the framing of this side, the limits of an event stream
// and the comments that keep one alive. Gathers what goes out in one write. On the thread of the caller's loop.
#pragma once

#include "core/clock.hpp"
#include "gateway/relay/answer_body.hpp"
#include "gateway/relay/forwarding.hpp"
#include "gateway/relay/task_watch.hpp"
#include "mcp/calls/event_gate.hpp"
#include "net/server/caller_exchange.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::relay {

class answer_writer {
public:
    // Both outlive the writer. `tasks` sees the head and the body of the answer.
    answer_writer(net::caller_exchange& caller, task_watch& tasks) noexcept;

    // Before the head, if the length of the body is not known.
    void leave_length_open() noexcept;

    // Before the body, if it is a stream of events in no content coding. As event_stream::event_stream().
    void expect_events(std::uint64_t limit, core::duration keep_alive);

    // Before the body, if it is messages of gRPC: instead of comments the connection gives signs of life. 0: none.
    void expect_messages(core::duration keep_alive);

    // Does what expect_events() does for what an MCP server says: what the gate lets through goes on. It outlives the writer; null: everything does.
    void set_gate(::mcp::event_gate* gate) noexcept { gate_ = gate; }

    // After expect_events(): the body is JSON and goes out as one event, which ends with it. Line ends in it, which stand only
    // between values, become spaces.
    void wrap_as_event() noexcept { wrapping_ = wrap::before; }

    // Before the head of a stream of events, for a caller that takes JSON alone: nothing goes out before add_end(), and then the
    // answer that came first, or with `all` an array of them. The gate, which outlives the writer, lets nothing else go on. `limit`: bytes of an event, and of all.
    void keep_answers(std::uint64_t limit, bool all, ::mcp::event_gate& gate);
    bool keeps_answers() const noexcept { return kept_ != nullptr; }

    // Bytes that are kept.
    std::size_t kept() const noexcept { return kept_ == nullptr ? 0 : kept_->events.size(); }

    // An answer is kept, and no other is waited for: add_end() may follow before the stream ends.
    bool has_answer() const noexcept;

    // The kept answers have been added: nothing more of the stream is read.
    bool is_over() const noexcept { return kept_ != nullptr && kept_->over; }

    // An event of the gateway's own, between those of the stream. `text` is on one line and outlives the write.
    void add_event(std::string_view text);

    // Replaces `text` by the status line and the fields of an answer that go on, as write_answer_fields(), with a date.
    void write_fields(
        std::string& text,
        const net::http1::response_head& head,
        body_care care,
        answer_of from = answer_of::agent,
        std::string_view extensions_as = {}
    ) const;

    // Adds the head: what stands in caller.scratch(), and the fields of this connection. `length`: of the body, if it is
    // to be said.
    void add_head(std::optional<std::uint64_t> length);

    // Adds a piece of the body; a view. False: an event is over its limit, and only what came before it was added, or what the gate
    // let through.
    bool add(std::string_view data);

    // Whether the write has room for another piece of the body, and its end.
    bool has_room() const noexcept { return added_ < copied_.size(); }

    // When comment_due().
    void add_comment();

    // Calls event_stream::announce_end() for a stream of events.
    void announce_end() noexcept
    {
        if (events_) {
            events_->announce_end();
        }
    }
    void add_end(std::string_view trailers = {});

    // Bytes that were added and not taken; the end of the answer counts as one.
    std::size_t pending() const noexcept { return out_.head.size() + out_.body.size() + (out_.last ? 1 : 0); }

    // Takes the added text, to be written now. From here on the answer has begun().
    net::answer_part take() noexcept;

    // The text that was taken is out.
    void wrote() noexcept;

    // A head went to the caller: a failure can only be told by a cut.
    bool begun() const noexcept { return begun_; }

    // Nothing of an event is out without its end, so that another can follow. Of a stream of events.
    bool between_events() const noexcept { return kept_ == nullptr && is_between_events(); }

    // A part of an event is out, and its end is not.
    bool within_event() const noexcept { return begun_ && events_ && kept_ == nullptr && !events_->between_events(); }

    // These ask event_stream::rest_of_event() and within_event().
    std::size_t rest_of_event(std::string_view data) const noexcept
    {
        return within_event() ? events_->rest_of_event(data) : 0;
    }

    // Whether an event of the gateway's own may end the stream, whatever is held of the agent's.
    bool takes_end() const noexcept
    {
        return begun_ && length_open_ && events_ && kept_ == nullptr && events_->between_events();
    }

    // When a comment has to go out if nothing else does; the end of time if none.
    core::steady_time comment_due() const noexcept { return events_ ? events_->comment_due() : sign_due_; }

private:
    struct kept_answers {
        std::uint64_t limit;
        bool all;
        bool over = false;
        std::string head = {};  // without its end
        std::string events = {};
    };

    bool is_between_events() const noexcept
    {
        return events_ && events_->between_events() && (gate_ == nullptr || gate_->held() == 0);
    }
    void add_piece(std::string_view first, std::string_view second = {});
    void add_kept();

    net::caller_exchange& caller_;
    task_watch& tasks_;
    std::optional<event_stream> events_;
    net::answer_part out_;
    std::size_t added_ = 0;  // pieces in out_
    enum class wrap : std::uint8_t { none, before, within };

    std::array<std::string, 2> copied_;   // pieces of the body in `out_` that are not as they came
    std::unique_ptr<kept_answers> kept_;  // null: what comes goes out
    ::mcp::event_gate* gate_ = nullptr;
    wrap wrapping_ = wrap::none;
    core::duration keep_alive_{};  // of messages
    core::steady_time sign_due_ = core::steady_time::max();
    bool messages_ = false;
    bool length_open_ = false;
    bool begun_ = false;
};

}  // namespace gateway::relay
