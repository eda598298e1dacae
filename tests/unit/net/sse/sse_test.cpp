#include "net/sse/sse.hpp"

#include "tests/unit/net/sse/sse_reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using net::sse_scanner;
using tests::position_in;
using tests::stream_position;

TEST_SUITE_BEGIN("net/sse/sse");

namespace {

constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();

const std::vector<std::string>& streams()
{
    static const std::vector<std::string> all{
        "data: a\n\ndata: b\n\n",
        "data: a\r\rdata: b\r\r",
        "data: a\r\n\r\ndata: b\r\n\r\n",
        "data: a\r\n\ndata: b\n\r\ndata: c\r\n\r\rdata: d\r\r\n\n",
        "event: x\nid: 7\ndata: a\ndata: b\nretry: 5\n\n: comment\n\n:\n:second\ndata: c\n: inside\n\n",
        "\xEF\xBB\xBF"
        "data: a\n\n\xEF\xBB\xBF"
        "data: b\n\n",
        "\xEF\xBB\xBF\n",
        "\xEF\xBB"
        "data: a\n\n",
        "\xEF\xBC\x81: a\n\ndata: a\n\n",
        "\n\n\r\n\r\n\r\rdata\n\n",
        "\ndata: a",
        ": only a comment",
        "\r",
        "data: a\r\r\r\n\n",
        "id: 1\n\nid\n\n\ndata: \xc3\xa9\n\n",
    };
    return all;
}

stream_position position_after(std::string_view stream, std::size_t piece)
{
    sse_scanner scanner{no_limit};
    for (std::size_t at = 0; at < stream.size(); at += piece) {
        REQUIRE(scanner.feed(stream.substr(at, piece)));
    }
    return {scanner.at_boundary(), static_cast<std::size_t>(scanner.event_bytes())};
}

// Whether the scanner takes the stream in these pieces.
bool takes(std::string_view stream, std::uint64_t limit, std::size_t piece)
{
    sse_scanner scanner{limit};
    for (std::size_t at = 0; at < stream.size(); at += piece) {
        if (!scanner.feed(stream.substr(at, piece))) {
            return false;
        }
    }
    return true;
}

}  // namespace

TEST_CASE("The end of a line is the first CR or LF, wherever it stands and however much follows")
{
    for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 127U, 128U, 129U, 200U}) {
        const std::string plain(size, 'x');
        CHECK(net::find_line_end(plain) == size);
        CHECK(net::find_line_end(plain, size) == size);
        for (std::size_t at = 0; at < size; ++at) {
            for (const char end : {'\r', '\n'}) {
                auto text = plain;
                text[at] = end;
                text.back() = '\n';
                REQUIRE(net::find_line_end(text) == at);
                REQUIRE(net::find_line_end(text, at) == at);
                REQUIRE(net::find_line_end(text, at + 1) == std::max(size - 1, at + 1));
            }
        }
    }
}

TEST_CASE("after every byte it is known whether an event is under way, and how much of it has come")
{
    for (const auto& stream : streams()) {
        CAPTURE(stream);
        for (std::size_t sent = 0; sent <= stream.size(); ++sent) {
            CAPTURE(sent);
            const auto so_far = std::string_view{stream}.substr(0, sent);
            CHECK(position_after(so_far, 1) == position_in(so_far));
        }
    }
}

TEST_CASE("a stream stands where it stands however it was cut")
{
    for (const auto& stream : streams()) {
        CAPTURE(stream);
        const auto whole = position_in(stream);
        for (std::size_t first = 0; first <= stream.size(); ++first) {
            for (std::size_t second = first; second <= stream.size(); ++second) {
                const std::string_view text{stream};
                sse_scanner scanner{no_limit};
                scanner.feed(text.substr(0, first));
                scanner.feed(text.substr(first, second - first));
                scanner.feed(text.substr(second));
                REQUIRE(scanner.at_boundary() == whole.at_boundary);
                REQUIRE(scanner.event_bytes() == whole.event_bytes);
            }
        }
    }
}

TEST_CASE("A piece that ends an event leaves nothing of that event to the next piece")
{
    for (const std::string begun : {"data: a", "data: a\n", "data: a\r", "data: a\r\rdata: b\r", ": c", "\xEF\xBB"}) {
        for (const std::string end : {"\n\n", "b\n\n", "\r\n\r\n", "b\n\r\n"}) {
            for (const std::string next : {": c\n", ": c", "\n", "\r", "\r\n", ":\n:\n", "data: c", "\xEF\xBB\xBF"}) {
                CAPTURE(begun);
                CAPTURE(end);
                CAPTURE(next);
                sse_scanner scanner{no_limit};
                REQUIRE(scanner.feed(begun));
                REQUIRE(scanner.feed(end));
                CHECK(stream_position{scanner.at_boundary(), scanner.event_bytes()} == position_in(begun + end));
                REQUIRE(scanner.feed(next));
                CHECK(stream_position{scanner.at_boundary(), scanner.event_bytes()} == position_in(begun + end + next));
            }
        }
    }
}

