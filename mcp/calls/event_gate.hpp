// Decides which events of a server's stream over HTTP go on to its client, event by event and else as bytes: not what the client has
// not declared that it may be asked for, not an answer to another request, and not a second one (MCP 2025-11-25, basic/transports,
// "Streamable HTTP"; basic/lifecycle, "Capability Negotiation"). Pure: no I/O, no clock; one thread.
#pragma once

#include "mcp/calls/client_capabilities.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

class event_gate {
public:
    // An answer goes on as it comes once it has so many bytes, whatever its id is if that comes later.
    static constexpr std::size_t early = 64 * 1024;
    static constexpr std::size_t most_refused =
        64;  // requests between two calls of take_refused(); others have no answer

    struct terms {
        std::string_view call{
        };  // the raw id of the request whose stream it is, which outlives the gate; empty: of none
        bool replayed = false;                          // with no `call`: answers to some, as in what a client resumes
        std::optional<client_capabilities> declared{};  // nullopt: nobody knows, and everything may be asked
        std::uint64_t limit = 0;                        // bytes of an event
        bool answers_only =
            false;  // the client gets no stream: what is no answer stays here, and questions are refused
    };

    explicit event_gate(const terms& of)
        : terms_{of}
    {
    }

    // The next bytes of the stream that go on: a view of them, or of `room`. An event of which nothing has gone on is held until
    // it is whole.
    std::string_view pass(std::string_view piece, std::string& room);

    // Bytes of an event that are held.
    std::size_t held() const noexcept { return held_.size(); }

    // The one that is held is over the limit: nothing more goes on.
    bool too_large() const noexcept { return held_.size() > terms_.limit; }

    // The answers to requests that did not go on, for the server. Nothing: there are none.
    std::vector<std::string> take_refused();

    // Events that did not go on.
    std::uint64_t dropped() const noexcept { return dropped_; }

private:
    enum class state : std::uint8_t { reads, passes, drops };  // what becomes of the event under way

    std::size_t find_end(std::string_view bytes) noexcept;
    void look_early();
    bool may_pass(std::string_view event);
    bool judge(std::string_view message);
    bool judge_answer(std::string_view raw_id);
    bool judge_unreadable(std::string_view text);
    void refuse(std::string_view raw_id, std::string_view method);

    terms terms_;
    std::string held_;
    state state_ = state::reads;
    bool looked_ = false;       // look_early() was called for the event under way
    bool line_empty_ = true;    // of the line under way
    bool after_cr_ = false;     // the last byte was a CR
    bool last_passed_ = false;  // the event that came last
    bool answered_ = false;     // with `call`
    std::string last_answer_;   // the id of it, with `replayed`
    std::vector<std::string> refused_;
    std::uint64_t dropped_ = 0;
};

}  // namespace mcp
