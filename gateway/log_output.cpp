#include "gateway/log_output.hpp"

#include "gateway/terminal_text.hpp"

#include <poll.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <vector>

namespace gateway {
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

// Used by the queue's one thread, but for end() and lost().
class descriptor_sink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
    explicit descriptor_sink(int descriptor)
        : base_sink{std::make_unique<spdlog::pattern_formatter>("%v", spdlog::pattern_time_type::utc, "\n")},
          descriptor_{descriptor},
          file_{is_file(descriptor)},
          terminal_{::isatty(descriptor) == 1}
    {
    }

    // Nothing is written after `deadline` any more.
    void end(steady::time_point deadline) noexcept { deadline_.store(deadline, std::memory_order_relaxed); }

    std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override
    {
        text_.clear();
        formatter_->format(message, text_);
        // The same JSON, with escapes in place of what a terminal obeys.
        const auto shown = terminal_ ? printable({text_.data(), text_.size()}, /*lines=*/true) : std::string{};
        const auto text = terminal_ ? std::string_view{shown} : std::string_view{text_.data(), text_.size()};
        // What an error cut off must not run into the next line.
        if (within_line_ && put("\n") == 1) {
            within_line_ = false;
        }
        const auto done = within_line_ ? 0 : put(text);
        if (done < text.size()) {
            within_line_ = within_line_ || (done > 0 && text[done - 1] != '\n');
            lost_.fetch_add(line_breaks(text.substr(done)), std::memory_order_relaxed);
        }
    }

    void flush_() override {}

private:
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
    spdlog::memory_buf_t text_;
    bool within_line_ = false;
    std::atomic<steady::time_point> deadline_{steady::time_point::max()};
    std::atomic<std::uint64_t> lost_{0};
};

}  // namespace

class log_output::implementation {
public:
    explicit implementation(const log_output_settings& settings)
        : patience_{settings.patience},
          lines_of_(std::max<std::size_t>(settings.queue, 1)),
          sink_{std::make_shared<descriptor_sink>(settings.descriptor)},
          pool_{std::make_shared<spdlog::details::thread_pool>(lines_of_.size(), 1)},
          logger_{std::make_shared<spdlog::async_logger>(
              "log_output",
              sink_,
              pool_,
              spdlog::async_overflow_policy::overrun_oldest
          )}
    {
    }

    ~implementation()
    {
        sink_->end(steady::now() + patience_);
        pool_.reset();
    }

    implementation(const implementation&) = delete;
    implementation& operator=(const implementation&) = delete;

    void write(std::string_view lines)
    {
        const auto count = line_breaks(lines) + 1;
        const std::lock_guard lock{mutex_};
        logger_->log(spdlog::level::info, spdlog::string_view_t{lines.data(), lines.size()});
        // The queue always holds the latest writes without a gap. If it was full, what fell out is therefore the write
        // that came `queue` writes before this one.
        auto& oldest = lines_of_[next_];
        if (pool_->overrun_counter() != overruns_) {
            ++overruns_;
            pushed_out_.fetch_add(oldest, std::memory_order_relaxed);
        }
        oldest = count;
        next_ = (next_ + 1) % lines_of_.size();
    }

    std::uint64_t dropped() const noexcept { return pushed_out_.load(std::memory_order_relaxed) + sink_->lost(); }

private:
    const std::chrono::milliseconds patience_;
    std::mutex mutex_;
    std::vector<std::uint64_t> lines_of_;  // of the latest writes, a ring
    std::size_t next_ = 0;
    std::size_t overruns_ = 0;
    std::atomic<std::uint64_t> pushed_out_{0};
    std::shared_ptr<descriptor_sink> sink_;
    std::shared_ptr<spdlog::details::thread_pool> pool_;
    std::shared_ptr<spdlog::async_logger> logger_;
};

log_output::log_output(log_output_settings settings)
    : implementation_{std::make_unique<implementation>(settings)}
{
}

log_output::~log_output() = default;

void log_output::write(std::string_view lines)
{
    if (!lines.empty()) {
        implementation_->write(lines);
    }
}

std::uint64_t log_output::dropped() const noexcept
{
    return implementation_->dropped();
}

}  // namespace gateway
