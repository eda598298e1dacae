#include "net/http1/cookie_jar.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <utility>

namespace net::http1 {
namespace {

using seconds_of_system = std::chrono::sys_seconds;

constexpr std::int64_t longest_age = 400LL * 24 * 3600;  // seconds, as browsers limit it
constexpr std::int64_t latest_date = 9'000'000'000;      // in the year 2255, before the clock of nanoseconds ends

bool is_plain(std::string_view text) noexcept
{
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
}

// The piece in front of `end`, which is taken away with it.
std::string_view take_piece(std::string_view& rest, char end) noexcept
{
    const auto piece = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
    return piece;
}

// A run of at least `least` and at most `most` digits, which is taken away.
std::optional<int> take_number(std::string_view& text, std::size_t least, std::size_t most) noexcept
{
    std::size_t size = 0;
    int value = 0;
    while (size < text.size() && size <= most && core::is_digit(text[size])) {
        value = value * 10 + (text[size++] - '0');
    }
    if (size < least || size > most) {
        return std::nullopt;
    }
    text.remove_prefix(size);
    return value;
}

// RFC 6265 section 5.1.1.
struct date_reader {
    std::optional<std::chrono::seconds> time;
    std::optional<int> day;
    std::optional<unsigned> month;
    std::optional<int> year;

    static bool delimits(char c) noexcept
    {
        return c == '\t' || (c >= ' ' && c <= '/') || (c >= ';' && c <= '@') || (c >= '[' && c <= '`') ||
               (c >= '{' && c <= '~');
    }

    bool take_time(std::string_view token) noexcept
    {
        std::array<int, 3> parts{};
        for (auto& part : parts) {
            if (&part != parts.data() && take_colon(token)) {
                return false;
            }
            const auto number = take_number(token, 1, 2);
            if (!number) {
                return false;
            }
            part = *number;
        }
        if (parts[0] > 23 || parts[1] > 59 || parts[2] > 59) {
            return false;
        }
        time = std::chrono::hours{parts[0]} + std::chrono::minutes{parts[1]} + std::chrono::seconds{parts[2]};
        return true;
    }

    // True: there is none.
    static bool take_colon(std::string_view& token) noexcept
    {
        const bool lacks = !token.starts_with(':');
        token.remove_prefix(lacks ? 0 : 1);
        return lacks;
    }

