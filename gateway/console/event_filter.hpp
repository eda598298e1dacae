// Which lines of the log a viewer of GET /events wants, and how it gets one. Pure.
#pragma once

#include "core/error.hpp"
#include "core/log.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::console {

inline constexpr std::size_t most_last_lines = 1000;

struct event_filter {
    std::string agent;                               // an id; empty: any line
    std::string event;                               // a name; empty: any
    std::string route;                               // of the access line; empty: any line
    std::string status;                              // of the access line, `500` or `5xx`; empty: any line
    core::log_level level = core::log_level::debug;  // this one and graver ones
    std::size_t last = 0;                            // how many lines are sent that came before

    // From the query of a request, such as `agent=words&last=100`. Fails with invalid_params: the detail is a sentence.
    static core::result<event_filter> parse(std::string_view query);

    // Whether it leaves nothing out.
    bool takes_all() const noexcept;

    // `line` is one of core::format_log_line() or of the access log.
    bool takes(std::string_view line) const noexcept;
};

// Appends the line as an event of a stream: its number as the id, its event as the name.
void append_event(std::string& out, std::uint64_t number, std::string_view line);

// The event that stands for lines that a viewer does not get.
std::string event_of_lost(std::uint64_t lines);

}  // namespace gateway::console
