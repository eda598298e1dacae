// The gateway's own binary as a process of the test's, with its output kept. Killed, if it still runs, when the object
// ends.
#pragma once

#include "tests/support/scratch.hpp"
#include "tests/support/script.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flow {

// What a process gets beside its arguments, as a service manager gives it.
struct handed_over {
    std::vector<std::string> variables;  // NAME=VALUE, beside ours
    std::vector<int> descriptors;        // become 3, 4, …; with any, LISTEN_PID is the process's own id
};

class child_process {
public:
    // XDG_STATE_HOME is a directory of the process's own. Throws std::system_error when the program cannot be started.
    child_process(const std::string& program, std::vector<std::string> arguments, const handed_over& more = {});
    ~child_process();
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    pid_t id() const noexcept { return id_; }
    void signal(int number) const;

    // The first line on stderr that satisfies the predicate; nothing if none came in time or the process ended.
    std::optional<std::string> wait_for_line(
        const std::function<bool(std::string_view line)>& wanted,
        std::chrono::milliseconds timeout = test_support::patience
    );

    // The exit code, or the negative number of the signal that ended it; nothing if it still runs.
    std::optional<int> wait(std::chrono::milliseconds timeout = test_support::patience);

    // Bytes of memory that it has and shares with nobody. Nothing under a sanitizer, whose allocator keeps what is freed.
    std::optional<std::uint64_t> private_memory() const;

    // What has been read so far: all of it after wait().
    const std::string& out() const noexcept { return out_.text; }
    const std::string& err() const noexcept { return err_.text; }

private:
    struct pipe_end {
        int descriptor = -1;
        std::string text;
    };

    bool pump(std::chrono::steady_clock::time_point until);
    static void take(pipe_end& from);

    test_support::scratch_directory state_;
    pid_t id_ = -1;
    std::optional<int> ended_;
    pipe_end out_;
    pipe_end err_;
};

// The port that a gateway's "listening" line names for "traffic" or "admin".
std::uint16_t listening_port(std::string_view line, std::string_view listener);

}  // namespace flow
