#include "net/http1/grammar.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace net::http1 {
namespace {

using stage = head_scan::stage;

constexpr unsigned most_options = 32;  // of all Connection fields of a head

// OWS (RFC 9110 section 5.6.3).
bool is_blank(char c) noexcept
{
    return c == ' ' || c == '\t';
}

constexpr auto no_name = bad("a field name is not a token followed by a colon");
constexpr auto no_value = bad("a control byte, or a line end that is not CRLF, in a field value");
constexpr fault too_many{core::errc::header_too_large, "too many fields"};
constexpr fault too_long{core::errc::header_too_large, "the value of a field is over the limit"};

line_result failed(fault& why, const fault& rule) noexcept
{
    why = rule;
    return line_result::failed;
}

void add_field(field_list& fields, std::string_view name, std::string_view value)
{
    while (!value.empty() && is_blank(value.data()[value.size() - 1])) {
        value.remove_suffix(1);
    }
    fields.push_back({lookup_field(name), name, value});
}

// At the first byte of a line: either the empty line, or a field name.
line_result start_line(std::string_view in, head_scan& scan, std::size_t room, fault& why) noexcept
{
    if (in[scan.at] == '\r') {
        if (scan.at + 1 == in.size()) {
            return line_result::more;
        }
        if (in[scan.at + 1] != '\n') {
            return failed(why, bad("CR without LF"));
        }
        scan.at += 2;
        scan.where = stage::done;
        return line_result::end;
    }
    if (room == 0) {
        return failed(why, too_many);
    }
    scan.mark = scan.at;
    scan.where = stage::name;
    return line_result::more;
}

// The elements of a comma-separated list, without white space around them; an empty one is given as such.
class list_elements {
public:
    explicit list_elements(std::string_view list) noexcept
        : rest_{list}
    {
    }

    std::optional<std::string_view> next() noexcept
    {
        if (over_) {
            return std::nullopt;
        }
        const auto comma = rest_.find(',');
        const auto element = core::trim(rest_.substr(0, comma));
        over_ = comma == std::string_view::npos;
        rest_.remove_prefix(over_ ? rest_.size() : comma + 1);
        return element;
    }

private:
    std::string_view rest_;
    bool over_ = false;
};

// Codings that somebody may understand, with chunked last and once (RFC 9112 section 6.1: 501). Everything else leaves
// the length of the message in doubt (section 6.3, rule 4: 400).
fault refuse_coding(std::string_view value) noexcept
{
    const auto wrong = bad("Transfer-Encoding is not exactly chunked");
    bool ended_by_chunked = false;
    list_elements elements{value};
    while (const auto element = elements.next()) {
        if (ended_by_chunked || !core::is_token(*element)) {
            return wrong;
        }
        ended_by_chunked = core::equal_ignoring_case(*element, "chunked");
    }
    return ended_by_chunked ? fault{core::errc::not_implemented, "a transfer coding besides chunked"} : wrong;
}

// RFC 3986 section 3.2.2: IPv4address.
bool valid_ipv4(std::string_view text) noexcept
{
    unsigned parts = 0;
    while (true) {
        const auto length = skip(text, 0, digit_byte);
        if (length == 0 || length > 3 || (length > 1 && text.front() == '0')) {
            return false;
        }
        unsigned part = 0;
        for (const char digit : text.substr(0, length)) {
            part = part * 10 + static_cast<unsigned>(digit - '0');
        }
        if (part > 255) {
            return false;
        }
        text.remove_prefix(length);
        if (++parts == 4) {
            return text.empty();
        }
        if (text.empty() || text.front() != '.') {
            return false;
        }
        text.remove_prefix(1);
    }
}

// RFC 3986 section 3.2.2: IPv6address, what stands between the brackets. No zone: it means nothing to another machine.
bool valid_ipv6(std::string_view text) noexcept
{
    unsigned groups = 0;
    bool compressed = false;
    if (text.starts_with("::")) {
        compressed = true;
        text.remove_prefix(2);
    }
    while (!text.empty()) {
        const auto length = skip(text, 0, hex_byte);
        if (length < text.size() && text[length] == '.') {
            groups += 2;
            return valid_ipv4(text) && (compressed ? groups < 8 : groups == 8);
        }
        if (length == 0 || length > 4) {
            return false;
        }
        ++groups;
        text.remove_prefix(length);
        if (text.empty()) {
            break;
        }
        if (text.starts_with("::")) {
            if (compressed) {
                return false;
            }
            compressed = true;
            text.remove_prefix(2);
        } else if (text.front() == ':' && text.size() > 1) {
            text.remove_prefix(1);
        } else {
            return false;
        }
    }
    return compressed ? groups < 8 : groups == 8;
}

// RFC 3986 section 3.2.3, with a number that a socket can have; may be empty.
bool valid_port(std::string_view text) noexcept
{
    if (text.size() > 5 || skip(text, 0, digit_byte) != text.size()) {
        return false;
    }
    unsigned port = 0;
    for (const char digit : text) {
        port = port * 10 + static_cast<unsigned>(digit - '0');
    }
    return port <= 65535;
}

}  // namespace

