// JSON text taken apart and put together without a document: what a server sent keeps its unknown members and the
// spelling of its numbers. Pure; any thread.
#pragma once

#include "core/error.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace mcp {

inline constexpr std::size_t max_members = 10000;  // of one object that is taken apart

struct raw_member {
    std::string name;        // unescaped
    std::string_view value;  // raw text of one value, without white space around it
};

// The members of one object, in their order.
class raw_object {
public:
    raw_object() = default;

    // Views into `text`. Fails with parse_error (not JSON, or nested deeper than `depth`) and with invalid_request: not
    // an object, a name that stands twice, also in another spelling, or more than max_members.
    static core::result<raw_object> read(std::string_view text, unsigned depth = 64);

    // Raw text; empty: there is no such member.
    std::string_view find(std::string_view name) const noexcept;

    // The member if it is a string, unescaped (half a surrogate pair becomes U+FFFD); else empty.
    std::string text(std::string_view name) const;

    // The member if it is an object, else empty.
    std::string_view object(std::string_view name) const noexcept;

    const std::vector<raw_member>& members() const& noexcept { return members_; }
    void members() const&& = delete;  // it would not outlive the expression

private:
    std::vector<raw_member> members_;
};

// The members if `raw` is an object that raw_object::read() takes, else none.
raw_object members_of(std::string_view raw);

// These take raw text that is one JSON value.
// Whether a lenient reader may take `name` for the member `other`: they are equal but for case and underscores, and not equal. Ruby, Go and
// Python readers have such names beside those of the protocol.
bool is_twin(std::string_view name, std::string_view other);

bool is_object(std::string_view raw) noexcept;
bool is_array(std::string_view raw) noexcept;
bool is_string(std::string_view raw) noexcept;

// The first character of any text, blanks aside, opens an array.
bool opens_array(std::string_view text) noexcept;

// Nothing: `raw` is not a number of this type, or not an integer in plain digits.
template <class Number>
std::optional<Number> integer_of(std::string_view raw) noexcept
{
    Number value = 0;
    const auto* const begin = raw.data();
    const auto* const end = begin + raw.size();
    const auto read = std::from_chars(begin, end, value);
    return read.ec == std::errc{} && read.ptr == end ? std::optional{value} : std::nullopt;
}

// The string's text. Nothing: `raw` is not a string.
std::optional<std::string> text_of(std::string_view raw);

// The value on one line: no white space outside of strings, and `\ufffd` for half a surrogate pair, which many
// readers refuse. Everything else keeps its bytes. `raw` must be JSON.
std::string compact(std::string_view raw);

// compact(), if readers of documents take it: nested at most `depth`, no object with too many members, no number beyond
// a double (core::parse_json()). `raw` may be any text.
core::result<std::string> usable(std::string_view raw, unsigned depth);

// `"name":value,`, of an object or list under construction; close() replaces the last comma.
void append_member(std::string& out, std::string_view name, std::string_view raw_value);
void append_text_member(std::string& out, std::string_view name, std::string_view text);
void close(std::string& out, char bracket);

// The answer to a request with this raw id: `raw` is its `result` or `error`, which `member` names.
std::string answer_text(std::string_view id, std::string_view member, std::string_view raw);
std::string empty_answer(std::string_view id);  // with the result `{}`
std::string error_answer(std::string_view id, std::int64_t code, std::string_view message);

}  // namespace mcp
