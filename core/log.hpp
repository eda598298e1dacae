// Structured log lines: one JSON object each, `{"ts":…,"level":…,"event":…, fields}`. An event is a constant, fields are
// data; no sentence is assembled from data. Logged where an error ends, not where it is made. Never a credential, a
// body or the content of a card.
#pragma once

#include "core/clock.hpp"

#include <atomic>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace core {

enum class log_level : std::uint8_t { debug, info, warn, error, off };

enum class log_format : std::uint8_t { automatic, json, text };

struct log_field {
    std::string_view name;
    std::variant<std::string_view, std::int64_t, double, bool> value;

    log_field(std::string_view n, std::string_view v)
        : name{n},
          value{v}
    {
    }
    log_field(std::string_view n, const char* v)
        : name{n},
          value{std::string_view{v}}
    {
    }
    log_field(std::string_view n, const std::string& v)
        : name{n},
          value{std::string_view{v}}
    {
    }
    log_field(std::string_view n, std::integral auto v)
        : name{n},
          value{static_cast<std::int64_t>(v)}
    {
    }
    log_field(std::string_view n, bool v)
        : name{n},
          value{v}
    {
    }
    log_field(std::string_view n, double v)
        : name{n},
          value{v}
    {
    }
};

// Where lines go. write() takes one or more whole lines without the last line break; any thread; must not block.
class log_sink {
public:
    virtual ~log_sink() = default;
    virtual void write(std::string_view lines) = 0;
};

// Any thread. Lines below the level cost one comparison.
class logger {
public:
    logger(log_sink& sink, log_level level)
        : sink_{sink},
          level_{level}
    {
    }

    bool enabled(log_level level) const noexcept { return level >= level_.load(std::memory_order_relaxed); }
    void set_level(log_level level) noexcept { level_.store(level, std::memory_order_relaxed); }
    void write(log_level level, std::string_view event, std::initializer_list<log_field> fields = {}) const;
    log_sink& sink() const noexcept { return sink_; }

private:
    log_sink& sink_;
    std::atomic<log_level> level_;
};

std::string_view name(log_level level) noexcept;
std::string_view name(log_format format) noexcept;

// One line without its line break. Fields that are empty text are left out. `now` is given so that tests can fix it.
std::string
format_log_line(wall_time now, log_level level, std::string_view event, std::initializer_list<log_field> fields);

// RFC 3339 in UTC with milliseconds: 2026-11-20T06:39:05.123Z, appended to `out`.
void append_timestamp(std::string& out, wall_time when);

}  // namespace core
