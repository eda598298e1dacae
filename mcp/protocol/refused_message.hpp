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
        false;  // it was to be an answer: an object, or the first of a batch, with an `error`, `result` or id, no `method`
    std::optional<std::uint64_t> id;  // of the request, as number_of_id()
    bool other = false;               // it has an id, which is none of ours
    std::string_view raw;             // the id as it is spelled, into the text; empty: none that names_request()

    // The request that it was to answer.
    std::optional<std::uint64_t> numbered() const noexcept { return answer ? id : std::nullopt; }

    // It was to be an answer, and does not say to what.
    bool to_nobody() const noexcept { return answer && raw.empty(); }
};

// Takes no exception to what is malformed but for what it has to skip. `whole`: nothing follows `text`; else it is the
// beginning of what was too long, and need not say that it is JSON-RPC. Linear in `text`, into which it has a view.
addressee addressee_of(std::string_view text, bool whole);

// Of a batch those of its first hundred messages, if it is JSON; else the one of addressee_of().
std::vector<addressee> addressees_of(std::string_view text);

// What the request is told.
core::error refused_answer(core::error why);

}  // namespace mcp
