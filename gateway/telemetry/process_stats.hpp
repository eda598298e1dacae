// The kernel's figures of this process (proc(5)). Reads files: for the control loop, when metrics are asked for.
#pragma once

#include "core/error.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace gateway::telemetry {

class metrics;

struct process_stats {
    std::uint64_t resident_bytes = 0;
    std::uint64_t address_space = 0;  // bytes
    std::uint64_t threads = 0;
    std::uint64_t open_descriptors = 0;    // with the one that was open to count them
    std::uint64_t most_descriptors = 0;    // that it may have open
    std::chrono::milliseconds cpu_time{};  // user and system
};

// From `stat`, `limits` and `fd` below `directory`. Fails with internal if one of them cannot be read or understood.
core::result<process_stats> read_process_stats(const std::filesystem::path& directory = "/proc/self");

// Adds the families of the process; without values if its figures cannot be read.
void collect_process(metrics& into);

// Cores on which the calling thread may run (sched_getaffinity(2): taskset, cpusets of containers); at least 1.
unsigned usable_cores() noexcept;

// The units of the kernel.
struct kernel_units {
    long ticks = 0;  // a second
    long page = 0;   // bytes
};

// Times, threads and memory of /proc/<pid>/stat: the fields 14, 15, 20, 23 and 24. The second field is the program's name and
// may hold anything, also blanks and brackets.
core::result<process_stats> parse_stat(std::string_view stat, kernel_units units);

// The soft limit `Max open files` of /proc/<pid>/limits; the largest number for `unlimited`.
core::result<std::uint64_t> parse_most_descriptors(std::string_view limits);

}  // namespace gateway::telemetry
