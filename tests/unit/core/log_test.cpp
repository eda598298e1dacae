#include "core/log.hpp"

#include "core/json/json.hpp"

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

TEST_CASE("a field that is empty text is left out, and one that is zero or false is not")
{
    const auto line = core::format_log_line(
        core::wall_time{std::chrono::milliseconds{1700000000123}},
        core::log_level::info,
        "e",
        {{"detail", ""}, {"count", 0}, {"on", false}}
    );
    CHECK(line == R"({"ts":"2023-11-14T22:13:20.123Z","level":"info","event":"e","count":0,"on":false})");
}

TEST_CASE("a logger whose level changes writes what is of that level from then on")
{
    recording_sink sink;
    core::logger log{sink, core::log_level::warn};
    log.write(core::log_level::info, "before");
    log.set_level(core::log_level::info);
    log.write(core::log_level::info, "after");
    REQUIRE(sink.written.size() == 1);
    CHECK(sink.written[0].find("after") != std::string::npos);
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

TEST_CASE("no data can act on a terminal or turn the direction of reading")
{
    const auto text = [](const std::string& data) {
        const auto line = core::format_log_line({}, core::log_level::info, "e", {{"x", data}});
        const auto read = core::parse_json(line);
        REQUIRE(read.has_value());
        CHECK((*read)["x"] == data);
        return line.substr(line.find(R"("x":)") + 4);
    };
    CHECK(
        text("\xC2\x80 \xC2\x9B"
             "31m \xC2\x9F") == R"("\u0080 \u009b31m \u009f"})"
    );
    CHECK(text("\xE2\x80\xA8\xE2\x80\xA9") == R"("\u2028\u2029"})");
    CHECK(text("\xE2\x80\xAA\xE2\x80\xAE") == R"("\u202a\u202e"})");
    CHECK(text("\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C") == R"("\u200e\u200f\u061c"})");
    CHECK(text("\xE2\x81\xA6\xE2\x81\xA9") == R"("\u2066\u2069"})");
    CHECK(text("\x1b\x7f") == R"("\u001b\u007f"})");
    for (const auto* harmless :
         {"\xC2\xA0",
          "\xC3\x9B",
          "\xE2\x80\xA7",
          "\xE2\x80\xAF",
          "\xE2\x81\xA5",
          "\xE2\x81\xAA",
          "\xE3\x80\xAA",
          "\xF0\x9F\x98\x80"}) {
        CHECK(text(harmless) == '"' + std::string{harmless} + "\"}");
    }
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
