// A long text of a server, read away from the loop that it is for: to read a message of megabytes takes longer than a loop may be
// held. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/refused_message.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

struct list_page;

inline constexpr std::size_t read_at_once = 256 * 1024;  // bytes of a text that need not be read away from the loop

// What a notification says of whom it is for: raw, into its text; empty: it does not.
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

    // As messages_in().
    std::span<const read_part> parts(std::string_view version) const noexcept;
};

// `most_items`: of each list that a result has, so many items are read too; 0: none is looked for.
std::shared_ptr<const read_text> read_apart(std::string text, message_limits limits, std::size_t most_items = 0);

}  // namespace mcp
