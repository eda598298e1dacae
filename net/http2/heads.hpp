// Heads of HTTP/2 as text of HTTP/1.1 and back: the fields of a HEADERS frame are put together for the parsers of net/http1, and the
// text that the gateway writes is taken apart. Private to this folder. Pure.
#pragma once

#include "core/ascii.hpp"
#include "core/error.hpp"
#include "net/http1/fields.hpp"
#include "net/http1/head.hpp"
#include "net/http2/codes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace net::http2 {

// The fields of one header block, which the library has found valid for HTTP/2.
class head_builder {
public:
    explicit head_builder(const http1::head_limits& limits)
        : limits_{limits}
    {
    }

    enum class kind : std::uint8_t { request, answer, trailers };
    void begin(kind of);
    // An answer's trailers turn out to be another head by their `:status`.
    kind of() const noexcept { return of_; }

    // False: the block is over four times one of the limits.
    bool add(std::string_view name, std::string_view value);

    // How many fields there are, and their size with 32 for each (RFC 9113 section 10.5.1).
    bool too_many() const noexcept { return fields_ > limits_.fields; }
    bool too_large() const noexcept { return bytes_ > limits_.bytes; }

    // Completes text(); `last`: no body follows. An error: the request gets this answer, and its text has at most its first line, host
    // and content type, which tell how its caller reads it.
    std::optional<core::error> finish(bool last);
    std::string& text() noexcept { return text_; }
    // Of text(), but for trailers.
    http1::line_ends& lines() noexcept { return lines_; }

    // Gives up memory that is seldom needed.
    void rest();

private:
    void add_pseudo(std::string_view name, std::string_view value);
    void add_field(std::string_view name, std::string_view value);
    void add_line(std::string_view name, std::string_view value);
    void add_first_line(std::string_view one, std::string_view two, std::string_view three);
    void begin_request();
    void end_head();
    void keep_type(std::string_view value);
    void keep_least();
    void clear_text() noexcept;
    char* take_room(std::size_t size);

    const http1::head_limits& limits_;
    std::string text_;  // with room for more
    std::size_t used_ = 0;
    http1::line_ends lines_;
    std::string method_;
    std::string target_;
    std::string authority_;
    std::string cookies_;
    std::string content_type_;
    std::size_t bytes_ = 0;
    std::size_t fields_ = 0;
    kind of_ = kind::request;
    bool begun_ = false;
    bool has_length_ = false;
    bool interim_ = false;
    const char* fault_ = nullptr;  // a rule that is broken; a literal
};

// What a session knows of a field that it sends, by its name.
struct field_facts {
    http1::field_name id = http1::field_name::other;
    // It means nothing in HTTP/2, or pseudo fields replace it (RFC 9113 section 8.2.2); `te` may stay for one of its values.
    bool of_http1 = false;
    // HPACK must not index it, since a stranger on the same connection could guess it byte by byte (RFC 7541 section 7.1).
    // A configuration may name an agent's credential anything: of requests, only fields that are known to be none are indexed.
    bool secret_of_requests = true;
    bool secret_of_answers = true;
};
// Puts the name into lower case.
field_facts facts_of(char* name, std::size_t size) noexcept;

// The first line of a head, without its CRLF; `text` begins with the fields then.
inline std::string_view take_line(std::string_view& text) noexcept
{
    auto end = text.find('\r');
    while (end < text.size() && !text.substr(end).starts_with("\r\n")) {
        end = text.find('\r', end + 1);
    }
    end = std::min(end, text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 2, text.size()));
    return line;
}

// The request line "METHOD target HTTP/1.1".
struct request_line {
    std::string_view verb;
    std::string_view target;
};
request_line split_request_line(std::string_view line) noexcept;

// What follows the colon, without the white space around it, which is one space as a rule.
inline std::string_view value_after(std::string_view line, std::size_t colon) noexcept
{
    constexpr char space = ' ';
    const auto* const text = line.data() + colon + 1;
    const auto size = line.size() - colon - 1;
    const bool usual = size > 1 && text[0] == space && text[1] > space && text[size - 1] > space;
    return usual ? std::string_view{text + 1, size - 1} : core::trim({text, size});
}

// Calls `each(name, value, facts)` for the fields of `lines`, whose names it puts into lower case. An empty line ends them.
template <class Each>
void for_each_field(char* lines, const char* end, Each each)
{
    while (lines != end) {
        std::string_view rest{lines, static_cast<std::size_t>(end - lines)};
        const auto line = take_line(rest);
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) {
            return;
        }
        const auto facts = facts_of(lines, colon);
        each(line.substr(0, colon), value_after(line, colon), facts);
        lines += rest.data() - lines;
    }
}

}  // namespace net::http2
