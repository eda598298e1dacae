// What is done to an agent's answer that callers may not see as it is: for answer_editor, which brings the text. One thread, that
// of the caller's loop.
#pragma once

#include "core/error.hpp"
#include "gateway/model/answered_card.hpp"
#include "net/loop/routine.hpp"

#include <cstdint>
#include <string>

namespace gateway::traffic {

class answer_edit {
public:
    struct terms {
        std::uint64_t limit = 0;                                // of an answer, or of the data of an event, in bytes
        bool events = true;                                     // the answer may be a stream of them
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

    // Adds fields to the head that goes to the caller.
    virtual void add_fields(std::string& fields) const { static_cast<void>(fields); }

    // The whole answer, or the data of one event.
    virtual net::routine<core::result<model::edited_answer>> edit(std::string text) = 0;

private:
    terms terms_;
};

}  // namespace gateway::traffic