TEST_CASE("a comment at a boundary changes no event")
{
    for (const auto& stream : streams()) {
        CAPTURE(stream);
        const auto wanted = tests::events_of(stream);
        sse_scanner scanner{no_limit};
        for (std::size_t sent = 0; sent < stream.size(); ++sent) {
            CAPTURE(sent);
            if (scanner.at_boundary()) {
                net::late_bom mark;
                const auto rest = std::string_view{stream}.substr(sent);
                const bool first = scanner.untouched();
                const auto kept = first ? mark.take(rest).rest : rest;
                const auto text = stream.substr(0, sent) + std::string(net::sse_keep_alive) + std::string(kept);
                CHECK(tests::events_of(text) == wanted);
            }
            scanner.feed(std::string_view{stream}.substr(sent, 1));
        }
    }
}

TEST_CASE("a stream that pauses between its events can always take a comment")
{
    for (const std::string event :
         {"data: a\n\n", "data: a\r\r", "data: a\r\n\r\n", "data: a\n\r\n", ": a\n", ":\r\n"}) {
        CAPTURE(event);
        sse_scanner scanner{no_limit};
        CHECK(scanner.at_boundary());
        for (int i = 0; i < 3; ++i) {
            CHECK(scanner.feed(event));
            CHECK(scanner.at_boundary());
            CHECK(scanner.event_bytes() == 0);
        }
    }
}

TEST_CASE("of a piece with an event that is too large, what stands in front of that event is known")
{
    constexpr std::uint64_t limit = 20;
    for (const std::string before :
         {"", "data: a\n\n", "data: a\r\n\r\n: c\n\n", "\xEF\xBB\xBFid: 1\rdata: b\r\r", "\n\n"}) {
        for (const std::string end : {"", "\n\n", "\r\r\n"}) {
            const auto stream = before + "data: " + std::string(limit, 'x') + end;
            CAPTURE(stream);
            for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
                CAPTURE(piece);
                sse_scanner scanner{limit};
                std::size_t at = 0;
                while (scanner.feed(std::string_view{stream}.substr(at, piece))) {
                    CHECK(scanner.ahead_of_refused() == 0);
                    at += piece;
                    REQUIRE(at < stream.size());
                }
                CHECK(at + scanner.ahead_of_refused() == std::max(at, before.size()));
            }
        }
    }
}

TEST_CASE("an event may be as large as the limit and no larger, however it was cut")
{
    const std::string events[] = {
        "data: 0123456789\n\n",
        "data: 0123456789\r\r",
        "data: 012345678\n: c\n\n",
        "data: 0123456789",
        ": a comment of 18.",
        "data: 0123456789\r\n",
    };
    for (const auto& event : events) {
        CAPTURE(event);
        const auto size = event.size();
        for (const auto& before : {std::string{}, std::string{"data: x\n\n"}, std::string{"\xEF\xBB\xBF: c\r\n"}}) {
            CAPTURE(before);
            for (std::size_t piece = 1; piece <= before.size() + size; ++piece) {
                CAPTURE(piece);
                REQUIRE(takes(before + event, size + 1, piece));
                REQUIRE(takes(before + event, size, piece));
                REQUIRE_FALSE(takes(before + event, size - 1, piece));
            }
        }
    }
}

TEST_CASE("many small events and comments never add up to a large one")
{
    sse_scanner scanner{32};
    std::string piece;
    for (int i = 0; i < 100; ++i) {
        piece += "data: 1\n\n: c\n:\r\ndata: 2\r\n\r\n";
    }
    for (int i = 0; i < 100; ++i) {
        REQUIRE(scanner.feed(piece));
        REQUIRE(scanner.feed(": c\n"));
    }
    CHECK(scanner.event_bytes() == 0);
}

TEST_CASE("a byte order mark that comes too late to be one is taken out, and nothing else is")
{
    for (const std::string stream :
         {"\xEF\xBB\xBF"
          "data: a",
          "\xEF\xBB"
          "data",
          "\xEF"
          "data",
          "data",
          "\xEF\xBB\xBF\xEF\xBB\xBFx",
          "\xEF\xBB\xBF"}) {
        CAPTURE(stream);
        const std::string wanted = stream.starts_with(tests::bom) ? stream.substr(3) : stream;
        for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
            net::late_bom mark;
            std::string passed;
            for (std::size_t at = 0; at < stream.size(); at += piece) {
                const auto took = mark.take(std::string_view{stream}.substr(at, piece));
                passed.append(took.held).append(took.rest);
            }
            CHECK(passed == wanted);
        }
    }
}

TEST_CASE("only a stream that has sent nothing is untouched")
{
    sse_scanner scanner{no_limit};
    CHECK(scanner.untouched());
    CHECK(scanner.feed(""));
    CHECK(scanner.untouched());
    CHECK(scanner.feed("\xEF"));
    CHECK_FALSE(scanner.untouched());
    sse_scanner other{no_limit};
    CHECK(other.feed("\n\n"));
    CHECK_FALSE(other.untouched());
}

TEST_SUITE_END();
