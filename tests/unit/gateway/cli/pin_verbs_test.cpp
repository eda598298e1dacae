#include "gateway/cli/pin_verbs.hpp"

#include "gateway/cli/command_line.hpp"
#include "mcp/pins/lock_file.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/pin_verbs");

using namespace gateway::cli;
using core::json;

namespace {

const json example = json::parse(R"([
    {"id": "q", "mode": "enforce",
     "approved": [{"kind": "card", "sha256": "c"}, {"kind": "instructions", "sha256": "i"},
                  {"kind": "tool", "name": "t", "sha256": "s", "variants": 2}],
     "held": [{"kind": "tool", "name": "n\u001b", "sha256": "x", "why": "new", "diff": [{"op": "add", "path": "", "value": {}}]},
              {"kind": "tool", "name": "t", "sha256": "y", "why": "words"},
              {"kind": "card", "sha256": "z", "why": "pins_full"}],
     "volatile": ["/tools/u"]}])");

}  // namespace

TEST_CASE("pins and approve have their options")
{
    const auto shown = parse_command_line({"agents", "pins", "q", "--diff"});
    CHECK(shown.problem.empty());
    CHECK(shown.agents_request.verb == agents_verb::pins);
    CHECK(shown.agents_request.id == "q");
    CHECK(shown.agents_request.pins.diff);
    CHECK(parse_command_line({"agents", "pins", "--lock"}).agents_request.pins.lock);
    const auto approved = parse_command_line({"agents", "approve", "q", "--card", "--tool", "a", "--tool", "b"});
    CHECK(approved.problem.empty());
    CHECK(approved.agents_request.verb == agents_verb::approve);
    CHECK(approved.agents_request.pins.card);
    CHECK(approved.agents_request.pins.tools == std::vector<std::string>{"a", "b"});
    CHECK(parse_command_line({"agents", "approve", "q", "--all"}).agents_request.pins.all);
    CHECK_FALSE(parse_command_line({"agents", "approve", "q"}).problem.empty());
    CHECK_FALSE(parse_command_line({"agents", "approve", "--all"}).problem.empty());
    CHECK_FALSE(parse_command_line({"agents", "pins", "--lock", "--diff"}).problem.empty());
}

TEST_CASE("What waits of agents is told in lines that no terminal obeys")
{
    const auto text = pins_text(example);
    CHECK(text.find("q: enforce, 3 approved, 3 held\n") == 0);
    CHECK(text.find("is new, and hidden from callers\n    add  {}\n") != std::string::npos);
    CHECK(text.find("  tool t has other words; callers read the approved ones\n") != std::string::npos);
    CHECK(text.find("  card has no room among the pins, and is hidden (pins_full)\n") != std::string::npos);
    CHECK(text.find("  /tools/u has other words all the time (volatile)\n") != std::string::npos);
    CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("The lock file has the fingerprints of what is approved")
{
    auto agents = example;
    const std::string print(64, 'a');
    for (auto& each : agents[0]["approved"]) {
        each["sha256"] = print;
    }
    const auto read = mcp::read_lock_file(lock_text_of(agents));
    REQUIRE(read.has_value());
    CHECK(*read == mcp::lock_file{{"q", {print, print, {{"t", print}}}}});
}

TEST_SUITE_END();