    bool take_month(std::string_view token) noexcept
    {
        constexpr std::array<std::string_view, 12>
            months{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
        const auto* const found = std::ranges::find_if(months, [&](std::string_view each) {
            return core::equal_ignoring_case(each, token.substr(0, each.size()));
        });
        if (found == months.end()) {
            return false;
        }
        month = static_cast<unsigned>(found - months.begin()) + 1;
        return true;
    }

    void take(std::string_view token) noexcept
    {
        if (!time && take_time(token)) {
            return;
        }
        auto digits = token;
        const auto short_number = day ? std::nullopt : take_number(digits, 1, 2);
        if (short_number) {
            day = short_number;
            return;
        }
        if ((!month && take_month(token)) || year) {
            return;
        }
        year = take_number(digits, 2, 4);
        if (year && *year < 100) {
            *year += *year < 70 ? 2000 : 1900;
        }
    }

    std::optional<seconds_of_system> date() const
    {
        if (!time || !day || !month || !year || *year < 1601) {
            return std::nullopt;
        }
        const std::chrono::year_month_day date{
            std::chrono::year{*year},
            std::chrono::month{*month},
            std::chrono::day{static_cast<unsigned>(*day)}
        };
        return date.ok() ? std::optional{std::chrono::sys_days{date} + *time} : std::nullopt;
    }
};

std::optional<seconds_of_system> read_date(std::string_view text)
{
    date_reader reader;
    while (!text.empty()) {
        const auto* const end = std::ranges::find_if(text, date_reader::delimits);
        reader.take({text.begin(), end});
        text.remove_prefix(std::min(text.size(), static_cast<std::size_t>(end - text.begin()) + 1));
    }
    return reader.date();
}

// RFC 6265 section 5.2.2: digits, perhaps with a minus in front. Nothing: another text.
std::optional<std::int64_t> read_age(std::string_view text) noexcept
{
    const bool negative = text.starts_with('-');
    const auto digits = text.substr(negative ? 1 : 0);
    if (text.empty() || !std::ranges::all_of(digits, core::is_digit)) {
        return std::nullopt;
    }
    std::int64_t age = 0;
    for (const char digit : digits) {
        age = std::min(age * 10 + (digit - '0'), longest_age);
    }
    return negative ? 0 : age;
}

std::string_view without_query(std::string_view path) noexcept
{
    return path.substr(0, path.find('?'));
}

// RFC 6265 section 5.1.4.
std::string_view default_path(std::string_view path) noexcept
{
    const auto last = without_query(path).rfind('/');
    return last == path.npos || last == 0 ? std::string_view{"/"} : path.substr(0, last);
}

bool leads_to(std::string_view cookie, std::string_view path) noexcept
{
    return path.starts_with(cookie) &&
           (path.size() == cookie.size() || cookie.ends_with('/') || path[cookie.size()] == '/');
}

// RFC 6265 section 5.1.3; `domain` may be any text of a server.
bool is_host_or_above(std::string_view domain, std::string_view host) noexcept
{
    domain.remove_prefix(domain.starts_with('.') ? 1 : 0);
    if (domain.empty() || domain.size() > host.size()) {
        return domain.empty();
    }
    const auto above = host.size() - domain.size();
    return core::equal_ignoring_case(host.substr(above), domain) && (above == 0 || host[above - 1] == '.');
}

}  // namespace

// Nothing: it is ignored.
std::optional<cookie_jar::cookie>
cookie_jar::read(std::string_view field, const cookie_source& from, core::wall_time now)
{
    if (!is_plain(field)) {
        return std::nullopt;
    }
    auto pair = take_piece(field, ';');
    const bool named = pair.find('=') != pair.npos;
    const auto name = core::trim(take_piece(pair, '='));
    if (!named || name.empty()) {
        return std::nullopt;
    }
    cookie read{std::string{name}, std::string{core::trim(pair)}, std::string{default_path(from.path)}, std::nullopt};
    const auto today = std::chrono::floor<std::chrono::seconds>(now);
    bool aged = false;  // Max-Age counts more than Expires
    while (!field.empty()) {
        auto value = take_piece(field, ';');
        const auto attribute = core::trim(take_piece(value, '='));
        value = core::trim(value);
        const auto is = [&](std::string_view known) { return core::equal_ignoring_case(attribute, known); };
        if (is("path")) {
            read.path = value.starts_with('/') ? value : default_path(from.path);
        } else if ((is("domain") && !is_host_or_above(value, from.host)) || (is("secure") && !from.secure)) {
            return std::nullopt;
        } else if (const auto age = is("max-age") ? read_age(value) : std::nullopt) {
            read.expires = today + std::chrono::seconds{*age};
            aged = true;
        } else if (const auto date = is("expires") && !aged ? read_date(value) : std::nullopt) {
            read.expires = std::clamp(*date, seconds_of_system{}, today + std::chrono::seconds{longest_age});
        }
    }
    return read;
}

bool cookie_jar::take(std::string_view field, const cookie_source& from, core::wall_time now)
{
    auto taken = read(field, from, now);
    if (!taken) {
        return false;
    }
    const auto today = std::chrono::floor<std::chrono::seconds>(now);
    const bool swept = std::erase_if(all_, [&](const cookie& each) { return each.is_over(now); }) > 0;
    if (taken->is_over(now)) {
        const auto is = [&](const cookie& each) { return each.name == taken->name && each.path == taken->path; };
        return std::erase_if(all_, is) > 0 || swept;
    }
    const auto same = [&](const cookie& each) {
        const bool goes_on = each.expires == taken->expires ||
                             (each.expires && taken->expires && (*each.expires - today) * 2 > *taken->expires - today);
        return goes_on && each.name == taken->name && each.value == taken->value && each.path == taken->path;
    };
    return (std::ranges::none_of(all_, same) && put(std::move(*taken))) || swept;
}

bool cookie_jar::put(cookie added)
{
    const auto is = [&](const cookie& each) { return each.name == added.name && each.path == added.path; };
    const auto old = std::ranges::find_if(all_, is);
    std::size_t bytes = added.bytes();
    for (const auto& each : all_) {
        bytes += is(each) ? 0 : each.bytes();
    }
    const bool room = bytes <= most_bytes && (old != all_.end() || all_.size() < most);
    if (!room || (old != all_.end() && *old == added)) {
        return false;
    }
    if (old != all_.end()) {
        *old = std::move(added);
    } else {
        const auto size = added.path.size();
        const auto shorter = std::ranges::find_if(all_, [&](const cookie& each) { return each.path.size() < size; });
        all_.insert(shorter, std::move(added));
    }
    return true;
}

std::string cookie_jar::line(std::string_view path, core::wall_time now) const
{
    std::string text;
    for (const auto& each : all_) {
        if (!each.is_over(now) && leads_to(each.path, without_query(path))) {
            text.append(text.empty() ? "" : "; ").append(each.name).append("=").append(each.value);
        }
    }
    return text;
}

// A line for each: when it ends, its path unless that is "/", name and value.
std::string cookie_jar::to_text() const
{
    std::string text;
    for (const auto& each : all_) {
        text += each.expires ? std::to_string(each.expires->time_since_epoch().count()) : std::string{};
        text.append("\t").append(each.path == "/" ? "" : each.path).append("\t");
        text.append(each.name).append("=").append(each.value).append("\n");
    }
    return text;
}

cookie_jar cookie_jar::of_text(std::string_view text)
{
    cookie_jar jar;
    while (!text.empty()) {
        auto rest = take_piece(text, '\n');
        const auto until = take_piece(rest, '\t');
        const auto path = take_piece(rest, '\t');
        const bool plain = is_plain(path) && is_plain(rest);
        const auto name = take_piece(rest, '=');
        std::int64_t seconds = 0;
        const auto number = std::from_chars(until.data(), until.data() + until.size(), seconds);
        const bool dated = number.ec == std::errc{} && seconds >= 0 && seconds <= latest_date;
        if (!plain || name.empty() || !(until.empty() || dated)) {
            continue;
        }
        cookie read{std::string{name}, std::string{rest}, path.empty() ? "/" : std::string{path}, std::nullopt};
        if (dated) {
            read.expires = seconds_of_system{std::chrono::seconds{seconds}};
        }
        jar.put(std::move(read));
    }
    return jar;
}

}  // namespace net::http1
