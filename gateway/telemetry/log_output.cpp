#include "gateway/telemetry/log_output.hpp"

#include "gateway/model/terminal_text.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace gateway::telemetry {
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
