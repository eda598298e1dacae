#include "gateway/mcp/programs/program.hpp"

#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/programs/program");

using namespace mcp_path_test;
using gateway::mcp::programs::program;

namespace {

class heard final : public gateway::mcp::programs::program_observer {
public:
    void said(std::string_view /*text*/) override {}
    void said_too_much(std::string_view /*beginning*/, std::size_t /*limit*/) override {}
    void failed(std::uint64_t call, core::error why) override { failures.emplace_back(call, why.code); }
    void ended(core::error /*why*/) override { over = true; }

    std::vector<std::pair<std::uint64_t, core::errc>> failures;
    bool over = false;
};

// One that has not started yet.
struct starting {
    rig x;
    heard observer;
    std::unique_ptr<program> one = std::make_unique<program>(nullptr, x.programs.factory());

    starting() { one->set_observer(&observer); }

    // The name of what it fails with; "": nothing.
    std::string send(std::string text, std::uint64_t call)
    {
        const auto sent = one->send(std::move(text), "tools/call", call);
        return sent ? "" : std::string{core::name(sent.error().code)};
    }
};

}  // namespace

TEST_CASE("64 messages wait for the start of a program, and the next one is refused")
{
    starting program_of;
    for (std::uint64_t call = 1; call <= program::most_waiting; ++call) {
        CHECK(program_of.send("{}", call).empty());
    }
    CHECK(program_of.send("{}", 65) == "overloaded");
    program_of.x.poll();
    CHECK(program_of.x.programs.lines[0].size() == 64);
    CHECK(program_of.send("{}", 66).empty());
    CHECK(program_of.x.programs.lines[0].size() == 65);
}

TEST_CASE("16 MiB wait for the start of a program, or one message that is longer")
{
    starting program_of;
    const std::string half(program::most_waiting_bytes / 2, ' ');
    SUBCASE("in several messages")
    {
        CHECK(program_of.send(half.substr(1), 1).empty());
        CHECK(program_of.send(half, 2).empty());
        CHECK(program_of.send("{}", 3) == "overloaded");
        CHECK(program_of.send(" ", 4).empty());
        CHECK(program_of.send(" ", 5) == "overloaded");
    }
    SUBCASE("in one")
    {
        CHECK(program_of.send(half + half + ' ', 1).empty());
        CHECK(program_of.send(" ", 2) == "overloaded");
    }
}

TEST_CASE("A message that a program does not take at its start fails its call alone")
{
    starting program_of;
    auto& programs = program_of.x.programs;
    programs.refuses = core::gateway_error(errc::overloaded);
    CHECK(program_of.send("{}", 1).empty());
    CHECK(program_of.send("{}", 0).empty());
    CHECK(program_of.send("{}", 2).empty());
    program_of.x.poll();
    CHECK(
        program_of.observer.failures ==
        std::vector<std::pair<std::uint64_t, errc>>{{1, errc::overloaded}, {2, errc::overloaded}}
    );
    CHECK_FALSE(program_of.observer.over);
    programs.refuses.reset();
    CHECK(program_of.send("{}", 3).empty());
    CHECK(programs.lines[0] == std::vector<std::string>{"{}"});
}

TEST_SUITE_END();
