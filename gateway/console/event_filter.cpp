#include "gateway/console/event_filter.hpp"

#include "core/agent.hpp"
#include "core/ascii.hpp"
#include "core/url.hpp"
#include "gateway/model/request_record.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace gateway::console {
namespace {

using core::log_level;

constexpr std::size_t longest_name = 64;

core::error wrong(std::string sentence)
{
    return core::caller_error(core::errc::invalid_params, std::move(sentence));
}

bool is_event(std::string_view name)
{
    return name.size() <= longest_name &&
           std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || core::is_digit(c) || c == '_'; });
}

bool is_route(std::string_view name)
{
    for (int i = 0; i <= static_cast<int>(model::route::none); ++i) {
        if (name == model::name(static_cast<model::route>(i))) {
            return true;
        }
    }
    return false;
}

bool is_status(std::string_view text)
{
    return text.size() == 3 && text[0] >= '1' && text[0] <= '5' &&
           ((core::is_digit(text[1]) && core::is_digit(text[2])) || text.substr(1) == "xx");
}

bool read_level(std::string_view text, log_level& into)
{
    for (const auto each : {log_level::debug, log_level::info, log_level::warn, log_level::error}) {
        if (text == core::name(each)) {
            into = each;
            return true;
        }
    }
    return false;
}

bool read_last(std::string_view text, std::size_t& into)
{
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), into);
    return ec == std::errc{} && end == text.data() + text.size() && into <= most_last_lines;
}

// Empty: it is right.
std::string_view objection(event_filter& out, std::string_view name, const std::string& value)
{
    if (name == "agent") {
        out.agent = value;
        return core::valid_agent_id(value) ? "" : "`agent` is the id of an agent.";
    }
    if (name == "event") {
        out.event = value;
        return !value.empty() && is_event(value) ? "" : "`event` is the name of an event, such as request.";
    }
    if (name == "route") {
        out.route = value;
        return is_route(value) ? "" : "`route` is a route of the access line, such as call or mcp.";
    }
    if (name == "status") {
        out.status = value;
        return is_status(value) ? "" : "`status` is a status, such as 500, or a class of them, such as 5xx.";
    }
    if (name == "level") {
        return read_level(value, out.level) ? "" : "`level` is debug, info, warn or error.";
    }
    if (name == "last") {
        return read_last(value, out.last) ? "" : "`last` is a whole number, 0 to 1000.";
    }
    return "The filters are agent, event, route, status, level and last.";
}

// Members of a line, which is flat: a text has no quote in it that is not escaped.
struct line_parts {
    std::string_view level;
    std::string_view event;
    std::string_view agent;
    std::string_view route;
    std::string_view status;

    explicit line_parts(std::string_view line) noexcept
    {
        auto at = line.find('"');
        while (at != std::string_view::npos) {
            const auto name_end = line.find('"', at + 1);
            if (name_end == std::string_view::npos || name_end + 2 >= line.size()) {
                return;
            }
            const auto name = line.substr(at + 1, name_end - at - 1);
            const bool is_text = line[name_end + 2] == '"';
            const auto begin = name_end + (is_text ? 3 : 2);
            const auto end = is_text ? end_of_text(line, begin) : line.find_first_of(",}", begin);
            if (end == std::string_view::npos) {
                return;
            }
            take(name, line.substr(begin, end - begin));
            at = line.find('"', end + (is_text ? 1 : 0));
        }
    }

private:
    static std::size_t end_of_text(std::string_view line, std::size_t at) noexcept
    {
        at = line.find_first_of("\"\\", at);
        while (at != std::string_view::npos && line[at] == '\\') {
            at = line.find_first_of("\"\\", at + 2);
        }
        return at;
    }

    void take(std::string_view name, std::string_view value) noexcept
    {
        if (name == "level") {
            level = value;
        } else if (name == "event") {
            event = value;
        } else if (name == "agent") {
            agent = value;
        } else if (name == "route") {
            route = value;
        } else if (name == "status") {
            status = value;
        }
    }
};

bool is_at_least(std::string_view level, log_level least)
{
    log_level own = log_level::debug;
    return read_level(level, own) && own >= least;
}

}  // namespace

core::result<event_filter> event_filter::parse(std::string_view query)
{
    event_filter out;
    std::set<std::string> seen;
    while (!query.empty()) {
        const auto each = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(each.size() + 1, query.size()));
        const auto equals = each.find('=');
        const auto name = core::decoded(each.substr(0, equals));
        const auto value = equals == std::string_view::npos ? std::string{} : core::decoded(each.substr(equals + 1));
        if (const auto why = objection(out, name, value); !why.empty()) {
            return wrong(std::string{why});
        }
        if (!seen.insert(name).second) {
            return wrong("A filter stands there once.");
        }
    }
    return out;
}

bool event_filter::takes_all() const noexcept
{
    return agent.empty() && event.empty() && route.empty() && status.empty() && level == log_level::debug;
}

bool event_filter::takes(std::string_view line) const noexcept
{
    if (takes_all()) {
        return true;
    }
    const line_parts of{line};
    const auto fits = [](const std::string& wanted, std::string_view has) { return wanted.empty() || wanted == has; };
    const bool in_class = status.ends_with("xx") && of.status.starts_with(status.front());
    return fits(agent, of.agent) && fits(event, of.event) && fits(route, of.route) &&
           (in_class || fits(status, of.status)) && (level == log_level::debug || is_at_least(of.level, level));
}

void append_event(std::string& out, std::uint64_t number, std::string_view line)
{
    constexpr std::string_view key = R"("event":")";
    const auto at = line.substr(0, longest_name).find(key);
    const auto from = at == std::string_view::npos ? line.size() : at + key.size();
    const auto end = line.find('"', from);
    const auto name = end == std::string_view::npos ? std::string_view{} : line.substr(from, end - from);
    std::array<char, 20> digits{};
    const auto* const last = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append("id: ").append(digits.data(), static_cast<std::size_t>(last - digits.data())).push_back('\n');
    if (!name.empty() && is_event(name)) {
        out.append("event: ").append(name).push_back('\n');
    }
    out.append("data: ").append(line).append("\n\n");
}

std::string event_of_lost(std::uint64_t lines)
{
    return "event: lost\ndata: {\"lines\": " + std::to_string(lines) + "}\n\n";
}

}  // namespace gateway::console
