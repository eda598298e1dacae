#include "config/document.hpp"

#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace config::testing;

TEST_SUITE_BEGIN("config/document");

namespace {

std::string refusal(std::string_view text, config::document_limits limits = {})
{
    config::problem_list problems{"c.yml"};
    const auto root = config::parse_document(text, problems, limits);
    const bool refused = !problems.empty();
    CHECK(root.has_value() != refused);
    return lines(problems.take());
}

config::node tree(std::string_view text)
{
    config::problem_list problems{"c.yml"};
    auto root = config::parse_document(text, problems);
    REQUIRE(lines(problems.take()) == "");
    REQUIRE(root.has_value());
    return root.value_or(config::node{});
}

std::string nested(std::size_t depth)
{
    return "a: " + std::string(depth - 1, '[') + std::string(depth - 1, ']');
}

}  // namespace

TEST_CASE("every key and value knows its place")
{
    const auto root = tree("# c\na:  1\nb:\n  - x\n  - {k: \"v\"}\n");
    CHECK(root.keys.at(0).text == "a");
    CHECK(root.keys.at(0).at == config::place{2, 1});
    CHECK(root.items.at(0).at == config::place{2, 5});
    CHECK(root.items.at(0).plain);
    const auto& list = root.items.at(1);
    CHECK(list.items.at(0).at == config::place{4, 5});
    CHECK(list.items.at(1).keys.at(0).at == config::place{5, 6});
    CHECK(list.items.at(1).items.at(0).at == config::place{5, 9});
    CHECK_FALSE(list.items.at(1).items.at(0).plain);
}

TEST_CASE("columns count bytes, and neither a byte order mark nor CR LF changes them")
{
    CHECK(
        problems_of("\xEF\xBB\xBFlog: {\xC3\xA9: 1}\r\nworkers: x\r\n") ==
        "c.yml:1:7: log.(...): is not a known key; known here: level, format\n"
        "c.yml:2:10: workers: \"x\" is not a whole number; expected a whole number, 0 to 256\n"
    );
}

TEST_CASE("a document has a largest size")
{
    const auto of_size = [](std::size_t n) { return "a: 1 #" + std::string(n - 6, 'x'); };
    CHECK(refusal(of_size(99), {.bytes = 100}) == "");
    CHECK(refusal(of_size(100), {.bytes = 100}) == "");
    CHECK(refusal(of_size(101), {.bytes = 100}) == "c.yml:1:1: is longer than 100 bytes\n");
    CHECK(refusal(std::string(16 * 1024 * 1024 + 1, '\n')) == "c.yml:1:1: is longer than 16777216 bytes\n");
}

