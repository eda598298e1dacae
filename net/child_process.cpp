#include "net/child_process.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>

#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <deque>
#include <utility>

namespace net {
namespace {

using pipe_descriptor = asio::posix::basic_stream_descriptor<executor>;
using timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, executor>;

constexpr std::size_t piece = 64 * 1024;

// Of what an ended child left in a pipe: more than a pipe holds, so that a process that escaped its group cannot keep us.
constexpr std::size_t most_remains = 4 * 1024 * 1024;

// What was read last on this thread, for as long as it is told.
std::array<char, piece>& read_buffer()
{
    thread_local std::array<char, piece> buffer;
    return buffer;
}

child_end end_of(const siginfo_t& what)
{
    return {what.si_code != CLD_EXITED, what.si_status};
}

}  // namespace

std::string to_text(const child_end& how)
{
    return (how.by_signal ? "signal " : "exit code ") + std::to_string(how.number);
}

// Operations hold it until they have completed; `observer_` is null once nobody is to be told of anything.
class child_process::running : public std::enable_shared_from_this<running> {
public:
    running(loop& on, const spawned_child& child, child_observer& observer, child_limits limits)
        : observer_{&observer},
          limits_{limits},
          id_{child.id},
          handle_{on.get_executor(), child.handle},
          input_{on.get_executor(), child.input},
          output_{on.get_executor(), child.output},
          complaints_{on.get_executor(), child.complaints},
          step_{on.get_executor()}
    {
    }

    void begin()
    {
        read(output_, &child_observer::wrote);
        read(complaints_, &child_observer::complained);
        handle_.async_wait(pipe_descriptor::wait_read, [self = shared_from_this()](error_code ec) {
            if (!ec) {
                self->has_ended();
            }
        });
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
            reap();
        }
        close_all();
    }

private:
    using telling = void (child_observer::*)(std::string_view);

    // One piece at a time, so that one that floods us leaves room for the others.
    void read(pipe_descriptor& from, telling tell)
    {
        from.async_wait(pipe_descriptor::wait_read, [self = shared_from_this(), &from, tell](error_code ec) {
            if (ec || self->observer_ == nullptr || !from.is_open()) {
                return;  // the end is told by the handle
            }
            auto& buffer = read_buffer();
            const auto size = from.read_some(asio::buffer(buffer), ec);
            if (ec && ec != asio::error::would_block) {
                return;
            }
            if (!ec) {
                (self->observer_->*tell)({buffer.data(), size});
            }
            if (self->observer_ != nullptr && from.is_open()) {
                self->read(from, tell);
            }
        });
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
        const auto& next = waiting_.front();
        input_.async_write_some(
            asio::buffer(next.data() + written_, next.size() - written_),
            [self = shared_from_this()](error_code ec, std::size_t size) { self->has_written(ec, size); }
        );
    }

    void has_written(error_code ec, std::size_t size)
    {
        if (ec) {
            close_input();
            waiting_.clear();
            queued_ = 0;
            writing_ = false;
            return;
        }
        written_ += size;
        queued_ -= size;
        if (written_ == waiting_.front().size()) {
            waiting_.pop_front();
            written_ = 0;
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
            self->signal_group(number);
            if (number == SIGTERM) {
                self->after_patience(SIGKILL);
            }
        });
    }

    // Before it is reaped its number, and that of its group, cannot be another's.
    void has_ended()
    {
        if (observer_ == nullptr || reaped_) {
            return;
        }
        ::kill(-id_, SIGKILL);
        const auto what = reap();
        step_.cancel();
        take_remains(output_, &child_observer::wrote);
        take_remains(complaints_, &child_observer::complained);
        close_all();
        if (auto* const told = std::exchange(observer_, nullptr)) {
            told->ended(end_of(what));
        }
    }

    siginfo_t reap()
    {
        siginfo_t what{};
        while (::waitid(P_PID, static_cast<id_t>(id_), &what, WEXITED) != 0 && errno == EINTR) {
        }
        reaped_ = true;
        return what;
    }

    void take_remains(pipe_descriptor& from, telling tell)
    {
        if (!from.is_open()) {
            return;
        }
        error_code ec;
        from.cancel(ec);
        for (std::size_t taken = 0; taken < most_remains && observer_ != nullptr;) {
            auto& buffer = read_buffer();
            const auto size = from.read_some(asio::buffer(buffer), ec);
            if (ec || size == 0) {
                return;
            }
            taken += size;
            (observer_->*tell)({buffer.data(), size});
        }
    }

    void close_all()
    {
        error_code ignored;
        step_.cancel();
        handle_.close(ignored);
        input_.close(ignored);
        output_.close(ignored);
        complaints_.close(ignored);
    }

    child_observer* observer_;
    child_limits limits_;
    pid_t id_;
    pipe_descriptor handle_;
    pipe_descriptor input_;
    pipe_descriptor output_;
    pipe_descriptor complaints_;
    timer step_;
    std::deque<std::string> waiting_;
    std::size_t written_ = 0;  // of the first
    std::size_t queued_ = 0;
    bool writing_ = false;
    bool stopping_ = false;
    bool reaped_ = false;
};

core::result<std::unique_ptr<child_process>>
child_process::start(loop& on, const child_command& command, child_observer& observer, child_limits limits)
{
    const auto child = spawn(command);
    if (!child) {
        return child.error();
    }
    auto made = std::make_shared<running>(on, *child, observer, limits);
    made->begin();
    return std::unique_ptr<child_process>{new child_process{std::move(made)}};
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
