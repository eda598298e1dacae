#include "gateway/telemetry/process_stats.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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

TEST_CASE("CPU time is found behind any program name")
{
    REQUIRE(gateway::telemetry::parse_cpu_time(stat_line, 100).has_value());
    CHECK(*gateway::telemetry::parse_cpu_time(stat_line, 100) == 3250ms);
    CHECK(*gateway::telemetry::parse_cpu_time(stat_line, 250) == 1300ms);
    for (const auto* bad :
         {"", "1 (x", "1 (x) ", "1 (x) S 1 2 3 4 5 6 7 8 9 10 11", "1 (x) S 1 2 3 4 5 6 7 8 9 10 a b"}) {
        CAPTURE(bad);
        const auto time = gateway::telemetry::parse_cpu_time(bad, 100);
        REQUIRE(time.has_error());
        CHECK(time.error().code == core::errc::internal);
    }
    CHECK(gateway::telemetry::parse_cpu_time(stat_line, 0).has_error());
}

TEST_CASE("resident memory is the second number of statm times the page size")
{
    CHECK(*gateway::telemetry::parse_resident_bytes("5000 321 100 1 0 200 0\n", 4096) == 321 * 4096);
    CHECK(gateway::telemetry::parse_resident_bytes("5000", 4096).has_error());
    CHECK(gateway::telemetry::parse_resident_bytes("5000 -1", 4096).has_error());
    CHECK(gateway::telemetry::parse_resident_bytes("5000 321", -1).has_error());
}

TEST_CASE("process stats come from three files, and a missing one is an error")
{
    temporary_directory directory;
    CHECK(gateway::telemetry::read_process_stats(directory.path).has_error());
    directory.put("stat", stat_line);
    directory.put("statm", "5000 321 100 1 0 200 0\n");
    CHECK(gateway::telemetry::read_process_stats(directory.path).has_error());
    std::filesystem::create_directory(directory.path / "fd");
    for (const auto* name : {"fd/0", "fd/1", "fd/2"}) {
        directory.put(name, "");
    }
    const auto stats = gateway::telemetry::read_process_stats(directory.path);
    REQUIRE(stats.has_value());
    CHECK(stats->open_descriptors == 3);
    CHECK(stats->resident_bytes % 321 == 0);
    CHECK(stats->resident_bytes > 0);
    CHECK(stats->cpu_time > 0ms);
    std::filesystem::remove(directory.path / "statm");
    CHECK(gateway::telemetry::read_process_stats(directory.path).has_error());

    const auto own = gateway::telemetry::read_process_stats();
    REQUIRE(own.has_value());
    CHECK(own->open_descriptors >= 3);
    CHECK(own->resident_bytes > 1'000'000);
}

TEST_SUITE_END();
