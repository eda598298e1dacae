#include "mcp/transport/line_reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("mcp/transport/line_reader");

namespace {

constexpr std::size_t limit = 8;

// Every line of the stream when it comes in these pieces; "!" for one that is too long.
std::vector<std::string> lines(std::string_view stream, std::size_t piece)
{
    mcp::line_reader reader{limit};
    std::vector<std::string> found;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
        reader.feed(stream.substr(at, piece));
        while (const auto line = reader.next()) {
            found.emplace_back(line->too_long ? std::string_view{"!"} : line->text);
        }
    }
    return found;
}

}  // namespace

TEST_CASE("lines are the same however the bytes are split")
{
    struct row {
        std::string_view stream;
        std::vector<std::string> expected;
    };
    const std::vector<row> rows{
        {"", {}},
        {"a", {}},
        {"a\nb\n", {"a", "b"}},
        {"a\r\nb\r\n", {"a", "b"}},
        {"\xef\xbb\xbf{}\n\xef\xbb\xbf\r\n{}\xef\xbb\xbf\n", {"{}", "{}\xef\xbb\xbf"}},
        {"\n\r\n\na\n", {"a"}},
        {"a\rb\n\r\r\n", {"a\rb", "\r"}},
        {"12345678\n", {"12345678"}},
        {"12345678\r\n", {"12345678"}},
        {"12345678", {}},
        {"12345678\r", {}},
        {"12345678\rx\na\n", {"!", "a"}},
        {"123456789\na\n", {"!", "a"}},
        {"123456789\r\na\n", {"!", "a"}},
        {"1234567\r\r\na\n", {"1234567\r", "a"}},
        {"12345678\r\r\na\n", {"!", "a"}},
        {"a\n1234567890123456789012345678901234567890\nb\n", {"a", "!", "b"}},
        {"1234567890123456789012345678901234567890", {"!"}},
        {"123456789\n123456789\n", {"!", "!"}},
        {"{\"a\":\"\xe2\x80\xa8\"}", {"!"}},
    };
    for (const auto& each : rows) {
        for (std::size_t piece = 1; piece <= each.stream.size() + 1; ++piece) {
            CAPTURE(each.stream);
            CAPTURE(piece);
            CHECK(lines(each.stream, piece) == each.expected);
        }
    }
}

TEST_CASE("a line that never ends costs no more memory than the limit and a piece")
{
    mcp::line_reader reader{limit};
    const std::string piece(100, 'x');
    std::size_t reported = 0;
    for (int i = 0; i < 1000; ++i) {
        reader.feed(piece);
        while (reader.next()) {
            ++reported;
        }
        CHECK(reader.held() <= limit + 1);
    }
    CHECK(reported == 1);
    reader.feed("xx\nnext\n");
    const auto line = reader.next();
    REQUIRE(line.has_value());
    CHECK(line->text == "next");
}

TEST_CASE("what has come of a line that has not ended is known")
{
    mcp::line_reader reader;
    reader.feed("one\ntw");
    REQUIRE(reader.next().has_value());
    CHECK_FALSE(reader.next().has_value());
    CHECK(reader.held() == 2);
    reader.feed("o\n");
    CHECK(reader.next()->text == "two");
    CHECK(reader.held() == 0);
}

TEST_CASE("a line of the default limit passes, and one byte more does not")
{
    mcp::line_reader reader;
    std::string line(mcp::line_reader::default_limit, 'x');
    reader.feed(line);
    CHECK_FALSE(reader.next().has_value());
    reader.feed("\n");
    const auto whole = reader.next();
    REQUIRE(whole.has_value());
    CHECK(whole->text.size() == line.size());
    reader.feed(line + "x\nafter\n");
    const auto long_one = reader.next();
    CHECK(long_one->too_long);
    CHECK(long_one->text.substr(0, line.size()) == line);
    CHECK(reader.next()->text == "after");
}

TEST_SUITE_END();
