// Reads what a server sends, message by message, and rejects what is malformed. Messages of callers go to their channel. On the
// control loop's thread.
#pragma once

#include "mcp/protocol/read_text.hpp"
#include "mcp/session/connections.hpp"
#include "mcp/session/requests.hpp"
#include "mcp/session/session_context.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mcp {

class message_intake {
public:
    // The part of a text that concerns the session.
    struct outcome {
        std::optional<message> heard;           // with views into the text
        std::optional<std::uint64_t> answered;  // the request that `heard` answers
        list_page* page = nullptr;              // of a result that another thread has read
        std::vector<std::uint64_t> bad;         // requests whose answer is malformed
        core::error why = {};                   // with `bad`
        std::optional<era> says = {};           // with `bad`: as transport_observer::failed()
    };

    // References outlive it.
    message_intake(session_context& host, const requests& open)
        : host_{host},
          requests_{open}
    {
    }

    outcome accept(connection& from, std::string_view text);

    // A message that another thread has read.
    outcome accept(connection& from, const read_part& message)
    {
        return accept(from, message.text, message.read, &message);
    }

    // A message that was too long: see transport_observer::refused().
    outcome accept_too_long(connection& from, std::string_view beginning, std::size_t limit);

private:
    // A malformed message or answer.
    struct refused_text {
        std::vector<addressee> whom;  // not empty
        core::error why;
        std::size_t size;
        std::optional<std::size_t> limit;  // it was over this one
        bool first;                        // of its kind on this connection
    };

    // `known`: null: it was read here.
    outcome accept(connection& from, std::string_view text, const core::result<message>& read, const read_part* known);
    outcome accept_unnamed(connection& from, std::string_view text, const message& said);
    bool is_of_caller(const message& said, const read_part* known) const;
    bool is_ambiguous(const addressee& whom) const;
    std::optional<std::uint64_t> request_of(const connection& from, const addressee& whom) const;
    outcome refuse(connection& from, const refused_text& text);

    session_context& host_;
    const requests& requests_;
};

}  // namespace mcp