std::size_t skip_values(std::string_view in, std::size_t at) noexcept
{
#if defined(__SSE2__)
    constexpr std::size_t value_block = 16;
    const auto last_control = _mm_set1_epi8(0x1F);
    const auto tab = _mm_set1_epi8('\t');
    const auto del = _mm_set1_epi8(0x7F);
    for (; in.size() - at >= value_block; at += value_block) {
        const auto block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in.data() + at));
        const auto controls = _mm_cmpeq_epi8(_mm_min_epu8(block, last_control), block);
        const auto others =
            _mm_or_si128(_mm_andnot_si128(_mm_cmpeq_epi8(block, tab), controls), _mm_cmpeq_epi8(block, del));
        const auto places = static_cast<unsigned>(_mm_movemask_epi8(others));
        if (places != 0) {
            return at + static_cast<std::size_t>(std::countr_zero(places));
        }
    }
#endif
    return skip(in, at, value_byte);
}

namespace {

// Skips like skip(), for classes with all letters, digits and hyphens, which go a block at a time; of a path, dots and slashes, too.
template <bool path>
std::size_t skip_words(std::string_view in, std::size_t at, unsigned wanted) noexcept
{
#if defined(__SSE2__)
    constexpr std::size_t block_size = 16;
    const auto within = [](__m128i bytes, char least, char most) {
        const auto from_least = _mm_sub_epi8(bytes, _mm_set1_epi8(least));
        return _mm_cmpeq_epi8(_mm_min_epu8(from_least, _mm_set1_epi8(static_cast<char>(most - least))), from_least);
    };
    for (; in.size() - at >= block_size; at += block_size) {
        const auto block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in.data() + at));
        const auto letters = within(_mm_or_si128(block, _mm_set1_epi8(0x20)), 'a', 'z');
        const auto hyphens = _mm_cmpeq_epi8(block, _mm_set1_epi8('-'));
        const auto others = path ? within(block, '-', '9') : _mm_or_si128(within(block, '0', '9'), hyphens);
        const auto usual = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(letters, others)));
        if (usual != 0xFFFF) {
            at += static_cast<std::size_t>(std::countr_one(usual));
            break;
        }
    }
#endif
    return skip(in, at, wanted);
}

std::size_t skip_name(std::string_view in, std::size_t at) noexcept
{
    return skip_words<false>(in, at, token_byte);
}

}  // namespace

std::size_t skip_path(std::string_view in, std::size_t at, unsigned wanted) noexcept
{
    return skip_words<true>(in, at, wanted);
}

