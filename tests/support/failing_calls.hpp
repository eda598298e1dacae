// Makes calls of a program's C library fail, its wall clock wrong and its loops stuck, while it runs: the program is started with
// failing_calls.cpp, a library of its own, in LD_PRELOAD, and with the file of a failing_calls object in CARDEA_FAULT_BOARD. The test
// and the program share that file as memory. Not for programs built with a sanitizer.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test_support {

enum class failing : std::uint8_t {
    accept,
    open,   // files, and sockets
    read,   // of files and sockets
    write,  // of files and sockets
    sync,   // fsync(), fdatasync()
};
inline constexpr std::size_t failing_kinds = 5;

// What the program and the test share. Everything is zero at first.
struct fault_board {
    struct rule {
        std::atomic<std::uint64_t> calls;  // since the rule was set
        std::atomic<std::uint64_t> first;  // that fails, from 1; 0: none does
        std::atomic<std::uint64_t> last;
        std::atomic<std::uint64_t> every;  // of those, each so many; 0 and 1: all
        std::atomic<std::uint64_t> failed;
        std::atomic<int> error;
    };

    std::array<rule, failing_kinds> rules;
    std::array<char, 256> path;  // if it is not empty, only files whose path has it fail: open, read, write, sync
    std::atomic<std::int64_t> clock_offset;       // of the wall clock, in ns
    std::atomic<std::int64_t> stop_main_loop;     // ms that the main thread's loop does nothing when it runs next
    std::atomic<std::int64_t> stop_another_loop;  // the same of the next other thread with a loop
    std::atomic<std::uint64_t> stopped_loops;
};

// Which calls of one kind fail.
struct failing_range {
    std::uint64_t first = 1;
    std::uint64_t last = UINT64_MAX;
    std::uint64_t every = 1;
    int error = 0;
};

// The test's end. Throws std::system_error if the file cannot be made.
class failing_calls {
public:
    explicit failing_calls(const std::string& file);
    ~failing_calls();
    failing_calls(const failing_calls&) = delete;
    failing_calls& operator=(const failing_calls&) = delete;

    // For the environment of a program.
    std::vector<std::string> variables() const;

    // From now on; counting begins at 1.
    void set(failing kind, const failing_range& range);
    // Only files whose path has this text; to be set before the rules.
    void only(std::string_view path);
    void heal();  // all kinds; the clock stays

    std::uint64_t calls(failing kind) const noexcept;
    std::uint64_t failed(failing kind) const noexcept;

    void move_clock(std::chrono::nanoseconds from_the_right_time)
    {
        board_->clock_offset = from_the_right_time.count();
    }
    void stop_main_loop(std::chrono::milliseconds time) { board_->stop_main_loop = time.count(); }
    void stop_another_loop(std::chrono::milliseconds time) { board_->stop_another_loop = time.count(); }
    std::uint64_t stopped_loops() const noexcept { return board_->stopped_loops; }

private:
    fault_board::rule& rule_of(failing kind) const { return board_->rules.at(static_cast<std::size_t>(kind)); }

    std::string file_;
    fault_board* board_;
};

}  // namespace test_support
