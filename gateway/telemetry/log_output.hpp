// Where log lines end: a file descriptor, written by one thread behind a bounded queue, so that a reader of the log who
// does not read costs lines and never time. Lines for a terminal are made printable (gateway/model/terminal_text.hpp).
#pragma once

#include "core/log.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::telemetry {

// The look of log lines where they end: JSON as they come, or a sentence for people; and with the level in front for journald
// (sd-daemon(3)). Pure but for place_of(); any thread.
struct alignas(4) line_form {  // so that it can be stored at once
    bool text = false;         // else JSON
    bool colour = false;       // of text
    bool journal = false;      // `<4>` in front of a warning

    friend bool operator==(const line_form&, const line_form&) = default;
};

// The kind of a descriptor.
struct log_place {
    bool terminal = false;
    bool journal = false;  // a stream of journald
    bool plain = false;    // no colours are wanted
};

// From the descriptor and the variables JOURNAL_STREAM (systemd.exec(5)) and NO_COLOR (https://no-color.org).
log_place place_of(int descriptor, const std::function<std::optional<std::string>(std::string_view name)>& variable);

// `automatic`: text on a terminal, JSON elsewhere.
line_form form_at(const log_place& place, core::log_format wanted) noexcept;

// One line of core::format_log_line() or of the access log, without its line break: `05:22:25 WARN  words  card stale: connection
// refused (code upstream_unreachable)`. Nothing in it that a terminal obeys, but for colours. What is no such line stays, made
// printable.
std::string shown_line(std::string_view json, const line_form& form);

struct log_output_settings {
    int descriptor = 2;                        // stays the caller's; SIGPIPE must be ignored if it can be a pipe
    std::size_t queue = 1024;                  // writes that wait, at least 1; the oldest makes room for a new one
    std::chrono::milliseconds patience{2000};  // how long the destructor lets the reader take what waits
};

class log_output final : public core::log_sink {
public:
    explicit log_output(log_output_settings settings = {});

    // Writes what waits and gives up what the reader has not taken within `patience`.
    ~log_output() override;

    log_output(const log_output&) = delete;
    log_output& operator=(const log_output&) = delete;

    // Any thread. Copies the lines, appends the last line break and returns; the lock inside is held only while that copy
    // enters the queue. Empty `lines` write nothing.
    void write(std::string_view lines) override;

    // Lines that were given to write() and will not be seen: pushed out of the queue, or not taken by the descriptor.
    // Any thread. Only grows.
    std::uint64_t dropped() const noexcept;

    // Whether the descriptor did not take all of the latest lines that it was given. Any thread.
    bool failing() const noexcept;

    // The form of lines that are written from now on; JSON at first. Any thread.
    void set_form(line_form form) noexcept;

private:
    class implementation;

    std::unique_ptr<implementation> implementation_;
};

}  // namespace gateway::telemetry
