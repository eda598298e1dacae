// One message of a client on its way to a server, with where in it stands what may have to be replaced. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcp {

struct incoming;

// The header of a message over HTTP, without the fields that every message has.
struct message_head {
    std::string name;                                         // `Mcp-Name`; empty: none
    std::vector<std::pair<std::string, std::string>> fields;  // others, such as `Mcp-Param-…`
    std::shared_ptr<const void> held{};                       // by a field that names it, until the message is over
};

// Bytes of names and values.
std::size_t field_bytes(const std::vector<std::pair<std::string, std::string>>& fields) noexcept;

// `text` is one JSON-RPC message that has been checked; the other views are empty or into it, but for `method`.
struct client_message {
    std::string_view text;
    std::string_view method;             // unescaped; empty: an answer
    std::string_view id;                 // raw, of a request or an answer; empty: a notification
    std::string_view params;             // raw; empty: none
    std::string_view progress_token;     // raw, `params._meta.progressToken` of a request; empty: none
    std::string_view request_id;         // raw, `params.requestId` of `notifications/cancelled`; empty: none
    std::uint64_t client = 0;            // whose it is, where several share a connection
    const message_head* head = nullptr;  // only for the call that it is passed to; null: nothing beside
    const incoming* read = nullptr;      // the same; `text` as it was read; null: it has to be read again
    std::string_view principal = {
    };  // the same; whose it is where several share a connection; empty: nobody's in particular
    const std::shared_ptr<const std::string>* owner =
        nullptr;  // the same; all of it is `text`; null: to keep that is to copy it
};

// One that lives as long as it has to. Copies share the text, and so does one that is made of view().
class kept_message {
public:
    // None: its text is empty.
    kept_message() = default;

    explicit kept_message(const client_message& message);

    // Views into this, as long as it stays where it is.
    client_message view() const noexcept;

private:
    struct span {
        std::size_t begin = 0;
        std::size_t length = 0;
    };

    span span_of(std::string_view part, std::string_view whole) const noexcept;
    std::string_view at(span where) const noexcept { return text().substr(where.begin, where.length); }
    std::string_view text() const noexcept { return text_ == nullptr ? std::string_view{} : std::string_view{*text_}; }

    std::shared_ptr<const std::string> text_;  // null: none
    std::string method_;
    span id_;
    span params_;
    span progress_token_;
    span request_id_;
    std::uint64_t client_ = 0;
};

// The text with spaces for line ends, which stand only between the values of JSON: what a program reads is lines.
std::string one_line(std::string text);
bool is_one_line(std::string_view text) noexcept;

}  // namespace mcp
