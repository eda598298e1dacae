#include "core/log.hpp"

#include "core/choices.hpp"
#include "core/json/json_writer.hpp"

#include <array>
#include <cstdio>
#include <ctime>

namespace core {

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
    line += '"';
    json_writer to{line};
    to.member("level", name(level));
    to.member("event", event);
    for (const auto& field : fields) {
        const auto* const text = std::get_if<std::string_view>(&field.value);
        if (text == nullptr || !text->empty()) {
            to.key(field.name);
            std::visit([&to](const auto& value) { to.value(value); }, field.value);
        }
    }
    to.close('}');
    return line;
}

void logger::write(log_level level, std::string_view event, std::initializer_list<log_field> fields) const
{
    if (!enabled(level)) {
        return;
    }
    sink_.write(format_log_line(std::chrono::system_clock::now(), level, event, fields));
}

}  // namespace core
