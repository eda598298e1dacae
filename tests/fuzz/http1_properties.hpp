// What must hold for any bytes at all. A property that does not hold ends the process, as libFuzzer wants it.
#pragma once

#include "tests/unit/net/http1/outcome.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tests {

inline void require(bool holds, const char* property, std::string_view one = {}, std::string_view other = {})
{
    if (!holds) {
        std::fprintf(stderr, "does not hold: %s\n", property);
        std::fwrite(one.data(), 1, one.size(), stderr);
        std::fputs("\n-- against --\n", stderr);
        std::fwrite(other.data(), 1, other.size(), stderr);
        std::fputc('\n', stderr);
        std::abort();
    }
}

// Numbers that depend on the input only, so that a crash can be repeated (FNV-1a, then xorshift).
class numbers {
public:
    explicit numbers(std::string_view bytes) noexcept
    {
        for (const char byte : bytes) {
            state_ = (state_ ^ static_cast<unsigned char>(byte)) * 1099511628211U;
        }
    }

    std::size_t below(std::size_t bound) noexcept
    {
        state_ ^= state_ << 13U;
        state_ ^= state_ >> 7U;
        state_ ^= state_ << 17U;
        return static_cast<std::size_t>(state_ % bound);
    }

private:
    std::uint64_t state_ = 14695981039346656037U;
};

inline cuts some_cuts(std::string_view bytes, numbers& random)
{
    cuts some;
    for (std::size_t at = 0; bytes.size() > 1;) {
        at += 1 + random.below(bytes.size() / 4 + 2);
        if (at >= bytes.size()) {
            break;
        }
        some.push_back(at);
    }
    return some;
}

// `read` reads the bytes in the given pieces from the given kind of buffer, and writes out what it makes of them.
template <class Read>
std::string require_same_in_pieces(std::string_view bytes, Read read)
{
    numbers random{bytes};
    const std::string whole = read(cuts{}, buffer::moving);
    const std::string single = read(every_byte(bytes), buffer::still);
    require(single == whole, "byte by byte as in one piece", single, whole);
    const std::string pieces = read(some_cuts(bytes, random), buffer::moving);
    require(pieces == whole, "in pieces as in one", pieces, whole);
    return whole;
}

// RFC 9112 section 2.2, checked without any parser: CR and LF only together, no other control byte, and one empty line,
// which is the end.
inline void require_clean(std::string_view head)
{
    while (head.starts_with("\r\n")) {
        head.remove_prefix(2);
    }
    require(head.find("\r\n\r\n") + 4 == head.size(), "the first empty line ends the head", head);
    for (std::size_t at = 0; at < head.size(); ++at) {
        const auto byte = static_cast<unsigned char>(head[at]);
        if (byte == '\r') {
            require(head[at + 1] == '\n', "no CR without LF", head);
        } else if (byte == '\n') {
            require(at > 0 && head[at - 1] == '\r', "no LF without CR", head);
        } else {
            require(byte == '\t' || (byte >= 0x20 && byte != 0x7f), "no control byte", head);
        }
    }
}

inline std::string write_fields(const net::http1::field_list& fields)
{
    std::string text;
    for (const auto& line : fields) {
        text.append(line.name).append(":").append(line.value).append("\r\n");
    }
    return text + "\r\n";
}

}  // namespace tests
