#include "config/file.hpp"
#include "config/load.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

using namespace config::testing;

TEST_SUITE_BEGIN("config/mutation");

namespace {

constexpr std::string_view fragments[] = {
    "\n",
    "\t",
    ": ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\"",
    "'",
    "#",
    "&a",
    "*a",
    "!t ",
    "| ",
    "> ",
    "? ",
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "${TTL}",
    "${",
    "$${",
    "\\u",
    "\xEF\xBB\xBF",
    "\xC3",
    "\x04",
    "<<: ",
    "~",
    "0x",
    "\r\n",
    "@",
    "`",
    "\xF0\x9F\x98\x80",
    "a: b",
    "9999999999999999999999",
    "agents:\n  a:\n    url: http://h\n",
};

std::string mutated(std::string text, std::mt19937& random)
{
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>{0, n - 1}(random); };
    for (auto changes = 1 + below(6); changes > 0 && !text.empty(); --changes) {
        const auto at = below(text.size());
        switch (below(6)) {
            case 0:
                text[at] = static_cast<char>(below(256));
                break;
            case 1:
                text.erase(at, 1 + below(8));
                break;
            case 2:
                text.resize(at);
                break;
            case 3:
                text.insert(at, text.substr(below(text.size()), below(60)));
                break;
            default:
                text.insert(at, fragments[below(std::size(fragments))]);
        }
    }
    return text;
}

// What must hold of any text whatever.
void check_sane(const std::string& text)
{
    const auto result = config::load(text, "c.yml", variables);
    REQUIRE(result.problems.size() <= config::problem_list::most);
    const auto line_count = static_cast<unsigned>(std::count(text.begin(), text.end(), '\n')) + 1;
    for (const auto& p : result.problems) {
        REQUIRE(p.line >= 1);
        REQUIRE(p.line <= line_count);
        REQUIRE(p.column >= 1);
        REQUIRE_FALSE(p.what.empty());
        REQUIRE(to_text(p).size() < 2000);
        REQUIRE(to_text(p).find_first_of("\r\n\x1B") == std::string::npos);
    }
    if (result.problems.empty()) {
        for (const auto& agent : result.value.agents) {
            REQUIRE(core::valid_agent_id(agent.id));
            REQUIRE((agent.speaks == core::protocol::mcp || agent.url.starts_with("http")));
        }
    }
}

}  // namespace

TEST_CASE("no text crashes the reader, and every problem has a place in the file")
{
    std::mt19937 random{20260101};  // NOLINT(bugprone-random-generator-seed): the same texts in every run
    for (const auto* name : {"/config/full.yml", "/config/superx.yml"}) {
        const auto whole = config::read_file(std::string{CARDEA_TEST_DATA} + name);
        REQUIRE(whole.has_value());
        for (int i = 0; i < 2000; ++i) {
            const auto text = mutated(*whole, random);
            CAPTURE(i);
            CAPTURE(text);
            check_sane(text);
        }
    }
}

TEST_CASE("a file that is cut at any byte is read or refused")
{
    const auto whole = config::read_file(CARDEA_TEST_DATA "/config/superx.yml");
    REQUIRE(whole.has_value());
    for (std::size_t length = 0; length < whole->size(); ++length) {
        CAPTURE(length);
        check_sane(whole->substr(0, length));
    }
}

TEST_SUITE_END();
