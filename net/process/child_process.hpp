// A program that the gateway runs and talks to over its stdin and stdout. One thread: that of the loop, which must be the
// thread that lives as long as the process (spawn.hpp). SIGPIPE is ignored in this process.
#pragma once

#include "core/error.hpp"
#include "net/loop/loop.hpp"
#include "net/process/spawn.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace net {

// How a child ended: by itself, or by a signal.
struct child_end {
    bool by_signal = false;
    int number = 0;     // the exit code, or the signal
    bool mute = false;  // it had closed its input or output, and was killed for that
    bool held = false;  // a tracer keeps us from knowing how
};

// "exit code 3", "signal 9".
std::string to_text(const child_end& how);

// The owner of a child hears of it here, never from within a call of its own. Each function may destroy the child.
class child_observer {
public:
    virtual ~child_observer() = default;

    // A piece of its output, valid during the call.
    virtual void wrote(std::string_view bytes) = 0;
    virtual void complained(std::string_view bytes) = 0;

    // The last thing that is told: it has ended, all that it wrote has been read, and what was left of its process group is
    // killed. What had left that group may live on.
    virtual void ended(child_end how) = 0;
};

struct child_limits {
    std::size_t queued = 16 * 1024 * 1024;  // bytes that wait until it reads them
    core::duration patience{1500};          // for each step of stop()
};

// A child that closes its stdout, or its stdin when something is written to it, is stopped. One that writes without end is read
// for about a quarter of the time, after a second.
class child_process {
public:
    // `observer` outlives the child. Fails as spawn() does.
    static core::result<std::unique_ptr<child_process>>
    start(loop& on, const child_command& command, child_observer& observer, child_limits limits = {});

    // Kills what still runs, and waits for its end, at most 0.1 s: call stop() before, and wait for ended().
    ~child_process();
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    pid_t id() const noexcept;

    // Bytes written and not taken yet.
    std::size_t queued() const noexcept;

    // Queues bytes for its stdin. Fails with overloaded: it does not read, limits.queued would be passed and nothing was
    // queued; with upstream_reset: it has closed its stdin, or stop() was called.
    core::result<> write(std::string bytes);

    // Ends it in order: its stdin is closed once all is written; after limits.patience its group gets SIGTERM; after as much
    // again SIGKILL.
    void stop();

    // SIGKILL to its group, now.
    void kill();

private:
    class running;
    explicit child_process(std::shared_ptr<running> child);

    std::shared_ptr<running> running_;  // shared with the operations under way
};

}  // namespace net
