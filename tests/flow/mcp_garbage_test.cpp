// What MCP servers over stdio may write instead of messages.
#include "tests/flow/hostile_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

TEST_SUITE_BEGIN("flow/mcp_garbage");

namespace {

using namespace std::chrono_literals;
using flow::hostile_gateway;
using agents = hostile_gateway::agents;

constexpr std::uint64_t megabyte = 1024 * 1024;

// Of what is allowed to be kept of one message, some copies.
constexpr std::uint64_t some_messages = 32 * megabyte;

// What a log has of complaints, however long they took to be read.
struct complaints {
    std::uint64_t written = 0;
    std::uint64_t dropped = 0;
    std::uint64_t windows = 0;  // in which some were dropped
    std::size_t longest = 0;    // line of those that were written
};

complaints complaints_in(const std::string& log)
{
    complaints found;
    std::istringstream lines{log};
    for (std::string line; std::getline(lines, line);) {
        if (line.find(R"("event":"mcp_stderr_dropped")") != std::string::npos) {
            const auto parsed = core::parse_json(line);
            REQUIRE(parsed.has_value());
            found.dropped += (*parsed)["lines"].get<std::uint64_t>();
            ++found.windows;
        } else if (line.find(R"("event":"mcp_stderr")") != std::string::npos) {
            ++found.written;
            found.longest = std::max(found.longest, line.size());
        }
    }
    return found;
}

}  // namespace

TEST_CASE("noise of every kind around the answers, and each answer twice, does no harm")
{
    hostile_gateway gateway{agents{}.add("noise")};
    REQUIRE(gateway.reaches("noise", "ready"));
    CHECK(gateway.skills("noise") == 1);
    CHECK(gateway.pids("noise").size() == 1);
    CHECK(gateway.event("mcp_message_rejected", R"("agent":"noise")"));
    gateway.served_within();
}

TEST_CASE("an answer that cannot be taken ends what waits for it at once, and operators see why")
{
    const char* const reasons[] = {
        "a batch",
        "nested too deep",
        "neither a method, a result nor an error",
        "a result without an id",
        "a result without an id",
        "jsonrpc is not",
        "answer refused: message: ",
        "message_too_large: answer refused: a message is over max_message, 1048576 bytes",
    };
    const auto later = ", max_message: 1MiB";
    agents all;
    std::size_t number = 0;
    for ([[maybe_unused]] const auto* each : reasons) {
        all.add_as("a" + std::to_string(number), "unfit", later, number);
        ++number;
    }
    hostile_gateway gateway{all};
    for (std::size_t i = 0; i < number; ++i) {
        const auto agent = "a" + std::to_string(i);
        CAPTURE(agent);
        REQUIRE(gateway.reaches(agent, "degraded", "refresh_failed"));
        CHECK(gateway.card(agent).status == 200);
        CHECK(gateway.pids(agent).size() == 1);
        CHECK(gateway.session(agent, true).value("detail", "").find(reasons[i]) != std::string::npos);
        CHECK(gateway.session(agent, /*for_operators=*/false).is_null());
        CHECK(gateway.event("mcp_message_rejected", "\"agent\":\"" + agent + '"'));
        CHECK(gateway.event("mcp_walk_failed", "\"agent\":\"" + agent + '"', reasons[i]));
    }
    gateway.served_within();
}

