#include "config/mcp_flag.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("config/words");

namespace {

using config::split_words;
using words = std::vector<std::string>;

words split(std::string_view line)
{
    auto made = split_words(line);
    CAPTURE(line);
    REQUIRE(made.has_value());
    return *made;
}

std::string refused(std::string_view line)
{
    const auto made = split_words(line);
    CAPTURE(line);
    REQUIRE(made.has_error());
    CHECK(made.error().code == core::errc::config_invalid);
    return made.error().detail;
}

}  // namespace

TEST_CASE("a line is split at blanks, and quotes keep what is in them together")
{
    CHECK(split("").empty());
    CHECK(split(" \t ").empty());
    CHECK(split("npx -y  pkg@1.2\t/srv ") == words{"npx", "-y", "pkg@1.2", "/srv"});
    CHECK(split("a 'b c' \"d e\" f\\ g") == words{"a", "b c", "d e", "f g"});
    CHECK(split("a'b'\"c\"d") == words{"abcd"});
    CHECK(split("'' \"\" a''") == words{"", "", "a"});
    CHECK(split("C:/dir/x --a=b {c} d#e f~ g!") == words{"C:/dir/x", "--a=b", "{c}", "d#e", "f~", "g!"});
    CHECK(split("\xC3\xA9t\xC3\xA9 '\xE2\x80\x99'") == words{"\xC3\xA9t\xC3\xA9", "\xE2\x80\x99"});
}

TEST_CASE("a backslash means what it means in a shell: always the next character, in double quotes before four of them")
{
    CHECK(split(R"(\a \\ \' \" \$ \| \~ \#)") == words{"a", "\\", "'", "\"", "$", "|", "~", "#"});
    CHECK(split(R"("\a \\ \" \$ \` \'")") == words{R"(\a \ " $ ` \')"});
    CHECK(split(R"('\a \\')") == words{R"(\a \\)"});
    CHECK(split("a\\\nb \\\n c \"d\\\ne\" 'f\ng'") == words{"ab", "c", "de", "f\ng"});
}

TEST_CASE("what a shell would act on is refused by its place, and is text in quotes")
{
    for (const auto* sign :
         {"|", "||", "&", "&&", ";", ";;", "<", "<<", ">", ">>", "(", ")", "$", "`", "*", "?", "["}) {
        CAPTURE(sign);
        const auto quoted = "'" + std::string{sign} + "' b";
        CHECK(split(quoted) == words{sign, "b"});
        CHECK(
            refused("ab " + std::string{sign} + " c") ==
            "has '" + std::string{sign} +
                "' that a shell would act on, and none runs it (column "
                "4); expected a backslash before it if it is text, or else "
                "a script as the program"
        );
        CHECK(refused("ab" + std::string{sign}).find("(column 3)") != std::string::npos);
    }
    for (const auto* line : {"~/x", "a ~", "#", "a #b"}) {
        CHECK(refused(line).find("that a shell would act on") != std::string::npos);
    }
    CHECK(refused("a \"b$c\"").find("'$' that a shell would act on, and none runs it (column 5)") != std::string::npos);
    CHECK(refused("\"`c`\"").find("'`' that a shell would act on") != std::string::npos);
    CHECK(refused("a\nb").find("has a line break that a shell would act on, and none runs it (column 2)") == 0);
}

TEST_CASE("what nothing closes is refused, and nothing of the line is shown")
{
    CHECK(refused("a 'b\"") == "has a ' that nothing closes (column 3); expected another one, or \\'");
    CHECK(refused("a \"b'") == "has a \" that nothing closes (column 3); expected another one, or \\\"");
    CHECK(refused("\"a\\\"") == "has a \" that nothing closes (column 1); expected another one, or \\\"");
    CHECK(refused("\"a\\") == "has a \" that nothing closes (column 1); expected another one, or \\\"");
    CHECK(refused("a\\") == "ends with a backslash (column 2); expected a character behind it, or two of them");
    CHECK(refused(std::string_view{"a\0b", 3}).find("has a NUL (column 2)") == 0);
    CHECK(refused("s3cr3t s3cr3t|s3cr3t").find("s3cr3t") == std::string::npos);
}

TEST_CASE("a line that is taken has the words that /bin/sh makes of it")
{
    constexpr std::string_view alphabet = "ab=-.~#{}!  \t'\"\\\\''\"\"|&;<>()$`*?[\n";
    constexpr int lines = 20'000;
    std::mt19937 random{20'261'121};
    const test_support::scratch_directory here;
    std::string script;
    words meant;
    for (int i = 0; i < lines; ++i) {
        std::string line;
        const auto length = random() % 12;
        for (std::size_t n = 0; n < length; ++n) {
            line += alphabet[random() % alphabet.size()];
        }
        const auto made = split_words(line);
        const bool plain = line.find_first_of("~#'\"\\|&;<>()$`*?[\n") == std::string::npos;
        CHECK((made.has_value() || !plain));
        if (made) {
            script += "printf '%s\\0' : " + line + "\n";
            meant.emplace_back(":");
            meant.insert(meant.end(), made->begin(), made->end());
        }
    }
    REQUIRE(meant.size() > lines / 10);
    test_support::write_whole(here.file("script"), script);
    const auto command = "/bin/sh " + here.file("script") + " > " + here.file("out");
    REQUIRE(std::system(command.c_str()) == 0);  // NOLINT(concurrency-mt-unsafe)
    const auto out = test_support::read_whole(here.file("out"));
    words got;
    for (std::size_t at = 0; at < out.size();) {
        const auto end = out.find('\0', at);
        got.push_back(out.substr(at, end - at));
        at = end + 1;
    }
    CHECK((got == meant));
}

TEST_SUITE_END();
