#include "a2a/dialect/timestamp.hpp"

#include "a2a/dialect/walk.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

namespace a2a {
namespace {

// Takes `count` digits from the front of `text`. Nothing: there are fewer.
std::optional<int> take_digits(std::string_view& text, std::size_t count) noexcept
{
    if (text.size() < count) {
        return std::nullopt;
    }
    int value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (!core::is_digit(text[i])) {
            return std::nullopt;
        }
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(count);
    return value;
}

bool take(std::string_view& text, std::string_view any_of) noexcept
{
    if (text.empty() || any_of.find(text.front()) == std::string_view::npos) {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

// `hh`, `hh:mm` or `hhmm`, in minutes.
std::optional<int> take_offset(std::string_view& text) noexcept
{
    const auto hours = take_digits(text, 2);
    if (!hours) {
        return std::nullopt;
    }
    int minutes = 0;
    if (take(text, ":") || !text.empty()) {
        const auto read = take_digits(text, 2);
        if (!read) {
            return std::nullopt;
        }
        minutes = *read;
    }
    const bool possible = *hours <= 23 && minutes <= 59;
    return possible ? std::optional{*hours * 60 + minutes} : std::nullopt;
}

struct moment {
    std::chrono::sys_seconds at;  // in UTC
    std::string_view fraction;    // digits only
};

std::optional<std::chrono::sys_days> take_date(std::string_view& text) noexcept
{
    const auto year = take_digits(text, 4);
    if (!year || !take(text, "-")) {
        return std::nullopt;
    }
    const auto month = take_digits(text, 2);
    if (!month || !take(text, "-")) {
        return std::nullopt;
    }
    const auto day = take_digits(text, 2);
    if (!day) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{
        std::chrono::year{*year},
        std::chrono::month{static_cast<unsigned>(*month)},
        std::chrono::day{static_cast<unsigned>(*day)}
    };
    return date.ok() ? std::optional<std::chrono::sys_days>{date} : std::nullopt;
}

// `hh:mm`, `hh:mm:ss` or `hh:mm:ss.fraction`. A leap second counts as the second before it.
std::optional<std::chrono::seconds> take_time(std::string_view& text, std::string_view& fraction) noexcept
{
    const auto hour = take_digits(text, 2);
    if (!hour || *hour > 23 || !take(text, ":")) {
        return std::nullopt;
    }
    const auto minute = take_digits(text, 2);
    if (!minute || *minute > 59) {
        return std::nullopt;
    }
    int second = 0;
    if (take(text, ":")) {
        const auto read = take_digits(text, 2);
        if (!read || *read > 60) {
            return std::nullopt;
        }
        second = *read == 60 ? 59 : *read;
        if (take(text, ".,")) {
            const auto length = std::min(text.find_first_not_of("0123456789"), text.size());
            if (length == 0) {
                return std::nullopt;
            }
            fraction = text.substr(0, std::min<std::size_t>(length, 9));
            text.remove_prefix(length);
        }
    }
    return std::chrono::hours{*hour} + std::chrono::minutes{*minute} + std::chrono::seconds{second};
}

std::optional<moment> read_moment(std::string_view text) noexcept
{
    const auto date = take_date(text);
    if (!date || !take(text, "Tt ")) {
        return std::nullopt;
    }
    moment read;
    const auto time = take_time(text, read.fraction);
    if (!time) {
        return std::nullopt;
    }
    read.at = std::chrono::sys_seconds{*date} + *time;
    if (!text.empty() && !take(text, "Zz")) {
        const bool behind = text.front() == '-';
        if (!take(text, "+-")) {
            return std::nullopt;
        }
        const auto offset = take_offset(text);
        if (!offset) {
            return std::nullopt;
        }
        read.at += std::chrono::minutes{behind ? *offset : -*offset};
    }
    return text.empty() ? std::optional{read} : std::nullopt;
}

void append_digits(std::string& out, int value, int count)
{
    int unit = 1;
    for (int i = 1; i < count; ++i) {
        unit *= 10;
    }
    for (; unit > 0; unit /= 10) {
        out += static_cast<char>('0' + value / unit % 10);
    }
}

bool is_writable(const std::chrono::year_month_day& date) noexcept
{
    return date.year() >= std::chrono::year{1} && date.year() <= std::chrono::year{9999};
}

}  // namespace

std::optional<utc_time> read_timestamp(std::string_view raw)
{
    std::string room;
    const auto read = is_string(raw) ? read_moment(text_of(raw, room)) : std::nullopt;
    if (!read || !is_writable(std::chrono::floor<std::chrono::days>(read->at))) {
        return std::nullopt;
    }
    std::int32_t nanos = 0;
    for (std::size_t i = 0; i < 9; ++i) {
        nanos = nanos * 10 + (i < read->fraction.size() ? read->fraction[i] - '0' : 0);
    }
    return utc_time{read->at, nanos};
}

bool append_timestamp(std::string& out, std::string_view raw)
{
    if (!is_string(raw)) {
        return false;
    }
    std::string room;
    const auto read = read_moment(text_of(raw, room));
    if (!read) {
        return false;
    }
    const auto day = std::chrono::floor<std::chrono::days>(read->at);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{read->at - day};
    if (!is_writable(date)) {
        return false;
    }
    out += '"';
    append_digits(out, static_cast<int>(date.year()), 4);
    out += '-';
    append_digits(out, static_cast<int>(static_cast<unsigned>(date.month())), 2);
    out += '-';
    append_digits(out, static_cast<int>(static_cast<unsigned>(date.day())), 2);
    out += 'T';
    append_digits(out, static_cast<int>(time.hours().count()), 2);
    out += ':';
    append_digits(out, static_cast<int>(time.minutes().count()), 2);
    out += ':';
    append_digits(out, static_cast<int>(time.seconds().count()), 2);
    if (!read->fraction.empty()) {
        out.append(".").append(read->fraction);
    }
    out += "Z\"";
    return true;
}

}  // namespace a2a
