#include "net/process/child_process.hpp"

#include "net/loop/shared_budget.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <poll.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace net {
namespace {

using pipe_descriptor = asio::posix::basic_stream_descriptor<executor>;
using timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, executor>;

constexpr std::size_t piece_size = 64 * 1024;
constexpr std::size_t most_pieces = 64;  // in one write: what asks without end costs an answer each

// The most that is read of the output of an ended child: more than a pipe holds, so that a process that escaped its group cannot keep us.
constexpr std::size_t most_remains = 4 * 1024 * 1024;

// For a killed one to be gone: it takes as long only if its end is not in our hands.
constexpr int patience_with_killed = 100;  // ms

// The bytes that this thread has read last. On the heap: a new thread writes zeros to all its thread-local memory, also if it has no child
// process.
std::array<char, piece_size>& read_buffer()
{
    thread_local const auto buffer = std::make_unique_for_overwrite<std::array<char, piece_size>>();
    return *buffer;
}

child_end end_of(const std::optional<siginfo_t>& info)
{
    return info ? child_end{info->si_code != CLD_EXITED, info->si_status} : child_end{.held = true};
}

}  // namespace

std::string to_text(const child_end& how)
{
    if (how.held) {
        return "ended, and is kept by who traces it";
    }
    return (how.by_signal ? "signal " : "exit code ") + std::to_string(how.number) +
           (how.mute ? " after its input or output was closed" : "");
}

// Operations hold it until they have completed.
class child_process::running : public std::enable_shared_from_this<running> {
public:
    running(loop& on, const spawned_child& child, child_observer& observer, child_limits limits)
        : observer_{&observer},
          limits_{limits},
          id_{child.id},
          handle_{on.get_executor(), child.handle},
          input_{on.get_executor(), child.input},
          output_{{on.get_executor(), child.output}, timer{on.get_executor()}, &child_observer::wrote},
          complaints_{{on.get_executor(), child.complaints}, timer{on.get_executor()}, &child_observer::complained},
          step_{on.get_executor()}
    {
        // Without that Asio waits for a pipe that has nothing, however it was opened.
        output_.from.non_blocking(true);
        complaints_.from.non_blocking(true);
    }

    void begin()
    {
        read(output_);
        read(complaints_);
        await_end();
    }

    pid_t id() const noexcept { return id_; }
    std::size_t queued() const noexcept { return queued_; }

    core::result<> write(std::string bytes)
    {
        if (!input_.is_open() || stopping_) {
            return core::upstream_error(core::errc::upstream_reset, "the program takes no more input");
        }
        if (bytes.size() > limits_.queued - std::min(queued_, limits_.queued)) {
            return core::upstream_error(core::errc::overloaded, "the program does not read its input");
        }
        queued_ += bytes.size();
        waiting_.push_back(std::move(bytes));
        if (!writing_) {
            write_next();
        }
        return {};
    }

    void stop()
    {
        if (std::exchange(stopping_, true)) {
            return;
        }
        if (!writing_) {
            close_input();
        }
        after_patience(SIGTERM);
    }

    void signal_group(int number)
    {
        if (!reaped_) {
            ::kill(-id_, number);
        }
    }

    // Nobody is told of anything from now on, and nothing is left of it.
    void abandon()
    {
        observer_ = nullptr;
        if (!reaped_) {
            ::kill(-id_, SIGKILL);
            pollfd end{handle_.native_handle(), POLLIN, 0};
            ::poll(&end, 1, patience_with_killed);
            reap(id_);
            reaped_ = true;
        }
        close_all();
    }

private:
    struct source {
        pipe_descriptor from;
        timer rest;
        void (child_observer::*tell)(std::string_view);
    };

    void read(source& pipe)
    {
        pipe.from.async_wait(pipe_descriptor::wait_read, [self = shared_from_this(), &pipe](error_code ec) {
            if (!ec) {
                self->take(pipe);
            }
        });
    }

    // One piece at a time, so that one that floods us leaves room for the others.
    void take(source& pipe)
    {
        if (observer_ == nullptr || !pipe.from.is_open()) {
            return;
        }
        const auto begun = std::chrono::steady_clock::now();
        error_code ec;
        auto& buffer = read_buffer();
        const auto size = pipe.from.read_some(asio::buffer(buffer), ec);
        if (ec && ec != asio::error::would_block) {
            return &pipe == &output_ ? became_mute() : void();
        }
        if (!ec) {
            (observer_->*pipe.tell)({buffer.data(), size});
        }
        if (observer_ != nullptr && pipe.from.is_open()) {
            read_on(pipe, begun);
        }
    }

    void read_on(source& pipe, std::chrono::steady_clock::time_point begun)
    {
        const auto now = std::chrono::steady_clock::now();
        const auto again = share_.spend(begun, now);
        if (again <= now) {
            return read(pipe);
        }
        pipe.rest.expires_at(again);
        pipe.rest.async_wait([self = shared_from_this(), &pipe](error_code cancelled) {
            if (!cancelled) {
                self->read(pipe);
            }
        });
    }

