#include "gateway/telemetry/process_stats.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("gateway/process_stats");

namespace {

using namespace std::chrono_literals;

struct temporary_directory {
    temporary_directory()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "process_stats_XXXXXX").string();
        REQUIRE(::mkdtemp(pattern.data()) != nullptr);
        path = pattern;
    }
    ~temporary_directory() { std::filesystem::remove_all(path); }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;

    void put(const std::string& name, std::string_view text) const { std::ofstream{path / name} << text; }

    std::filesystem::path path;
};

constexpr std::string_view stat_line =
    "4711 (a b) R (c) S 1 4711 4711 0 -1 4194560 1000 0 0 0 250 75 3 4 20 0 5 0 100 12345 300 18446744073709551615\n";

}  // namespace

TEST_CASE("times, threads and memory are found behind any program name")
{
    const auto stats = gateway::telemetry::parse_stat(stat_line, {.ticks = 100, .page = 4096});
    REQUIRE(stats.has_value());
    CHECK(stats->cpu_time == 3250ms);
    CHECK(stats->threads == 5);
    CHECK(stats->address_space == 12345);
    CHECK(stats->resident_bytes == 300 * 4096);
    CHECK(gateway::telemetry::parse_stat(stat_line, {.ticks = 250, .page = 4096})->cpu_time == 1300ms);
    for (const auto* bad :
         {"",
          "1 (x",
          "1 (x) ",
          "1 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19",
          "1 (x) S 1 2 3 4 5 6 7 8 9 10 a b 13 14 15 16 17 18 19 20 21"}) {
        CAPTURE(bad);
        const auto refused = gateway::telemetry::parse_stat(bad, {.ticks = 100, .page = 4096});
        REQUIRE(refused.has_error());
        CHECK(refused.error().code == core::errc::internal);
    }
    CHECK(gateway::telemetry::parse_stat(stat_line, {.ticks = 0, .page = 4096}).has_error());
    CHECK(gateway::telemetry::parse_stat(stat_line, {.ticks = 100, .page = -1}).has_error());
}

TEST_CASE("the most descriptors are the soft limit, which may be none")
{
    using gateway::telemetry::parse_most_descriptors;
    const std::string head = "Limit                     Soft Limit           Hard Limit           Units     \n";
    CHECK(
        *parse_most_descriptors(head + "Max open files            1024                 524288               files\n") ==
        1024
    );
    CHECK(
        *parse_most_descriptors(head + "Max open files            unlimited            unlimited            files\n") ==
        std::numeric_limits<std::uint64_t>::max()
    );
    for (const auto* bad : {"", "Max open files", "Max open files            many\n"}) {
        CAPTURE(bad);
        CHECK(parse_most_descriptors(head + bad).has_error());
    }
}

TEST_CASE("process stats come from three files, and a missing one is an error")
{
    temporary_directory directory;
    CHECK(gateway::telemetry::read_process_stats(directory.path).has_error());
    directory.put("stat", stat_line);
    directory.put("limits", "Max open files            1024                 4096                 files\n");
    CHECK(gateway::telemetry::read_process_stats(directory.path).has_error());
    std::filesystem::create_directory(directory.path / "fd");
    for (const auto* name : {"fd/0", "fd/1", "fd/2"}) {
        directory.put(name, "");
    }
    const auto stats = gateway::telemetry::read_process_stats(directory.path);
    REQUIRE(stats.has_value());
    CHECK(stats->open_descriptors == 3);
    CHECK(stats->most_descriptors == 1024);
    CHECK(stats->resident_bytes % 300 == 0);
    CHECK(stats->resident_bytes > 0);
    CHECK(stats->cpu_time > 0ms);
    std::filesystem::remove(directory.path / "limits");
    CHECK(gateway::telemetry::read_process_stats(directory.path).has_error());

    const auto own = gateway::telemetry::read_process_stats();
    REQUIRE(own.has_value());
    CHECK(own->open_descriptors >= 3);
    CHECK(own->most_descriptors >= own->open_descriptors);
    CHECK(own->threads >= 1);
    CHECK(own->resident_bytes > 1'000'000);
    CHECK(own->address_space > own->resident_bytes);
}

TEST_CASE("cores count that the thread may use, whatever the machine has")
{
    using gateway::telemetry::usable_cores;
    cpu_set_t before;
    REQUIRE(::sched_getaffinity(0, sizeof(before), &before) == 0);
    CHECK(usable_cores() == static_cast<unsigned>(CPU_COUNT(&before)));
    std::size_t core = 0;
    while (CPU_ISSET(core, &before) == 0) {
        ++core;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    REQUIRE(::sched_setaffinity(0, sizeof(one), &one) == 0);
    CHECK(usable_cores() == 1);
    CHECK(::sched_setaffinity(0, sizeof(before), &before) == 0);
}

TEST_SUITE_END();
