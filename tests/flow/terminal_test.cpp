// What the command line shows a terminal of hostile text, in whichever way that gets there.
#include "tests/flow/child_process.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/terminal");

namespace {

using arguments = std::vector<std::string>;

// The title of the window, a colour, C1, and turns of the direction.
const std::string hostile =
    "x\x1b]0;t\x07\x1b[31m\xc2\x9b"
    "31m\xe2\x80\xae\xe2\x81\xa6y";

// The same within JSON, which has no control characters.
const std::string quoted =
    "x\\u001b]0;t\\u0007\\u001b[31m\xc2\x9b"
    "31m\xe2\x80\xae\xe2\x81\xa6y";

void check_harmless(const std::string& shown)
{
    CAPTURE(shown);
    for (const auto* obeyed : {"\x1b", "\x07", "\xc2\x9b", "\r", "\xe2\x80\xae", "\xe2\x81\xa6"}) {
        CHECK(shown.find(obeyed) == std::string::npos);
    }
}

}  // namespace

TEST_CASE("no command shows a terminal what it would obey")
{
    const test_support::scratch_directory files;
    const auto written = [&](const std::string& name, const std::string& text) {
        test_support::write_whole(files.file(name), text);
        return files.file(name);
    };
    const auto card = written(
        "card.json",
        R"({"name":"n","skills":[{"id":1,")" + quoted + R"(":1}],"securitySchemes":{")" + quoted +
            R"(":{"type":"oauth2","flows":7}},"supportedInterfaces":[{"url":1}]})"
    );
    const auto named = written("card" + hostile + ".json", "{\"name\":\"n\"}");
    const auto good =
        written("good.json", R"({"agents":{"a":{"url":"http://h/","metadata":{"note":")" + quoted + R"("}}}})");
    const auto broken = written(
        "broken" + hostile + ".json",
        R"({"agents":{"a":{"url":")" + quoted + R"("},")" + quoted + R"(":{"url":"http://h/"}},")" + quoted + "\":1}"
    );
    const std::string nowhere = "/nonexistent/" + hostile;
    const arguments each_command[]{
        {hostile},
        {"run", hostile},
        {"run", "--" + hostile},
        {"run", "--agent", hostile},
        {"run", "--mcp", hostile},
        {"run", "--listen", hostile},
        {"run", "--store", hostile, "--agent", "a=http://127.0.0.1:1"},
        {"run", "-c", nowhere},
        {"validate", "-c", nowhere},
        {"validate", "-c", broken},
        {"validate", "-c", good},
        {"config", "dump", "-c", good},
        {"config", "dump", "-c", good, "--output", "json"},
        {"config", "dump", "-c", good, "--output", hostile},
        {"config", "dump", "-c", broken},
        {"card", "lint", card},
        {"card", "lint", "--explain", card},
        {"card", "lint", named},
        {"card", "lint", nowhere},
        {"card", "lint", "http://127.0.0.1:1" + nowhere},
        {"card", hostile},
        {"agents", hostile},
        {"agents", "get", hostile, "--admin", "127.0.0.1:1"},
        {"agents", "list", "--admin", hostile},
    };
    for (const auto& given : each_command) {
        CAPTURE(given.front());
        flow::child_process child{CARDEA_BIN, given};
        REQUIRE(child.wait().has_value());
        CHECK_FALSE((child.out() + child.err()).empty());
        check_harmless(child.out());
        check_harmless(child.err());
    }
}

TEST_SUITE_END();