    // Nobody can talk to it any more, whether it lives or is about to end.
    void became_mute()
    {
        mute_ = mute_ || !stopping_;
        stop();
    }

    void write_next()
    {
        if (waiting_.empty() || !input_.is_open()) {
            writing_ = false;
            if (stopping_) {
                close_input();
            }
            return;
        }
        writing_ = true;
        pieces_.clear();
        std::size_t skipped = written_;
        for (const auto& each : waiting_) {
            pieces_.emplace_back(each.data() + skipped, each.size() - skipped);
            skipped = 0;
            if (pieces_.size() == most_pieces) {
                break;
            }
        }
        input_.async_write_some(pieces_, [self = shared_from_this()](error_code ec, std::size_t size) {
            self->has_written(ec, size);
        });
    }

    void has_written(error_code ec, std::size_t size)
    {
        if (ec) {
            close_input();
            waiting_.clear();
            queued_ = 0;
            writing_ = false;
            became_mute();
            return;
        }
        written_ += size;
        queued_ -= size;
        while (!waiting_.empty() && written_ >= waiting_.front().size()) {
            written_ -= waiting_.front().size();
            waiting_.pop_front();
        }
        write_next();
    }

    void close_input()
    {
        error_code ignored;
        input_.close(ignored);
    }

    void after_patience(int number)
    {
        step_.expires_after(limits_.patience);
        step_.async_wait([self = shared_from_this(), number](error_code cancelled) {
            if (cancelled || self->reaped_) {
                return;
            }
            self->signalled_ = true;
            self->signal_group(number);
            if (number == SIGTERM) {
                self->after_patience(SIGKILL);
            }
        });
    }

    void await_end()
    {
        handle_.async_wait(pipe_descriptor::wait_read, [self = shared_from_this()](error_code ec) {
            if (!ec) {
                self->may_have_ended();
            }
        });
    }

    // Asio may tell a new descriptor what it has heard of one that was closed since: what was kept of that is used again.
    void may_have_ended()
    {
        if (observer_ == nullptr || reaped_) {
            return;
        }
        pollfd asked{handle_.native_handle(), POLLIN, 0};
        if (::poll(&asked, 1, 0) == 0) {
            return await_end();
        }
        has_ended();
    }

    // Before it is reaped its number, and that of its group, cannot be another's.
    void has_ended()
    {
        ::kill(-id_, SIGKILL);
        auto how = end_of(reap(id_));
        how.mute = mute_ && signalled_;
        reaped_ = true;
        step_.cancel();
        take_remains(output_);
        take_remains(complaints_);
        close_all();
        if (auto* const told = std::exchange(observer_, nullptr)) {
            told->ended(how);
        }
    }

    void take_remains(source& pipe)
    {
        if (!pipe.from.is_open()) {
            return;
        }
        error_code ec;
        pipe.from.cancel(ec);
        for (std::size_t taken = 0; taken < most_remains && observer_ != nullptr;) {
            auto& buffer = read_buffer();
            const auto size = pipe.from.read_some(asio::buffer(buffer), ec);
            if (ec || size == 0) {
                return;
            }
            taken += size;
            (observer_->*pipe.tell)({buffer.data(), size});
        }
    }

    void close_all()
    {
        error_code ignored;
        step_.cancel();
        handle_.close(ignored);
        input_.close(ignored);
        for (auto* const each : {&output_, &complaints_}) {
            each->rest.cancel();
            each->from.close(ignored);
        }
    }

    child_observer* observer_;
    child_limits limits_;
    pid_t id_;
    pipe_descriptor handle_;
    pipe_descriptor input_;
    source output_;
    source complaints_;
    fair_share share_;
    timer step_;
    std::deque<std::string> waiting_;
    std::vector<asio::const_buffer> pieces_;  // of it, that are being written
    std::size_t written_ = 0;                 // of the first
    std::size_t queued_ = 0;
    bool writing_ = false;
    bool stopping_ = false;
    bool mute_ = false;  // before stop() was called
    bool signalled_ = false;
    bool reaped_ = false;  // or left to be
};

core::result<std::unique_ptr<child_process>>
child_process::start(loop& on, const child_command& command, child_observer& observer, child_limits limits)
{
    const auto child = spawn(command);
    if (!child) {
        return child.error();
    }
    auto process = std::make_shared<running>(on, *child, observer, limits);
    process->begin();
    return std::unique_ptr<child_process>{new child_process{std::move(process)}};
}

child_process::child_process(std::shared_ptr<running> child)
    : running_{std::move(child)}
{
}

child_process::~child_process()
{
    running_->abandon();
}

pid_t child_process::id() const noexcept
{
    return running_->id();
}

std::size_t child_process::queued() const noexcept
{
    return running_->queued();
}

core::result<> child_process::write(std::string bytes)
{
    return running_->write(std::move(bytes));
}

void child_process::stop()
{
    running_->stop();
}

void child_process::kill()
{
    running_->signal_group(SIGKILL);
}

}  // namespace net
