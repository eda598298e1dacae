#include "core/trace_context.hpp"

#include "core/ascii.hpp"

namespace core {
namespace {

constexpr std::string_view version_of_today = "00";
constexpr std::string_view forbidden_version = "ff";
constexpr std::size_t id_digits = 16;

// Upper case is refused: the next reader would refuse it.
std::optional<std::uint64_t> read_hex(std::string_view digits) noexcept
{
    std::uint64_t number = 0;
    for (const char c : digits) {
        const bool lower_digit = is_digit(c) || (c >= 'a' && c <= 'f');
        if (!lower_digit) {
            return std::nullopt;
        }
        number = number << 4U | static_cast<std::uint64_t>(hex_value(c));
    }
    return number;
}

}  // namespace

std::optional<trace_context> read_traceparent(std::string_view value) noexcept
{
    constexpr std::size_t trace_at = 3;
    constexpr std::size_t span_at = trace_at + 2 * id_digits + 1;
    constexpr std::size_t flags_at = span_at + id_digits + 1;
    if (value.size() < traceparent_length || value[trace_at - 1] != '-' || value[span_at - 1] != '-' ||
        value[flags_at - 1] != '-') {
        return std::nullopt;
    }
    const auto version = value.substr(0, 2);
    const bool longer = value.size() > traceparent_length;
    if (version == forbidden_version || (longer && version == version_of_today) ||
        (longer && value[traceparent_length] != '-')) {
        return std::nullopt;
    }
    const auto high = read_hex(value.substr(trace_at, id_digits));
    const auto low = read_hex(value.substr(trace_at + id_digits, id_digits));
    const auto span = read_hex(value.substr(span_at, id_digits));
    const auto flags = read_hex(value.substr(flags_at, 2));
    if (!read_hex(version) || !high || !low || !span || !flags) {
        return std::nullopt;
    }
    const trace_context read{{*high, *low}, *span, (*flags & 1U) != 0};
    return read ? std::optional{read} : std::nullopt;
}

void append_hex(std::string& out, std::uint64_t number)
{
    const auto digits = hex_digits_of(number);
    out.append(digits.data(), digits.size());
}

void append_hex(std::string& out, const trace_id& id)
{
    append_hex(out, id.high);
    append_hex(out, id.low);
}

void append_traceparent(std::string& out, const trace_context& context)
{
    out.append(version_of_today).append("-");
    append_hex(out, context.trace);
    out += '-';
    append_hex(out, context.span);
    out += context.sampled ? "-01" : "-00";
}

}  // namespace core
