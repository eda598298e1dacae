// Edits of an agent's answer that callers may not see as it is; answer_editor brings the text. One thread, that of the caller's loop.
#pragma once

#include "core/error.hpp"
#include "gateway/model/answered_card.hpp"
#include "gateway/threads/side_thread.hpp"
#include "net/http1/head.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::relay {

class side_requests;
struct relay_outcome;

class answer_edit {
public:
    struct terms {
        std::uint64_t limit = 0;  // of an answer, or of the data of an event, in bytes
        bool events = true;       // the answer may be a stream of them
        bool every = false;  // answers of any status are edited, empty ones too, and their type is another one; the
                             // head of a stream goes out before its first event
        bool each =
            false;  // each message of a stream is edited alone, whenever it goes out: the head goes out before the
                    // first event, and what is kept for a client that comes back is not edited
        bool renames = false;                                   // events may have other ids: event_id()
        core::errc too_large = core::errc::card_too_large;      // over the limit
        core::errc unreadable = core::errc::card_unrewritable;  // in a content coding
        core::errc unexpected = core::errc::card_not_json;      // a stream of events
    };

    explicit answer_edit(const terms& of) noexcept
        : terms_{of}
    {
    }
    virtual ~answer_edit() = default;
    answer_edit(const answer_edit&) = delete;
    answer_edit& operator=(const answer_edit&) = delete;

    const terms& on() const noexcept { return terms_; }

    // Whether edit() may change this text: what it does not concern goes out as it is, without a copy.
    virtual bool concerns(std::string_view text) const
    {
        static_cast<void>(text);
        return true;
    }

    // Whether the beginning of an answer, some kilobytes of it, says that edit() would not change it. False: not yet.
    virtual bool passes(std::string_view beginning) const
    {
        static_cast<void>(beginning);
        return false;
    }

    // The id that an event has for the caller. Nothing: its own.
    virtual std::optional<std::string> event_id(std::string_view id) const
    {
        static_cast<void>(id);
        return std::nullopt;
    }

    // The whole answer, or the data of one event, which is left out if what comes of it is empty.
    virtual net::routine<core::result<model::edited_answer>> edit(std::string text) = 0;

    // Before the first edit(): of the answer with this head, which is a stream of events or not. `beside` asks the agent for
    // more, for as long as the answer is edited.
    virtual void begin(const net::http1::response_head& head, bool events, side_requests& beside)
    {
        static_cast<void>(head);
        static_cast<void>(events);
        static_cast<void>(beside);
    }

    // Adds fields to the head that goes to the caller.
    virtual void add_fields(std::string& fields) const { static_cast<void>(fields); }

    // The text that goes out before the first event of a stream: whole events, or nothing.
    virtual net::routine<core::result<std::string>> opening() { co_return std::string{}; }

    // After opening(): what the caller gets instead of a stream, which has not begun.
    virtual std::optional<model::edited_answer> instead() { return std::nullopt; }

    // After edit(): the stream ends with this event.
    virtual bool over() const noexcept { return false; }

    // After the relay, whether or not there was an answer: notes what this edit made of it.
    virtual void note(relay_outcome& outcome) const { static_cast<void>(outcome); }

private:
    terms terms_;
};

// An edit that needs nothing but the text, on another thread if that is long.
class text_edit : public answer_edit {
public:
    struct means {
        std::uint64_t limit = 0;     // of an answer in bytes
        threads::side_thread& side;  // outlives the edit
        net::executor here;          // of the caller's loop
        bool each = false;           // as terms::each
        bool renames = false;        // as terms::renames
    };

    explicit text_edit(means with);

    net::routine<core::result<model::edited_answer>> edit(std::string text) final;

private:
    // Nothing else of the edit runs meanwhile.
    virtual core::result<model::edited_answer> edit_here(std::string text) const = 0;

    threads::side_thread& side_;
    net::executor here_;
};

}  // namespace gateway::relay
