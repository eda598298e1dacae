#include "gateway/telemetry/line_form.hpp"

#include "core/json/json.hpp"
#include "gateway/model/terminal_text.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace gateway::telemetry {
namespace {

using core::json;

constexpr std::size_t time_at = 11;  // in 2026-11-20T06:39:05.123Z
constexpr std::size_t time_length = 8;
constexpr std::size_t level_width = 5;

constexpr std::string_view bold = "\033[1m";
constexpr std::string_view red = "\033[31m";
constexpr std::string_view yellow = "\033[33m";
constexpr std::string_view dim = "\033[2m";
constexpr std::string_view plain = "\033[0m";

// Fields that a request's sentence has, or that are of no use to somebody who watches.
constexpr auto of_requests = std::to_array<std::string_view>(
    {"id", "route", "method", "rpc", "tool", "status", "ms", "ttfb_ms", "bytes_in", "bytes_out", "trace_id", "span_id"}
);

std::string_view colour_of(std::string_view level) noexcept
{
    return level == "error" ? red : level == "warn" ? yellow : level == "debug" ? dim : std::string_view{};
}

// Levels of syslog(3).
char priority_of(std::string_view level) noexcept
{
    return level == "error" ? '3' : level == "warn" ? '4' : level == "debug" ? '7' : '6';
}

std::string words_of(std::string event)
{
    std::ranges::replace(event, '_', ' ');
    return event;
}

std::string text_of(const json& value)
{
    return model::printable(value.is_string() ? value.get_ref<const std::string&>() : core::to_text(value));
}

// POST message/send 200 3.214 ms
std::string sentence_of_request(const json& line)
{
    std::string out;
    const auto add = [&](std::string_view name, std::string_view unit = {}) {
        if (const auto* value = core::member(line, name)) {
            out += (out.empty() ? "" : " ") + text_of(*value);
            out += unit;
        }
    };
    add("method");
    add(line.contains("rpc") ? "rpc" : "route");
    add("tool");
    add("status");
    add("ms", " ms");
    return out;
}

// The other fields: the detail after a colon, the rest with names in brackets.
std::string rest_of(const json& line, bool request)
{
    std::string named;
    for (const auto& [name, value] : line.items()) {
        const bool told = name == "ts" || name == "level" || name == "event" || name == "agent" || name == "detail" ||
                          (request && std::ranges::find(of_requests, name) != of_requests.end());
        if (!told) {
            named += (named.empty() ? "" : ", ") + model::printable(name) + ' ' + text_of(value);
        }
    }
    const auto detail = core::text_member(line, "detail");
    return (detail.empty() ? "" : ": " + model::printable(detail)) + (named.empty() ? "" : " (" + named + ')');
}

std::string sentence(const json& line, bool colour)
{
    const auto paint = [&](std::string_view with, std::string text) {
        return colour && !with.empty() ? std::string{with} + text + std::string{plain} : text;
    };
    const auto level = core::text_member(line, "level");
    std::string shown_level = level;
    std::ranges::transform(shown_level, shown_level.begin(), [](unsigned char c) {
        return static_cast<char>(std::toupper(c));
    });
    shown_level.resize(std::max(level_width, shown_level.size()), ' ');
    const auto agent = model::printable(core::text_member(line, "agent"));
    const auto event = core::text_member(line, "event");
    const bool request = event == "request";
    return core::text_member(line, "ts").substr(time_at, time_length) + ' ' +
           paint(colour_of(level), std::move(shown_level)) + ' ' + (agent.empty() ? "" : paint(bold, agent) + "  ") +
           (request ? sentence_of_request(line) : words_of(model::printable(event))) + rest_of(line, request);
}

bool is_ours(const json& line)
{
    return core::text_member(line, "ts").size() > time_at + time_length &&
           core::string_member(line, "level") != nullptr && core::string_member(line, "event") != nullptr;
}

}  // namespace

log_place place_of(int descriptor, const std::function<std::optional<std::string>(std::string_view name)>& variable)
{
    log_place out;
    out.terminal = ::isatty(descriptor) == 1;
    out.plain = !variable("NO_COLOR").value_or("").empty();
    const auto stream = variable("JOURNAL_STREAM");
    struct ::stat status{};
    if (stream && ::fstat(descriptor, &status) == 0) {
        out.journal = *stream == std::to_string(status.st_dev) + ':' + std::to_string(status.st_ino);
    }
    return out;
}

line_form form_at(const log_place& place, core::log_format wanted) noexcept
{
    line_form out;
    out.text = wanted == core::log_format::text || (wanted == core::log_format::automatic && place.terminal);
    out.colour = out.text && place.terminal && !place.plain;
    out.journal = place.journal;
    return out;
}

std::string shown_line(std::string_view json_text, const line_form& form)
{
    const auto line = core::parse_json(json_text);
    const bool ours = line && is_ours(*line);
    std::string out;
    if (form.journal && ours) {
        out = std::string{'<'} + priority_of(core::text_member(*line, "level")) + '>';
    }
    if (form.text) {
        out += ours ? sentence(*line, form.colour) : model::printable(json_text);
    } else {
        out += json_text;
    }
    return out;
}

}  // namespace gateway::telemetry
