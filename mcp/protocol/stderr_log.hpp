// Lines for the log out of what a program writes to stderr. One thread at a time; no clock of its own.
#pragma once

#include "core/clock.hpp"
#include "core/log.hpp"
#include "core/redaction.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

namespace mcp {

// At most `most_complaints` lines in each `complaint_window`, each cut after `longest_complaint` bytes; the others become a
// number. No line holds what the program was given to keep.
inline constexpr std::size_t longest_complaint = 500;
inline constexpr int most_complaints = 20;
inline constexpr std::chrono::seconds complaint_window{10};

// The last lines of the programs of one server, one program after the other: each up to 200 bytes, without what they were given to
// keep.
class stderr_lines {
public:
    static constexpr std::size_t most = 20;

    void add(std::string line);

    // Oldest first.
    const std::deque<std::string>& lines() const noexcept { return lines_; }

private:
    std::deque<std::string> lines_;
};

class stderr_log {
public:
    // `log` outlives it. `kept` gets the lines too; null: nobody asks for them.
    stderr_log(
        std::string agent,
        core::redaction secrets,
        const core::logger& log,
        std::shared_ptr<stderr_lines> kept = nullptr
    );

    // The level of `mcp_stderr` from now on; info at first.
    void set_level(core::log_level level) noexcept { level_ = level; }

    // From now on lines are only logged.
    void keep_no_more() noexcept { kept_.reset(); }

    void add(std::string_view bytes, core::steady_time now);

    // The program has ended: what it left unfinished is a line too.
    void end(core::steady_time now);

    // The last line, behind the last one of the latest few that speaks of an error, since a runtime often has more to say after
    // that. Empty: there was none.
    std::string last_words() const;

private:
    void write(core::steady_time now);
    void remember(std::string text);
    void tell_lost();

    std::string agent_;
    core::redaction secrets_;
    const core::logger* log_;
    std::shared_ptr<stderr_lines> kept_;  // null: none are
    core::log_level level_ = core::log_level::info;
    std::size_t longest_;  // of a line, as it is kept
    std::string line_;
    std::deque<std::string> latest_;
    core::steady_time window_end_{};
    int written_ = 0;
    std::uint64_t lost_ = 0;
};

}  // namespace mcp
