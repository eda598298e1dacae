#include "gateway/telemetry/log_output.hpp"

#include "core/json/json.hpp"
#include "gateway/model/terminal_text.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <condition_variable>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

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

namespace {

using steady = std::chrono::steady_clock;

// A blocking pipe that poll() calls writable takes this much without blocking (pipe(7), PIPE_BUF).
constexpr std::size_t chunk = 4096;

// How often a writer that waits for the reader looks whether the program ends.
constexpr std::chrono::milliseconds glance{50};

std::uint64_t line_breaks(std::string_view text)
{
    std::uint64_t found = 0;
    for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
        ++found;
    }
    return found;
}

bool is_file(int descriptor)
{
    struct ::stat status{};
    return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

// Used by one thread, but for end(), lost() and failing().
class descriptor_writer {
public:
    explicit descriptor_writer(int descriptor)
        : descriptor_{descriptor},
          file_{is_file(descriptor)},
          terminal_{::isatty(descriptor) == 1}
    {
    }

    // Nothing is written after `deadline` any more.
    void end(steady::time_point deadline) noexcept { deadline_.store(deadline, std::memory_order_relaxed); }

    std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
    bool failing() const noexcept { return failing_.load(std::memory_order_relaxed); }
    void set_form(line_form form) noexcept { form_.store(form, std::memory_order_relaxed); }

    // Whole lines, each with its line break.
    void write(std::string_view lines)
    {
        const auto form = form_.load(std::memory_order_relaxed);
        const bool changed = terminal_ || form != line_form{};
        const auto shown = changed ? shown_lines(lines, form) : std::string{};
        const auto text = changed ? std::string_view{shown} : lines;
        // A line that an error cut off must not run into the next one.
        if (within_line_ && put("\n") == 1) {
            within_line_ = false;
        }
        const auto done = within_line_ ? 0 : put(text);
        failing_.store(done < text.size(), std::memory_order_relaxed);
        if (done < text.size()) {
            within_line_ = within_line_ || (done > 0 && text[done - 1] != '\n');
            lost_.fetch_add(line_breaks(text.substr(done)), std::memory_order_relaxed);
        }
    }

private:
    std::string shown_lines(std::string_view lines, const line_form& form) const
    {
        if (form == line_form{}) {
            // JSON with escapes instead of bytes that a terminal obeys.
            return model::printable(lines, /*lines=*/true);
        }
        std::string out;
        while (!lines.empty()) {
            const auto end = lines.find('\n');
            out += shown_line(lines.substr(0, end), form);
            out += '\n';
            lines.remove_prefix(end + 1);
        }
        return out;
    }

    // How many bytes went out.
    std::size_t put(std::string_view text)
    {
        std::size_t done = 0;
        while (done < text.size() && wait_until_writable()) {
            const auto written = ::write(
                descriptor_,
                text.data() + done,
                file_ ? text.size() - done : std::min(chunk, text.size() - done)
            );
            if (written >= 0) {
                done += static_cast<std::size_t>(written);
            } else if (errno != EINTR && errno != EAGAIN) {
                break;
            }
        }
        return done;
    }

    bool wait_until_writable()
    {
        if (file_) {
            return steady::now() < deadline_.load(std::memory_order_relaxed);
        }
        while (steady::now() < deadline_.load(std::memory_order_relaxed)) {
            pollfd waiting{.fd = descriptor_, .events = POLLOUT, .revents = 0};
            // Also ready when it is broken: write() says why.
            if (::poll(&waiting, 1, static_cast<int>(glance.count())) > 0) {
                return true;
            }
        }
        return false;
    }

    const int descriptor_;
    const bool file_;  // always writable, and takes all at once
    const bool terminal_;
    bool within_line_ = false;
    std::atomic<steady::time_point> deadline_{steady::time_point::max()};
    std::atomic<std::uint64_t> lost_{0};
    std::atomic<bool> failing_{false};
    std::atomic<line_form> form_{};
};

}  // namespace

class log_output::implementation {
public:
    explicit implementation(const log_output_settings& settings)
        : patience_{settings.patience},
          most_{std::max<std::size_t>(settings.queue, 1)},
          writer_{settings.descriptor},
          thread_{[this] { run(); }}
    {
    }

    ~implementation()
    {
        writer_.end(steady::now() + patience_);
        {
            const std::lock_guard lock{mutex_};
            ended_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

    implementation(const implementation&) = delete;
    implementation& operator=(const implementation&) = delete;

    void write(std::string lines)
    {
        std::string oldest;
        std::list<std::string> one;
        one.push_back(std::move(lines));  // memory may be waited for: nobody else is to wait for that
        {
            const std::lock_guard lock{mutex_};
            if (waiting_.size() == most_) {
                oldest = std::move(waiting_.front());
                waiting_.pop_front();
            }
            waiting_.splice(waiting_.end(), one);
        }
        changed_.notify_one();
        pushed_out_.fetch_add(line_breaks(oldest), std::memory_order_relaxed);
    }

    std::uint64_t dropped() const noexcept { return pushed_out_.load(std::memory_order_relaxed) + writer_.lost(); }
    bool failing() const noexcept { return writer_.failing(); }
    void set_form(line_form form) noexcept { writer_.set_form(form); }

private:
    void run()
    {
        for (std::string lines; !(lines = next()).empty();) {
            writer_.write(lines);
        }
    }

    // Waits for it; empty at the end, when nothing waits any more.
    std::string next()
    {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
        if (waiting_.empty()) {
            return {};
        }
        auto lines = std::move(waiting_.front());
        waiting_.pop_front();
        return lines;
    }

    const std::chrono::milliseconds patience_;
    const std::size_t most_;
    std::atomic<std::uint64_t> pushed_out_{0};
    descriptor_writer writer_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::list<std::string> waiting_;  // none is empty
    bool ended_ = false;
    std::thread thread_;  // the last: it uses all the others
};

log_output::log_output(log_output_settings settings)
    : implementation_{std::make_unique<implementation>(settings)}
{
}

log_output::~log_output() = default;

void log_output::write(std::string_view lines)
{
    if (lines.empty()) {
        return;
    }
    std::string text;
    text.reserve(lines.size() + 1);
    text += lines;
    text += '\n';
    implementation_->write(std::move(text));
}

std::uint64_t log_output::dropped() const noexcept
{
    return implementation_->dropped();
}

bool log_output::failing() const noexcept
{
    return implementation_->failing();
}

void log_output::set_form(line_form form) noexcept
{
    implementation_->set_form(form);
}

}  // namespace gateway::telemetry
