#include "core/log.hpp"

#include "core/json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("core/log");

namespace {

struct recording_sink final : core::log_sink {
    void write(std::string_view lines) override { written.emplace_back(lines); }
    std::vector<std::string> written;
};

}  // namespace

TEST_CASE("a line is one JSON object with time, level, event and fields")
{
    const core::wall_time when{std::chrono::milliseconds{1700000000123}};
    const auto line = core::format_log_line(
        when,
        core::log_level::warn,
        "card_refused",
        {{"agent", "a"}, {"status", 502}, {"ratio", 0.5}, {"stale", true}}
    );
    CHECK(
        line ==
        R"({"ts":"2023-11-14T22:13:20.123Z","level":"warn","event":"card_refused","agent":"a","status":502,"ratio":0.5,"stale":true})"
    );
}

TEST_CASE("no data can end a line or forge a field")
{
    const auto line = core::format_log_line(
        {},
        core::log_level::info,
        "e",
        {{"x", std::string("\"}\r\n{\"level\":\"error\"\x1b[31m")}}
    );
    CHECK(line.find('\n') == std::string::npos);
    CHECK(line.find('\r') == std::string::npos);
    const auto parsed = core::parse_json(line);
    REQUIRE(parsed.has_value());
    CHECK((*parsed)["level"] == "info");
}

TEST_CASE("lines below the level are not written")
{
    recording_sink sink;
    const core::logger log{sink, core::log_level::warn};
    log.write(core::log_level::info, "quiet");
    log.write(core::log_level::error, "loud");
    REQUIRE(sink.written.size() == 1);
    CHECK(sink.written[0].find("\"loud\"") != std::string::npos);
}

TEST_SUITE_END();
