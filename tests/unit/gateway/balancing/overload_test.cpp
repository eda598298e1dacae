#include "gateway/balancing/overload.hpp"

#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <optional>
#include <string>

using namespace std::chrono_literals;
using namespace gateway::balancing;

namespace {

const core::steady_time start{1h};
constexpr std::optional<unsigned> no_limit{};

overload_level level_of(core::duration lag, std::optional<unsigned> memory)
{
    return overload_meter{{}}.sample(lag, memory, start);
}

}  // namespace

TEST_SUITE_BEGIN("gateway/balancing/overload");

TEST_CASE("Each mark of the lag and of the memory is a level, at the mark and not below it")
{
    CHECK(level_of(0ms, no_limit) == 0);
    CHECK(level_of(49ms, 84) == 0);
    CHECK(level_of(50ms, no_limit) == 1);
    CHECK(level_of(199ms, no_limit) == 1);
    CHECK(level_of(200ms, no_limit) == 2);
    CHECK(level_of(499ms, no_limit) == 2);
    CHECK(level_of(500ms, no_limit) == 3);
    CHECK(level_of(1h, no_limit) == 3);
    CHECK(level_of(0ms, 85) == 1);
    CHECK(level_of(0ms, 91) == 1);
    CHECK(level_of(0ms, 92) == 2);
    CHECK(level_of(0ms, 94) == 2);
    CHECK(level_of(0ms, 95) == 3);
    CHECK(level_of(50ms, 92) == 2);
    CHECK(level_of(500ms, 85) == 3);
}

TEST_CASE("A level rises at once, and falls when its mark was not reached for a second")
{
    overload_meter meter{{}};
    CHECK(meter.sample(500ms, no_limit, start) == 3);
    CHECK(meter.sample(0ms, no_limit, start + 100ms) == 3);
    CHECK(meter.sample(200ms, no_limit, start + 900ms) == 3);
    CHECK(meter.sample(0ms, no_limit, start + 999ms) == 3);
    CHECK(meter.sample(0ms, no_limit, start + 1000ms) == 2);
    CHECK(meter.sample(50ms, no_limit, start + 1800ms) == 2);
    CHECK(meter.sample(0ms, no_limit, start + 1900ms) == 1);
    CHECK(meter.sample(0ms, no_limit, start + 2799ms) == 1);
    CHECK(meter.sample(0ms, no_limit, start + 2800ms) == 0);
    CHECK(meter.sample(0ms, 95, start + 2801ms) == 3);
}

TEST_CASE("The share of a control group's memory leaves out the file pages that the kernel can take back")
{
    struct row {
        cgroup_texts texts;
        std::optional<unsigned> percent;
    };
    const row rows[] = {
        {{"85\n", "100\n", ""}, 85},
        {{"859\n", "1000\n", ""}, 85},
        {{"90\n", "100\n", "anon 5\ninactive_file 30\nactive_file 10\n"}, 50},
        {{"90\n", "100\n", "inactive_file 10\ntotal_inactive_file 40\n"}, 50},
        {{"90\n", "100\n", "inactive_file 500\n"}, 0},
        {{"90\n", "100\n", "inactive_file many\n"}, 90},
        {{"120\n", "100\n", ""}, 120},
        {{"90\n", "max\n", ""}, std::nullopt},
        {{"90\n", "9223372036854771712\n", ""}, std::nullopt},
        {{"90\n", "0\n", ""}, std::nullopt},
        {{"", "100\n", ""}, std::nullopt},
        {{"-1\n", "100\n", ""}, std::nullopt},
        {{"90 kB\n", "100\n", ""}, std::nullopt},
        {{"", "", ""}, std::nullopt},
    };
    for (const auto& row : rows) {
        CAPTURE(row.texts.usage);
        CAPTURE(row.texts.limit);
        CAPTURE(row.texts.stat);
        CHECK(memory_percent(row.texts) == row.percent);
    }
}

TEST_CASE("The process's group is that of v1's memory controller if there is one, else that of the unified hierarchy")
{
    const auto path = [](std::string_view text) {
        const auto found = own_cgroup(text);
        return found ? (found->unified ? "v2 " : "v1 ") + found->path : std::string{};
    };
    CHECK(path("0::/user.slice/cardea.service\n") == "v2 /user.slice/cardea.service");
    CHECK(path("12:cpu,cpuacct:/a\n5:memory:/b\n0::/c\n") == "v1 /b");
    CHECK(path("5:cpu,memory:/b") == "v1 /b");
    CHECK(path("5:memory_other:/b\n0::/c:d\n") == "v2 /c:d");
    CHECK(path("1:name=systemd:/x\n") == "");
    CHECK(path("garbage\n") == "");
    CHECK(path("") == "");
}

TEST_CASE("Memory is read where the group is, of both versions, and at the top if the group cannot be seen")
{
    using test_support::write_whole;
    const test_support::scratch_directory mount;
    const auto put = [&](const std::string& below, std::string_view text) {
        const auto file = mount.path() / below;
        std::filesystem::create_directories(file.parent_path());
        write_whole(file.string(), text);
    };
    CHECK(cgroup_memory{mount.path(), "0::/x\n"}.percent() == std::nullopt);
    put("memory.current", "10");
    put("memory.max", "100");
    put("a/b/memory.current", "60");
    put("a/b/memory.max", "100");
    put("a/b/memory.stat", "inactive_file 20\n");
    put("memory/c/memory.usage_in_bytes", "30");
    put("memory/c/memory.limit_in_bytes", "100");
    put("memory/memory.usage_in_bytes", "70");
    put("memory/memory.limit_in_bytes", "100");
    CHECK(cgroup_memory{mount.path(), "0::/a/b\n"}.percent() == 40);
    CHECK(cgroup_memory{mount.path(), "0::/not/here\n"}.percent() == 10);
    CHECK(cgroup_memory{mount.path(), "0::/\n"}.percent() == 10);
    CHECK(cgroup_memory{mount.path(), ""}.percent() == 10);
    CHECK(cgroup_memory{mount.path(), "4:memory:/c\n0::/\n"}.percent() == 30);
    CHECK(cgroup_memory{mount.path(), "4:memory:/gone\n"}.percent() == 70);
    const cgroup_memory grows{mount.path(), "0::/a/b\n"};
    put("a/b/memory.current", "115");
    CHECK(grows.percent() == 95);
}

TEST_SUITE_END();