TEST_CASE("a server that never answers the handshake is given up in time, and tried again")
{
    const auto quick = ", timeouts: {initialize: 300ms}, restart: {backoff: 10ms, max_backoff: 10ms}";
    hostile_gateway gateway{agents{}.add("mute", quick).add("garbage", quick).add("half_line", quick)};
    for (const auto* agent : {"mute", "garbage", "half_line"}) {
        CAPTURE(agent);
        CHECK(flow::becomes_true(gateway, [&] { return gateway.pids(agent).size() >= 2; }));
        CHECK(gateway.session(agent)["reason"] == "handshake_timeout");
        CHECK(gateway.card(agent).status == 503);
        CHECK(gateway.event("mcp_session", std::string{R"("agent":")"} + agent + '"', R"("reason":"handshake_timeout")")
        );
    }
    gateway.served_within();
    for (const auto* agent : {"mute", "garbage"}) {
        CHECK(gateway.reaches(agent, "failed", "handshake_timeout"));
    }
    CHECK(flow::becomes_true(gateway, [&] { return flow::facts_of(gateway.id()).children.size() <= 1; }));
}

TEST_CASE("the era of a server that says nothing at all is found out within the time for the handshake")
{
    hostile_gateway gateway{agents{}.add("mute", ", era: auto, timeouts: {initialize: 300ms}")};
    CHECK(gateway.reaches("mute", "backoff", "handshake_timeout", 5s));
}

TEST_CASE("an end is a crash, after half a line and after the handshake, whatever the exit code")
{
    const auto quick = ", restart: {backoff: 10ms, max_backoff: 10ms}";
    hostile_gateway gateway{agents{}.add("half_line_and_end", quick).add("exit_when_greeted", quick)};
    for (const auto* agent : {"half_line_and_end", "exit_when_greeted"}) {
        CAPTURE(agent);
        CHECK(gateway.reaches(agent, "failed", "exited"));
        CHECK(gateway.pids(agent).size() == 5);
        const auto answer = gateway.card(agent);
        CHECK(answer.status == 503);
        CHECK(answer.header("Cardea-Error") == "session_failed");
        CHECK(gateway.event("mcp_session", R"("state":"failed")", R"("detail":"exit code 0")"));
    }
    CHECK(flow::facts_of(gateway.id()).children.empty());
    gateway.served_within();
}

TEST_CASE("a line of a hundred megabytes is dropped as it comes, and what follows is heard")
{
    hostile_gateway gateway{agents{}.add("none").add("long_line", ", max_message: 1MiB", 100)};
    REQUIRE(gateway.reaches("none", "ready"));
    const auto before = flow::facts_of(gateway.id()).peak_memory;
    REQUIRE(gateway.reaches("long_line", "ready"));
    CHECK(gateway.skills("long_line") == 1);
    CHECK(gateway.event("mcp_message_rejected", "a message is over max_message, 1048576 bytes", R"("limit":1048576)"));
    CHECK(flow::facts_of(gateway.id()).peak_memory < before + some_messages);
    gateway.served_within();
}

TEST_CASE("a gigabyte of complaints is read and dropped, but for a few lines")
{
#ifdef CARDEA_FULL_VOLUME
    constexpr std::size_t mebibytes = 1024;
#else
    constexpr std::size_t mebibytes = 64;  // other builds are slower
#endif
    // However long it takes on a busy machine, the program is started once.
    const auto patient = ", era: legacy, timeouts: {initialize: 5m, request: 5m}";
    hostile_gateway gateway{agents{}.add("none").add("complaints", patient, mebibytes)};
    REQUIRE(gateway.reaches("none", "ready"));
    const auto before = flow::facts_of(gateway.id());
    REQUIRE(gateway.reaches("complaints", "ready", "", 2min));
    gateway.served_within();
    const auto after = flow::facts_of(gateway.id());
    MESSAGE("CPU seconds for " << mebibytes << " MiB on stderr: " << after.cpu_seconds - before.cpu_seconds);
    CHECK(after.peak_memory < before.peak_memory + some_messages);
    gateway.process().signal(SIGTERM);
    CHECK(gateway.process().wait() == 0);
    const auto told = complaints_in(gateway.process().err());
    CHECK(told.written + told.dropped == mebibytes * 1000);
    CHECK(told.windows >= 1);
    CHECK(told.written <= 20 * (told.windows + 1));  // in the last one none may have been dropped
    CHECK(told.longest < 1000);
}

TEST_CASE(
    "More tools than there may be, pages without an end and a page that comes again end their list, and no program"
)
{
    hostile_gateway gateway{agents{}.add("tools", "", 100'000).add("pages").add("same_page")};
    for (const auto* agent : {"tools", "pages"}) {
        CHECK(gateway.reaches(agent, "degraded", "refresh_failed"));
        CHECK(gateway.card(agent).status == 200);
        CHECK(gateway.pids(agent).size() == 1);
    }
    CHECK(gateway.event("mcp_walk_failed", R"("agent":"tools")", "over 10000 items in all lists"));
    CHECK(gateway.event("mcp_walk_failed", R"("agent":"pages")", "over 1000 pages"));
    CHECK(gateway.reaches("same_page", "ready"));
    CHECK(gateway.event("mcp_items_omitted", R"("agent":"same_page")", "nextCursor is one that came before"));
    gateway.served_within();
}

TEST_CASE("a card that would be too large is none, and the answer says so")
{
    hostile_gateway gateway{agents{}.add("wordy_tools", "", 1000)};
    REQUIRE(gateway.reaches("wordy_tools", "ready"));
    const auto answer = gateway.card("wordy_tools");
    CHECK(answer.status == 502);
    CHECK(answer.header("Cardea-Error") == "card_too_large");
    gateway.served_within();
}

TEST_SUITE_END();
