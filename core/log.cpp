#include "core/log.hpp"

#include "core/choices.hpp"
#include "core/json/json.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <new>

namespace core {
namespace {

template <class Number>
void append_number(std::string& out, Number value)
{
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out.append(digits.data(), end);
}

void append_value(std::string& out, const log_field& field)
{
    if (const auto* text = std::get_if<std::string_view>(&field.value)) {
        append_json_string(out, *text);
    } else if (const auto* number = std::get_if<std::int64_t>(&field.value)) {
        append_number(out, *number);
    } else if (const auto* real = std::get_if<double>(&field.value)) {
        append_number(out, *real);
    } else {
        out += std::get<bool>(field.value) ? "true" : "false";
    }
}

}  // namespace

std::string_view name(log_level level) noexcept
{
    return chosen_name(level);
}

std::string_view name(log_format format) noexcept
{
    return chosen_name(format);
}

void append_timestamp(std::string& out, wall_time when)
{
    const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch()).count();
    const auto seconds = static_cast<std::time_t>(since_epoch / 1000);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    std::array<char, 40> text{};
    const int length = std::snprintf(
        text.data(),
        text.size(),
        "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
        parts.tm_year + 1900,
        parts.tm_mon + 1,
        parts.tm_mday,
        parts.tm_hour,
        parts.tm_min,
        parts.tm_sec,
        static_cast<int>(since_epoch % 1000)
    );
    out.append(text.data(), static_cast<std::size_t>(length));
}

std::string
format_log_line(wall_time now, log_level level, std::string_view event, std::initializer_list<log_field> fields)
{
    std::string line = R"({"ts":")";
    append_timestamp(line, now);
    line += R"(","level":")";
    line += name(level);
    line += R"(","event":)";
    append_json_string(line, event);
    for (const auto& field : fields) {
        const auto* const text = std::get_if<std::string_view>(&field.value);
        if (text != nullptr && text->empty()) {
            continue;
        }
        line += ',';
        append_json_string(line, field.name);
        line += ':';
        append_value(line, field);
    }
    line += '}';
    return line;
}

void logger::write(log_level level, std::string_view event, std::initializer_list<log_field> fields) const
{
    if (!enabled(level)) {
        return;
    }
    try {
        sink_.write(format_log_line(std::chrono::system_clock::now(), level, event, fields));
    } catch (const std::bad_alloc&) {
        // Whoever logs may be on its way to refuse work for that very reason.
        sink_.write(R"({"level":"error","event":"internal_error","where":"log","what":"no memory for a line"})");
    }
}

}  // namespace core
