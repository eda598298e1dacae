// One JSON line per request (core/log.hpp), formatted into a buffer that is kept and handed to the sink in batches of
// whole lines. Allocates nothing once its buffer has its size.
#pragma once

#include "core/clock.hpp"
#include "core/log.hpp"
#include "gateway/model/request_record.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::telemetry {

class line_writer;

struct access_log_limits {
    std::size_t batch = 16 * 1024;  // bytes handed over at once; a line that is longer goes alone
    std::size_t detail = 200;       // bytes of a failure's detail that are written, less what would split a character
    std::size_t principal = 128;    // bytes of whose credential it came with, cut in the same way
    std::size_t peer = 64;          // bytes of the caller's address, cut in the same way
};

// One thread; one per loop. The sink outlives it.
class access_log {
public:
    using limits = access_log_limits;

    // Lines have level info: with a higher `level` nothing is formatted. Ids count up from `first_id`.
    access_log(core::log_sink& sink, core::log_level level, std::uint64_t first_id, limits limits = {});

    access_log(const access_log&) = delete;
    access_log& operator=(const access_log&) = delete;

    // Hands over what is left.
    ~access_log();

    // Where a loop's ids start. Random over the whole range, so that the ids of a process do not meet.
    static std::uint64_t random_first_id();

    // `now` is when the request ended. Members that are not set are left out:
    // {"ts","level","event":"request","id","route","http","method","principal","provider","agent","rpc","tool","era","session","status","code","from","detail","bytes_in",
    // "bytes_out","ttfb_ms","ms","peer","via","stream","card","trace_id","span_id"}; `rpc` is the A2A, MCP or management method, `id` 16 hex digits,
    // times are milliseconds with three decimals, `detail` stands only beside `code`.
    void write(const model::request_record& record, core::wall_time now);

    // The level of lines that are written from now on.
    void set_level(core::log_level level);

    // Who gets the lines from now on while the level asks for none; null: nobody, at first. `viewers` outlives the log.
    void set_viewers(core::log_sink* viewers);

    // Hands over the lines written so far; the owner calls this ten times a second.
    void flush();

private:
    void add_line(line_writer& out, const model::request_record& record, core::wall_time now);
    void add_start(line_writer& out, core::wall_time now);
    void add_failure(line_writer& out, const model::request_record& record) const;
    void add_call(line_writer& out, const model::request_record& record) const;

    core::log_sink* reader() const noexcept { return enabled_ ? &sink_ : viewers_; }

    core::log_sink& sink_;
    core::log_sink* viewers_ = nullptr;
    bool enabled_;
    const limits limits_;
    std::uint64_t next_id_;
    std::string lines_;  // whole lines, parted by line breaks
    std::string start_;  // what begins every line of this second
    std::chrono::sys_seconds second_ = std::chrono::sys_seconds::min();
};

}  // namespace gateway::telemetry
