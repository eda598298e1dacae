// How log lines look where they end: JSON as they come, or a sentence for people; and with the level in front for journald
// (sd-daemon(3)). Pure but for place_of(); any thread.
#pragma once

#include "core/log.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::telemetry {

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

}  // namespace gateway::telemetry
