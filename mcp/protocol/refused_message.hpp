// Whom a text was to answer that is no message (read_message()): as far as can be told, so that who waits for it hears of it.
// Pure; any thread.
#pragma once

#include "core/error.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mcp {

struct addressee {
    bool answer =
        false;  // it was to be an answer: an object, or the first of a batch, with an `error` or `result`, no `method`
    std::optional<std::uint64_t> id;  // of the request, also if spelled as a string or with a fraction of 0
    bool other = false;               // it has an id, which is none of ours
    std::string_view raw;             // the id as it is spelled, into the text; empty: none

    // The request that it was to answer, unless its id is a string.
    std::optional<std::uint64_t> numbered() const noexcept
    {
        return answer && !raw.starts_with('"') ? id : std::nullopt;
    }
};

// Takes no exception to what is malformed but for what it has to skip. `whole`: nothing follows `text`; else it is the
// beginning of what was too long, and need not say that it is JSON-RPC. Linear in `text`, into which it has a view.
addressee addressee_of(std::string_view text, bool whole);

// Of a batch those of its first hundred messages, if it is JSON; else the one of addressee_of().
std::vector<addressee> addressees_of(std::string_view text);

// Of an answer whose id is the request's in another spelling: it must be the same (JSON-RPC 2.0, "Response object").
core::error another_id();

// What the request is told.
core::error refused_answer(core::error why);

}  // namespace mcp
