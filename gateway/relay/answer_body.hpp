// The body of an agent's answer: its kind, and a stream of events on its way to a caller, whose events are limited, and which
// knows when a comment has to keep the caller's side alive and may be put in. Pure but for the times it is told.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/http1/head.hpp"
#include "net/loop/types.hpp"
#include "net/sse/sse.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gateway::relay {

// Whether the answer is a stream of server-sent events, whatever its parameters.
bool is_event_stream(const net::http1::response_head& head) noexcept;

// Whether it is JSON.
bool is_json(const net::http1::response_head& head) noexcept;

// Whether it has no body.
bool is_empty(const net::http1::response_head& head) noexcept;

// Whether it is a page for people, such as a proxy in front of an agent makes of an error.
bool is_page(const net::http1::response_head& head) noexcept;

// Whether the body is as it was made: events in a content coding cannot be told apart.
bool has_identity_coding(const net::http1::response_head& head) noexcept;

class event_stream {
public:
    // `limit`: bytes of one event. `keep_alive`: how long a caller is left in silence; 0: for ever.
    event_stream(std::uint64_t limit, core::duration keep_alive) noexcept;

    // Returns the part of a piece that goes on: all of it, but for a byte order mark behind a comment, where it would spoil
    // the first event. If an event is over the limit: what came before that event, and nothing more may follow.
    struct passage {
        net::late_bom::outcome bytes;
        bool too_large = false;
    };
    passage pass(std::string_view piece) noexcept;

    // How many bytes of the next piece belong to the event under way: all of them, if it does not end there.
    std::size_t rest_of_event(std::string_view piece) const noexcept;

    // The caller was written to.
    void wrote(core::steady_time now) noexcept { written_ = now; }

    // No event is under way.
    bool between_events() const noexcept { return scanner_.at_boundary(); }

    // A comment says so as soon as one may be put in. Without keep_alive there are no comments.
    void announce_end() noexcept { announcing_ = keep_alive_ > core::duration::zero(); }

    // When a comment has to go out if nothing else does; the end of time while an event is under way.
    core::steady_time comment_due() const noexcept;

    // To be written now.
    std::string_view comment() noexcept;

private:
    net::sse_scanner scanner_;
    std::optional<net::late_bom> mark_;
    core::duration keep_alive_;
    core::steady_time written_{};
    bool announcing_ = false;
};

}  // namespace gateway::relay
