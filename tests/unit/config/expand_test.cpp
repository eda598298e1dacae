#include "config/expand.hpp"

#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace config::testing;

TEST_SUITE_BEGIN("config/expand");

namespace {

std::string expanded(std::string_view text, std::size_t most = 1000)
{
    const auto value = config::expand(text, variables, most);
    return value ? *value : "failed: " + value.error().detail;
}

}  // namespace

TEST_CASE("variables are replaced, and nothing else")
{
    const std::pair<const char*, const char*> rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"${TTL}", "7m"},
        {"a${TTL}b${TTL}c", "a7mb7mc"},
        {"${TTL}${TTL}", "7m7m"},
        {"${EMPTY}", ""},
        {"${EMPTY:-x}", "x"},
        {"${UNSET:-x y}", "x y"},
        {"${UNSET:-}", ""},
        {"${UNSET:-a:-b}", "a:-b"},
        {"${TTL:-x}", "7m"},
        {"$${TTL}", "${TTL}"},
        {"$$${TTL}", "$${TTL}"},
        {"a$${", "a${"},
        {"$TTL $ $$ {TTL} $(TTL)", "$TTL $ $$ {TTL} $(TTL)"},
        {"${TTL}}", "7m}"},
        {"${env:TTL}", "7m"},
        {"${env:UNSET:-x}", "x"},
        {"${userHome}/x", "/home/me/x"},
        {"${input:my-key}", "asked-for"},
        {"${input:My.key:-x}", "asked-for"},
        {"${input:other:-x}", "x"},
    };
    for (const auto& [text, meant] : rows) {
        CAPTURE(text);
        CHECK(expanded(text) == meant);
    }
}

TEST_CASE("what is no variable is refused, and what a variable holds is not said")
{
    const std::string form =
        "failed: a ${ is not followed by a variable's name; expected ${NAME} or ${NAME:-default} ($${ for a literal "
        "${)";
    const std::pair<const char*, std::string> rows[] = {
        {"${UNSET}", "failed: the variable UNSET is not set; ${UNSET:-default} gives it a default"},
        {"${}", form},
        {"${:-x}", form},
        {"${1A}", form},
        {"${A B}", form},
        {"${A-x}", form},
        {"${TOKEN", "failed: a ${ has no }; expected ${NAME} or ${NAME:-default} ($${ for a literal ${)"},
        {"${env:UNSET}", "failed: the variable UNSET is not set; ${UNSET:-default} gives it a default"},
        {"${input:other key}",
         "failed: the variable INPUT_OTHER_KEY is not set; it replaces the input other(...), which only an editor can "
         "ask for"},
        {"${input:home}",
         "failed: the variable INPUT_HOME is not set; it replaces the input home, which only an editor can ask for"},
        {"${env:}", form},
        {"${input:}", form},
        {"${other:TTL}", form},
        {"${UNSET:-${TTL}}", "failed: the default of the variable UNSET has a variable in it; expected plain text"},
    };
    for (const auto& [text, meant] : rows) {
        CAPTURE(text);
        CHECK(expanded(text) == meant);
    }
}

TEST_CASE("an expanded text is as long as is allowed, and no longer")
{
    CHECK(expanded("abc${TTL}", 6) == "abc7m");
    CHECK(expanded("abc${TTL}", 5) == "abc7m");
    CHECK(expanded("abc${TTL}", 4) == "failed: is too long with its variables");
}

TEST_CASE("all scalars of a document share what is allowed")
{
    const auto problems_with = [](std::size_t most) {
        config::problem_list problems{"c.yml"};
        auto root = config::parse_document("a: ${TTL}\nb: [x, {c: \"${TTL}\"}]\n", problems);
        REQUIRE(root.has_value());
        config::expand_all(*root, variables, problems, most);
        return lines(problems.take());
    };
    CHECK(problems_with(5) == "");
    CHECK(problems_with(4) == "");
    CHECK(problems_with(3) == "c.yml:2:12: b[1].c: is too long with its variables\n");
}

TEST_CASE("what a variable holds is text, never structure")
{
    const auto agent = right(
                           "agents:\n  a:\n    url: http://h/\n    metadata:\n      x: ${INJECTION}\n      n: ${TTL}\n "
                           "     t: \"${EMPTY}\"\n"
    )
                           .agents.at(0);
    CHECK(agent.metadata == R"({"x":"a: b\n- [c, {d","n":"7m","t":""})");
}

TEST_CASE("keys are not expanded")
{
    CHECK(
        problems_of("agents:\n  \"${TOKEN}\":\n    url: http://h/\n") ==
        "c.yml:2:3: agents.(...): is not an agent's id; expected 1 to 128 letters, digits, '.', '_' and '-', without "
        "'..'\n"
    );
}

TEST_SUITE_END();
