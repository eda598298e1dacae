// The chunked transfer coding (RFC 9112 section 7.1), both directions. Pure, incremental, split-invariant, no allocation.
#pragma once

#include "core/error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace net::http1 {

struct chunk_limits {
    std::size_t line = 256;             // one size line with its extensions, without its CRLF
    std::size_t extensions = 4 * 1024;  // all extensions of a body together, each with its semicolon
    std::size_t trailers = 4 * 1024;    // the trailer fields with their CRLFs; they are checked and dropped
    std::size_t trailer_fields = 100;
};

// Takes the coding apart. Strict: CRLF only, 1 to 16 hexadecimal digits without sign or white space, extensions checked
// against the grammar and dropped, trailer fields checked and dropped.
class chunked_decoder {
public:
    explicit chunked_decoder(chunk_limits limits = {}) noexcept;

    struct step {
        std::size_t consumed = 0;  // bytes of the input that are done with
        std::string_view data;     // body bytes, a view into the input; may be empty
        bool finished = false;     // the whole body, trailers included, is over; what follows is another message
    };

    // One step: consumes until a piece of data was found, the input is used up, or the body is over.
    // Fails with bad_request (the caller says whose fault it is) or header_too_large for trailers over the limit;
    // after a failure the decoder must not be used again.
    core::result<step> decode(std::string_view input) noexcept;

    bool finished() const noexcept { return state_ == state::finished; }

    // Bytes of data that the chunk at hand has announced and that have not come: known once its size line is over, so that
    // a limit of the body can be held to before them. Below 2^63.
    std::uint64_t chunk_left() const noexcept { return state_ == state::data ? remaining_ : 0; }

private:
    enum class state : std::uint8_t {
        size_first,
        size,
        extension_first,
        extension_name,
        extension_value_first,
        extension_value,
        extension_quoted,
        extension_escape,
        extension_end,
        size_lf,
        data,
        data_cr,
        data_lf,
        trailer_first,
        trailer_name,
        trailer_value,
        trailer_lf,
        end_lf,
        finished,
    };

    const char* take(char byte) noexcept;
    const char* take_size(char byte) noexcept;
    const char* take_extension(char byte) noexcept;
    const char* take_trailer(char byte) noexcept;
    const char* over_limit() noexcept;
    const char* end_extension(char byte) noexcept;

    chunk_limits limits_;
    state state_ = state::size_first;
    std::uint64_t remaining_ = 0;
    std::size_t line_ = 0;
    std::size_t extensions_ = 0;
    std::size_t trailers_ = 0;
    std::size_t trailer_fields_ = 0;
    unsigned digits_ = 0;
};

// The size line of a chunk of `size` bytes: hexadecimal digits and CRLF. The chunk's own CRLF is `chunk_end`.
class chunk_header {
public:
    explicit chunk_header(std::size_t size) noexcept;
    std::string_view text() const noexcept { return {text_.data() + begin_, text_.size() - begin_}; }

private:
    std::array<char, 18> text_{};
    std::size_t begin_ = 0;
};

inline constexpr std::string_view chunk_end = "\r\n";
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace net::http1
