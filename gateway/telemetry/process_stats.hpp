// What the kernel knows of this process (proc(5)). Reads files: for the control loop, when metrics are asked for.
#pragma once

#include "core/error.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace gateway::telemetry {

struct process_stats {
    std::uint64_t resident_bytes = 0;
    std::uint64_t open_descriptors = 0;    // with the one that was open to count them
    std::chrono::milliseconds cpu_time{};  // user and system
};

// From `stat`, `statm` and `fd` below `directory`. Fails with internal if one of them cannot be read or understood.
core::result<process_stats> read_process_stats(const std::filesystem::path& directory = "/proc/self");

// The 14th and 15th field of /proc/<pid>/stat in clock ticks, `ticks_per_second` of them a second. The second field is
// the program's name and may hold anything, also blanks and brackets.
core::result<std::chrono::milliseconds> parse_cpu_time(std::string_view stat, long ticks_per_second);

// The second field of /proc/<pid>/statm, which counts pages.
core::result<std::uint64_t> parse_resident_bytes(std::string_view statm, long page_size);

}  // namespace gateway::telemetry
