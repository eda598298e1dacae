#include "gateway/telemetry/log_output.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <map>
#include <optional>
#include <string>

TEST_SUITE_BEGIN("gateway/line_form");

namespace {

using gateway::telemetry::form_at;
using gateway::telemetry::line_form;
using gateway::telemetry::log_place;
using gateway::telemetry::place_of;
using gateway::telemetry::shown_line;

constexpr line_form text{.text = true};
constexpr line_form journal{.journal = true};

core::wall_time when()
{
    return core::wall_time{std::chrono::milliseconds{1'700'000'000'123}};
}

std::string line_of(core::log_level level, std::string_view event, std::initializer_list<core::log_field> fields)
{
    return core::format_log_line(when(), level, event, fields);
}

}  // namespace

TEST_CASE("a line for people has the time, the level, the agent, what happened and why")
{
    CHECK(
        shown_line(
            line_of(
                core::log_level::warn,
                "mcp_session",
                {{"agent", "everything"}, {"state", "backoff"}, {"reason", "exited"}, {"detail", "exit code 3"}}
            ),
            text
        ) == "22:13:20 WARN  everything  mcp session: exit code 3 (state backoff, reason exited)"
    );
    CHECK(
        shown_line(line_of(core::log_level::info, "draining", {{"connections", 3}}), text) ==
        "22:13:20 INFO  draining (connections 3)"
    );
    CHECK(shown_line(line_of(core::log_level::error, "store_full", {}), text) == "22:13:20 ERROR store full");
}

TEST_CASE("the line of a request is a sentence, with its failure and not with its counts of bytes")
{
    const std::string line =
        R"({"ts":"2026-11-20T06:39:05.123Z","level":"info","event":"request","id":"01","route":"call","method":"POST",)"
        R"("agent":"words","rpc":"message/send","status":502,"code":"upstream_reset","from":"upstream","detail":"gone",)"
        R"("bytes_in":1,"bytes_out":2,"ttfb_ms":0.100,"ms":3.214,"peer":"127.0.0.1"})";
    CHECK(
        shown_line(line, text) ==
        "06:39:05 INFO  words  POST message/send 502 3.214 ms: gone (code upstream_reset, from upstream, peer "
        "127.0.0.1)"
    );
    const std::string card =
        R"({"ts":"2026-11-20T06:39:05.123Z","level":"info","event":"request","id":"01","route":"card","method":"GET",)"
        R"("agent":"words","status":200,"bytes_in":1,"bytes_out":2,"ms":0.5,"card":"hit"})";
    CHECK(shown_line(card, text) == "06:39:05 INFO  words  GET card 200 0.5 ms (card hit)");
}

TEST_CASE("nothing in a line for people commands a terminal, but its colours")
{
    const auto line = line_of(core::log_level::warn, "card_stale", {{"agent", "a\033[2J"}, {"detail", "\u009b31m\n"}});
    const auto shown = shown_line(line, text);
    for (const auto* bad : {"\033", "\u009b", "\n"}) {
        CAPTURE(bad);
        CHECK(shown.find(bad) == std::string::npos);
    }
    const auto coloured =
        shown_line(line_of(core::log_level::warn, "x", {{"agent", "a"}}), {.text = true, .colour = true});
    CHECK(coloured == "22:13:20 \033[33mWARN \033[0m \033[1ma\033[0m  x");
    CHECK(shown_line("no \033 JSON", text).find('\033') == std::string::npos);
}

TEST_CASE("journald gets the level in front, in either format")
{
    const std::array<std::pair<core::log_level, std::string>, 4> levels{
        {{core::log_level::debug, "<7>"},
         {core::log_level::info, "<6>"},
         {core::log_level::warn, "<4>"},
         {core::log_level::error, "<3>"}}
    };
    for (const auto& [level, prefix] : levels) {
        const auto line = line_of(level, "x", {});
        CHECK(shown_line(line, journal) == prefix + line);
        CHECK(shown_line(line, {.text = true, .journal = true}).starts_with(prefix + "22:13:20 "));
    }
}

TEST_CASE("text is for terminals unless the configuration says otherwise")
{
    const log_place terminal{.terminal = true};
    const log_place file{};
    const log_place of_systemd{.journal = true};
    CHECK(form_at(terminal, core::log_format::automatic) == line_form{.text = true, .colour = true});
    CHECK(form_at({.terminal = true, .plain = true}, core::log_format::automatic) == text);
    CHECK(form_at(terminal, core::log_format::json) == line_form{});
    CHECK(form_at(file, core::log_format::automatic) == line_form{});
    CHECK(form_at(file, core::log_format::text) == text);
    CHECK(form_at(of_systemd, core::log_format::automatic) == journal);
}

TEST_CASE("a descriptor is of the journal if systemd has said so of just this one")
{
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    struct ::stat status{};
    REQUIRE(::fstat(ends[1], &status) == 0);
    const auto own = std::to_string(status.st_dev) + ':' + std::to_string(status.st_ino);
    std::map<std::string, std::string, std::less<>> variables{{"JOURNAL_STREAM", own}};
    const auto variable = [&](std::string_view name) {
        const auto found = variables.find(name);
        return found == variables.end() ? std::optional<std::string>{} : std::optional{found->second};
    };
    CHECK(place_of(ends[1], variable).journal);
    CHECK_FALSE(place_of(ends[1], variable).terminal);
    variables["JOURNAL_STREAM"] = "1:" + own;
    CHECK_FALSE(place_of(ends[1], variable).journal);
    variables.erase("JOURNAL_STREAM");
    CHECK_FALSE(place_of(ends[1], variable).journal);
    variables["NO_COLOR"] = "";
    CHECK_FALSE(place_of(ends[1], variable).plain);
    variables["NO_COLOR"] = "1";
    CHECK(place_of(ends[1], variable).plain);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_SUITE_END();