line_result next_field(std::string_view in, head_scan& scan, field_list& fields, const head_limits& limits, fault& why)
{
    if (scan.at == in.size()) {
        return line_result::more;
    }
    if (scan.where == stage::line_start) {
        const auto started = start_line(in, scan, limits.fields - fields.size(), why);
        if (scan.where != stage::name) {
            return started;
        }
    }
    if (scan.where == stage::name) {
        scan.at = skip_name(in, scan.at);
        if (scan.at == in.size()) {
            return line_result::more;
        }
        if (in[scan.at] != ':' || scan.at == scan.mark) {
            return failed(why, no_name);
        }
        scan.colon = scan.at++;
        scan.where = stage::value;
    }
    auto begin = scan.colon + 1;
    while (begin < in.size() && is_blank(in[begin])) {
        ++begin;
    }
    // One byte over the limit is enough to know; what comes after it is not looked at.
    const auto window = in.size() - begin > limits.value ? in.substr(0, begin + limits.value + 1) : in;
    scan.at = skip_values(window, scan.at);
    if (scan.at > begin && scan.at - begin > limits.value) {
        return failed(why, too_long);
    }
    if (scan.at == in.size() || (in[scan.at] == '\r' && scan.at + 1 == in.size())) {
        return line_result::more;
    }
    if (in[scan.at] != '\r' || in[scan.at + 1] != '\n') {
        return failed(why, no_value);
    }
    add_field(fields, in.substr(scan.mark, scan.colon - scan.mark), in.substr(begin, scan.at - begin));
    scan.at += 2;
    scan.where = stage::line_start;
    return line_result::field;
}

fault known_field(
    std::string_view in,
    std::size_t at,
    const line_end& line,
    field_list& fields,
    const head_limits& limits
)
{
    if (line.end > in.size()) {
        return {core::errc::header_too_large, "the head is over the limit"};
    }
    if (fields.size() == limits.fields) {
        return too_many;
    }
    const char* const text = in.data();
    if (line.colon == at || skip_name(in, at) != line.colon || text[line.colon] != ':') {
        return no_name;
    }
    auto begin = line.colon + std::size_t{1};
    while (is_blank(text[begin])) {
        ++begin;
    }
    const auto end = skip_values(in, begin);
    if (end - begin > limits.value) {
        return too_long;
    }
    if (end + 2 != line.end || text[end] != '\r' || text[end + 1] != '\n') {
        return no_value;
    }
    add_field(fields, {text + at, line.colon - at}, {text + begin, end - begin});
    return {};
}

std::optional<std::uint64_t> parse_length(std::string_view value) noexcept
{
    constexpr std::uint64_t greatest = std::numeric_limits<std::int64_t>::max();
    if (value.empty()) {
        return std::nullopt;
    }
    std::uint64_t length = 0;
    for (const char byte : value) {
        if (!is(byte, digit_byte)) {
            return std::nullopt;
        }
        const auto digit = static_cast<std::uint64_t>(byte - '0');
        if (length > (greatest - digit) / 10) {
            return std::nullopt;
        }
        length = length * 10 + digit;
    }
    return length;
}

fault note_framing(const field& line, unsigned minor_version, head_scan& scan) noexcept
{
    if (scan.has_length || scan.chunked) {
        return bad("more than one Content-Length or Transfer-Encoding");
    }
    if (line.id == field_name::content_length) {
        const auto length = parse_length(line.value);
        if (!length) {
            return bad("Content-Length is not one number below 2^63");
        }
        scan.has_length = true;
        scan.length = *length;
        return {};
    }
    if (minor_version == 0) {
        return bad("Transfer-Encoding in HTTP/1.0");
    }
    if (!core::equal_ignoring_case(line.value, "chunked")) {
        return refuse_coding(line.value);
    }
    scan.chunked = true;
    return {};
}

fault note_connection(std::string_view value, head_scan& scan) noexcept
{
    list_elements elements{value};
    while (const auto element = elements.next()) {
        if (++scan.options > most_options) {
            return bad("Connection has too many options");
        }
        if (!element->empty() && !core::is_token(*element)) {
            return bad("Connection is not a list of tokens");
        }
        scan.close = scan.close || core::equal_ignoring_case(*element, "close");
    }
    return {};
}

bool valid_host(std::string_view value) noexcept
{
    if (value.starts_with('[')) {
        const auto close = value.find(']');
        if (close == std::string_view::npos || !valid_ipv6(value.substr(1, close - 1))) {
            return false;
        }
        value.remove_prefix(close + 1);
    } else {
        const auto length = skip(value, 0, name_byte);
        if (length == 0) {
            return false;
        }
        value.remove_prefix(length);
    }
    return value.empty() || (value.front() == ':' && valid_port(value.substr(1)));
}

}  // namespace net::http1
