// A strict reader over JSON bytes that keeps nothing and copies nothing: for what must look at traffic without a
// document in memory (core/json/jsonrpc_scan.cpp). RFC 8259 to the letter: its grammar of numbers, strings and literals,
// UTF-8 checked in strings (RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF), no byte order mark.
// `\uD800` without its partner is accepted, because the grammar has it (RFC 8259 section 8.2). No recursion: the open
// containers are the bits of one word, so the depth is at most 64.
#pragma once

#include "core/json/json_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace core {

// `Bytes` says how bytes are passed over: wide_bytes, single_bytes, or trusted_bytes for text that has been checked. Every function that returns bool
// returns false at the first byte that is not JSON; the cursor is of no more use then, and why() says what was wrong.
// The text must outlive the cursor.
template <class Bytes>
class json_cursor {
public:
    static constexpr unsigned deepest = 64;

    json_cursor(std::string_view text, unsigned depth_limit) noexcept
        : at_{text.data()},
          end_{text.data() + text.size()},
          room_{std::min(depth_limit, deepest)}
    {
    }

    const char* position() const noexcept { return at_; }
    std::string_view why() const noexcept { return why_; }

    // How many members the objects passed so far had, at any depth; not with trusted_bytes.
    std::size_t members() const noexcept { return members_; }

    // The next byte, or NUL at the end, which is no byte of JSON outside strings.
    char peek() const noexcept { return at_ == end_ ? '\0' : *at_; }

    void skip_space() noexcept
    {
        while (at_ != end_ && *at_ <= ' ' && is(*at_, byte_class::space)) {
            ++at_;
        }
    }

    // Takes `c` and the white space behind it, if it comes next.
    bool take(char c) noexcept
    {
        if (peek() != c) {
            return false;
        }
        ++at_;
        skip_space();
        return true;
    }

    // Takes the '{' or '[' that comes next and the white space behind it.
    bool open(char bracket) noexcept
    {
        if (room_ == 0) {
            return fail("nested too deep");
        }
        --room_;
        objects_ = (objects_ << 1U) | (bracket == '{' ? 1U : 0U);
        ++at_;
        skip_space();
        return true;
    }

    // Takes the bracket that closes the innermost container, if it comes next.
    bool close() noexcept
    {
        if (peek() != ((objects_ & 1U) != 0 ? '}' : ']')) {
            return false;
        }
        ++at_;
        ++room_;
        objects_ >>= 1U;
        return true;
    }

    // A member's name with its colon and the white space around that. `raw` is what stands between the quotes.
    bool name(std::string_view& raw, bool& escaped) noexcept
    {
        if (peek() != '"') {
            return fail("a member has no name");
        }
        const char* const begin = at_ + 1;
        if (!string(escaped)) {
            return false;
        }
        raw = {begin, static_cast<std::size_t>(at_ - begin - 1)};
        ++members_;
        skip_space();
        return take(':') || fail("a member has no colon");
    }

    // One whole value, whatever it holds. White space in front of it must be gone. Flattened, so that the cursor stays
    // in registers: a quarter less time on bodies of many small values.
    [[gnu::flatten]] bool value() noexcept
    {
        if constexpr (std::is_same_v<Bytes, trusted_bytes>) {
            return trusted_value();
        }
        const unsigned outside = room_;
        for (;;) {
            const char c = peek();
            if (c == '{' || c == '[') {
                if (!open(c)) {
                    return false;
                }
                if (!close()) {
                    if (c == '{' && !name()) {
                        return false;
                    }
                    continue;
                }
            } else if (!scalar(c)) {
                return false;
            }
            bool more = false;
            while (!more && room_ != outside) {
                if (!after_value(more)) {
                    return false;
                }
            }
            if (!more) {
                return true;
            }
        }
    }

    // The object that comes next. Its members go to `each(raw_name, escaped, value)`, in the order in which they stand, which
    // may say false: that is enough of it.
    template <class Each>
    bool object(Each&& each)
    {
        if (!open('{')) {
            return false;
        }
        if (close()) {
            return true;
        }
        do {
            std::string_view raw_name;
            bool escaped = false;
            if (!name(raw_name, escaped)) {
                return false;
            }
            const char* const begin = at_;
            if (!value() || !each(raw_name, escaped, std::string_view{begin, static_cast<std::size_t>(at_ - begin)})) {
                return false;
            }
            skip_space();
        } while (take(','));
        return close() || fail("an object is not closed");
    }

    // Nothing but white space is left.
    bool finish() noexcept
    {
        skip_space();
        return at_ == end_ || fail("something follows the document");
    }

private:
    bool fail(std::string_view why) noexcept
    {
        why_ = why;
        return false;
    }

    bool trusted_value() noexcept
    {
        const char c = peek();
        const bool is_container = c == '{' || c == '[';
        if (c != '"' && !is_container) {
            return scalar(c);
        }
        const auto* const behind = is_container ? trusted_container_end(at_, end_) : trusted_string_end(at_, end_);
        if (behind == nullptr) {
            return fail("a value is not closed");
        }
        at_ = behind;
        return true;
    }

    bool name() noexcept
    {
        std::string_view raw;
        bool escaped = false;
        return name(raw, escaped);
    }

    // Behind a value inside a container: closes it, or goes to the next value and says so in `more`.
    bool after_value(bool& more) noexcept
    {
        skip_space();
        if (take(',')) {
            more = true;
            return (objects_ & 1U) == 0 || name();
        }
        return close() || fail("a container is not closed");
    }

    bool scalar(char c) noexcept
    {
        switch (c) {
            case '"': {
                bool escaped = false;
                return string(escaped);
            }
            case 't':
                return literal("true");
            case 'f':
                return literal("false");
            case 'n':
                return literal("null");
            default:
                return number();
        }
    }

    bool literal(std::string_view word) noexcept
    {
        if (static_cast<std::size_t>(end_ - at_) < word.size() || std::memcmp(at_, word.data(), word.size()) != 0) {
            return fail("not a value");
        }
        at_ += word.size();
        return true;
    }

    bool number() noexcept
    {
        const char* const behind = number_end(at_, end_);
        if (behind == nullptr) {
            return fail("not a value");
        }
        at_ = behind;
        return true;
    }

    bool string(bool& escaped) noexcept
    {
        const auto found = string_end<Bytes>(at_, end_);
        if (found.behind == nullptr) {
            return fail("a string is not closed, not valid, or not UTF-8");
        }
        at_ = found.behind;
        escaped = found.escaped;
        return true;
    }

    const char* at_;
    const char* end_;
    std::uint64_t objects_ = 0;  // one bit per open container, innermost lowest: 1 is an object
    unsigned room_;              // how many more containers may be opened
    std::size_t members_ = 0;
    std::string_view why_;
};

}  // namespace core
