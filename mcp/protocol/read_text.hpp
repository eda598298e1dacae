// Texts of a server that are long, or not a message. A long one is read on another thread: reading megabytes holds a loop for too long.
// Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/protocol/message.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

    // An answer that does not say to what.
    bool to_nobody() const noexcept { return answer && raw.empty(); }
};

// Takes no exception to what is malformed but for what it has to skip. `whole`: nothing follows `text`; else it is the
// beginning of what was too long, and need not say that it is JSON-RPC. Linear in `text`, into which it has a view.
addressee addressee_of(std::string_view text, bool whole);

// Those of a batch's first hundred messages, if it is JSON; else the one of addressee_of().
std::vector<addressee> addressees_of(std::string_view text);

// The error for the request.
core::error refused_answer(core::error why);

struct list_page;

inline constexpr std::size_t read_at_once = 256 * 1024;  // bytes of a text that need not be read away from the loop

// The parts of a notification that say whom it is for: raw, into its text; empty: it does not.
struct note_parts {
    std::string_view progress_token;   // `params.progressToken`
    std::string_view request_id;       // `params.requestId`
    std::string_view subscription_id;  // `params._meta` of 2026-07-28
};

note_parts parts_of(const message& notification);

struct read_part {
    std::string_view text;
    core::result<message> read;
    addressee whom;                        // as addressee_of()
    note_parts note;                       // of a notification
    std::vector<addressee> meant = {};     // of what is no message: as addressees_of()
    std::shared_ptr<list_page> page = {};  // of a result, if lists were to be read (list_page.hpp)
};

// Views are into `text`, so that it stays where it is.
struct read_text {
    std::string text;
    read_part whole;
    std::vector<read_part> batch;  // its messages, where versions that have batches take it for one; else empty

    // Splits it like messages_in().
    std::span<const read_part> parts(std::string_view version) const noexcept;
};

// `most_items`: of each list that a result has, so many items are read too; 0: none is looked for.
std::shared_ptr<const read_text> read_apart(std::string text, message_limits limits, std::size_t most_items = 0);

}  // namespace mcp
