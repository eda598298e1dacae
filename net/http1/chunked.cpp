#include "net/http1/chunked.hpp"

#include "net/http1/grammar.hpp"

#include <algorithm>
#include <limits>

namespace net::http1 {
namespace {

constexpr unsigned most_digits = 16;

constexpr std::uint64_t greatest_size = std::numeric_limits<std::int64_t>::max();

}  // namespace

chunked_decoder::chunked_decoder(chunk_limits limits) noexcept
    : limits_{limits}
{
}

core::result<chunked_decoder::step> chunked_decoder::decode(std::string_view input) noexcept
{
    std::size_t at = 0;
    while (at < input.size() && state_ != state::finished) {
        if (state_ == state::data) {
            const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, input.size() - at));
            remaining_ -= length;
            if (remaining_ == 0) {
                state_ = state::data_cr;
            }
            return step{at + length, input.substr(at, length), false};
        }
        if (const char* const rule = take(input[at])) {
            return core::caller_error(core::errc::bad_request, rule);
        }
        if (trailers_ > limits_.trailers || trailer_fields_ > limits_.trailer_fields) {
            return core::caller_error(core::errc::header_too_large, "the trailer section is over the limit");
        }
        ++at;
    }
    return step{at, {}, state_ == state::finished};
}

// The functions below take one byte of framing. They give the rule that it breaks, or null.

const char* chunked_decoder::take(char byte) noexcept
{
    switch (state_) {
        case state::size_first:
        case state::size:
            return take_size(byte);
        case state::extension_first:
        case state::extension_name:
        case state::extension_value_first:
        case state::extension_value:
        case state::extension_quoted:
        case state::extension_escape:
        case state::extension_end:
            return take_extension(byte);
        case state::size_lf:
            if (byte != '\n') {
                return "a chunk size line does not end in CRLF";
            }
            line_ = 0;
            digits_ = 0;
            state_ = remaining_ == 0 ? state::trailer_first : state::data;
            return nullptr;
        case state::data_cr:
            state_ = state::data_lf;
            return byte == '\r' ? nullptr : "chunk data is not followed by CRLF";
        case state::data_lf:
            state_ = state::size_first;
            return byte == '\n' ? nullptr : "chunk data is not followed by CRLF";
        case state::trailer_first:
        case state::trailer_name:
        case state::trailer_value:
        case state::trailer_lf:
            return take_trailer(byte);
        case state::end_lf:
            state_ = state::finished;
            return byte == '\n' ? nullptr : "the trailer section does not end in CRLF";
        case state::data:
        case state::finished:
            break;
    }
    return "bytes where no framing is expected";
}

// RFC 9112 section 7.1: chunk-size = 1*HEXDIG. White space around it, as in section 7.1.1 (BWS), is refused.
const char* chunked_decoder::take_size(char byte) noexcept
{
    if (const int digit = core::hex_value(byte); digit >= 0) {
        state_ = state::size;
        remaining_ = remaining_ * 16 + static_cast<unsigned>(digit);
        if (++digits_ > most_digits || remaining_ > greatest_size) {
            return "a chunk size is too great";
        }
        ++line_;
        return line_ > limits_.line ? "a chunk size line is over the limit" : nullptr;
    }
    return state_ == state::size ? end_extension(byte) : "a chunk does not begin with its size";
}

// A size, an extension's name or its value may be followed by another extension, or the end of the line.
const char* chunked_decoder::end_extension(char byte) noexcept
{
    if (byte == '\r') {
        state_ = state::size_lf;
        return nullptr;
    }
    if (byte == ';') {
        state_ = state::extension_first;
        return over_limit();
    }
    return "a byte that no chunk size line may have";
}

const char* chunked_decoder::over_limit() noexcept
{
    ++line_;
    ++extensions_;
    return line_ > limits_.line || extensions_ > limits_.extensions ? "chunk extensions are over the limit" : nullptr;
}

// RFC 9112 section 7.1.1: chunk-ext-name [ "=" ( token / quoted-string ) ]. The bytes of a quoted-string are those of a
// field value (RFC 9110 section 5.6.4).
const char* chunked_decoder::take_extension(char byte) noexcept
{
    constexpr auto wrong = "a malformed chunk extension";
    switch (state_) {
        case state::extension_first:
        case state::extension_name:
            if (is(byte, token_byte)) {
                state_ = state::extension_name;
                return over_limit();
            }
            if (state_ == state::extension_first) {
                return wrong;
            }
            if (byte == '=') {
                state_ = state::extension_value_first;
                return over_limit();
            }
            return end_extension(byte);
        case state::extension_value_first:
        case state::extension_value:
            if (is(byte, token_byte)) {
                state_ = state::extension_value;
                return over_limit();
            }
            if (state_ == state::extension_value) {
                return end_extension(byte);
            }
            state_ = state::extension_quoted;
            return byte == '"' ? over_limit() : wrong;
        case state::extension_quoted:
            if (byte == '"') {
                state_ = state::extension_end;
            } else if (byte == '\\') {
                state_ = state::extension_escape;
            } else if (!is(byte, value_byte)) {
                return wrong;
            }
            return over_limit();
        case state::extension_escape:
            state_ = state::extension_quoted;
            return is(byte, value_byte) ? over_limit() : wrong;
        default:
            return end_extension(byte);
    }
}

// RFC 9112 section 7.1.2, as strictly as the fields of a head.
const char* chunked_decoder::take_trailer(char byte) noexcept
{
    if (state_ == state::trailer_first && byte == '\r') {
        state_ = state::end_lf;
        return nullptr;
    }
    ++trailers_;
    switch (state_) {
        case state::trailer_first:
            ++trailer_fields_;
            state_ = state::trailer_name;
            return is(byte, token_byte) ? nullptr : "a trailer field does not begin with its name";
        case state::trailer_name:
            if (byte == ':') {
                state_ = state::trailer_value;
                return nullptr;
            }
            return is(byte, token_byte) ? nullptr : "a trailer field name is not a token followed by a colon";
        case state::trailer_value:
            if (byte == '\r') {
                state_ = state::trailer_lf;
                return nullptr;
            }
            return is(byte, value_byte) ? nullptr : "a control byte in a trailer field value";
        default:
            state_ = state::trailer_first;
            return byte == '\n' ? nullptr : "a trailer field line does not end in CRLF";
    }
}

chunk_header::chunk_header(std::size_t size) noexcept
    : begin_{text_.size() - 2}
{
    text_[text_.size() - 2] = '\r';
    text_[text_.size() - 1] = '\n';
    do {
        text_[--begin_] = core::hex_digits[size % 16];
        size /= 16;
    } while (size != 0);
}

}  // namespace net::http1