TEST_CASE("a document has a largest depth")
{
    CHECK(refusal(nested(31)) == "");
    CHECK(refusal(nested(32)) == "");
    CHECK(refusal(nested(33)) == "c.yml:1:35: nested deeper than 32\n");
    std::string brackets;
    for (int i = 0; i < 100'000; ++i) {
        brackets += "{\"a\":";
    }
    CHECK(refusal(brackets + "1" + std::string(100'000, '}')) == "c.yml:1:161: nested deeper than 32\n");
    std::string dashes;
    for (int i = 0; i < 100'000; ++i) {
        dashes += "- ";
    }
    CHECK(refusal(dashes) == "c.yml:1:65: nested deeper than 32\n");
}

TEST_CASE("a document has a largest number of values")
{
    const auto of_values = [](std::size_t n) {
        std::string text;
        for (std::size_t i = 1; i < n; ++i) {
            text += "- 1\n";
        }
        return text;
    };
    CHECK(refusal(of_values(9), {.nodes = 10}) == "");
    CHECK(refusal(of_values(10), {.nodes = 10}) == "");
    CHECK(refusal(of_values(11), {.nodes = 10}) == "c.yml:10:3: more than 10 values\n");
    CHECK(refusal(of_values(1'000'000)) == "");
    CHECK(refusal(of_values(1'000'001)) == "c.yml:1000000:3: more than 1000000 values\n");
}

TEST_CASE("a document has a largest number of brackets, braces and commas")
{
    CHECK(refusal("[{}, 1]", {.flow_marks = 4}) == "");
    CHECK(refusal("[{}, 1]", {.flow_marks = 3}) == "");
    CHECK(refusal("[{}, 1]", {.flow_marks = 2}) == "c.yml:1:1: has more than 2 brackets, braces and commas\n");
    CHECK(refusal(std::string(2'000'000, '{')) == "c.yml:1:1: has more than 1000000 brackets, braces and commas\n");
}

TEST_CASE("an anchor does no harm, and an alias is refused: no document is larger than it looks")
{
    CHECK(refusal("a: &x [1, 2]\n") == "");
    constexpr const char* alias =
        "an alias stands here; expected the value itself (text that starts with * needs quotes)\n";
    CHECK(refusal("a: &x [1, 2]\nb: [*x, *x]\n") == "c.yml:2:5: " + std::string{alias});
    CHECK(refusal("a: &x {b: 1}\nc:\n  <<: *x\n") == "c.yml:3:7: " + std::string{alias});
    CHECK(refusal("&a [*a]") == "c.yml:1:5: " + std::string{alias});
}

TEST_CASE("what is not text is refused before it is read")
{
    const std::pair<std::string, const char*> rows[] = {
        {std::string{"a: 1\nb: \0x", 10}, "c.yml:2:4: has the control character 0x00; expected text\n"},
        {"a: 1\n\x04workers: x\n", "c.yml:2:1: has the control character 0x04; expected text\n"},
        {"a: \x1B[31m", "c.yml:1:4: has the control character 0x1B; expected text\n"},
        {"a: \x7F", "c.yml:1:4: has the control character 0x7F; expected text\n"},
        {"a: \x80", "c.yml:1:4: is not UTF-8; expected text in UTF-8\n"},
        {"a: \xC3", "c.yml:1:4: is not UTF-8; expected text in UTF-8\n"},
        {"a: \xC0\xAF", "c.yml:1:4: is not UTF-8; expected text in UTF-8\n"},
        {"a: \xED\xA0\x80", "c.yml:1:4: is not UTF-8; expected text in UTF-8\n"},
        {"a: \xF4\x90\x80\x80", "c.yml:1:4: is not UTF-8; expected text in UTF-8\n"},
        {std::string{
             "\xFF\xFE"
             "a\0:\0",
             6
         },
         "c.yml:1:1: is not UTF-8; expected text in UTF-8\n"},
        {std::string{"\0a\0:", 4}, "c.yml:1:1: has the control character 0x00; expected text\n"},
    };
    for (const auto& [text, meant] : rows) {
        CAPTURE(text);
        CHECK(refusal(text) == meant);
    }
    CHECK(refusal("a: \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80") == "");
}

TEST_CASE("halves of a character beyond U+FFFF are joined in JSON only, and refused when alone")
{
    const auto root = tree(R"({"a":"\uD83D\uDE00 \\uD83D\\uDE00 \ud83d\ude00","b":1})");
    CHECK(root.items.at(0).text == "\xF0\x9F\x98\x80 \\uD83D\\uDE00 \xF0\x9F\x98\x80");
    for (const auto* alone :
         {R"({"a":"\uD83D"})", R"({"a":"\uDE00"})", R"({"a":"\uD83D\u0041"})", R"({"a":"\uDE00\uD83D"})"}) {
        CAPTURE(alone);
        const auto said = refusal(alone);
        CHECK(said.ends_with("is not YAML: an escape names no Unicode character\n"));
    }
    CHECK(tree("a: '\\uD83D\\uDE00'").items.at(0).text == "\\uD83D\\uDE00");
}

TEST_SUITE_END();
