#include "net/sse/sse_events.hpp"

#include "tests/unit/net/sse/sse_reader.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("net/sse/sse_events");

namespace {

constexpr auto no_limit = std::numeric_limits<std::uint64_t>::max();

// The events of a stream that comes in pieces of `size` bytes; what is not ended comes last.
std::vector<std::string> pieces_of(std::string_view stream, std::size_t size, std::uint64_t limit = no_limit)
{
    std::vector<std::string> pieces;
    net::sse_splitter splitter{limit};
    while (!stream.empty()) {
        splitter.feed(stream.substr(0, size));
        stream.remove_prefix(std::min(size, stream.size()));
        while (auto piece = splitter.next()) {
            pieces.push_back(std::move(*piece));
        }
    }
    if (splitter.too_large()) {
        pieces.emplace_back("too large");
    }
    if (auto rest = splitter.take_rest()) {
        pieces.push_back(std::move(*rest));
    }
    CHECK(!splitter.take_rest());
    return pieces;
}

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("a stream is cut behind every empty line, however its lines end and it is sent")
{
    struct row {
        std::string stream;
        list pieces;
    };
    const row rows[] = {
        {"", {}},
        {"data: a\n\ndata: b\n\n", {"data: a\n\n", "data: b\n\n"}},
        {"data: a\r\n\r\ndata: b\r\n\r\n", {"data: a\r\n\r", "\n", "data: b\r\n\r", "\n"}},
        {"data: a\r\rdata: b\r\r", {"data: a\r\r", "data: b\r\r"}},
        {": ping\n\nevent: x\ndata: a\ndata: b\nid: 7\n\n", {": ping\n\n", "event: x\ndata: a\ndata: b\nid: 7\n\n"}},
        {"\xEF\xBB\xBF"
         "data: a\n\ndata: rest",
         {"\xEF\xBB\xBF", "data: a\n\n", "data: rest"}},
        {"\xEF\xBB", {"\xEF\xBB"}},
        {"\n\ndata", {"\n", "\n", "data"}},
    };
    for (const auto& each : rows) {
        for (std::size_t size = 1; size <= each.stream.size() + 1; ++size) {
            CAPTURE(each.stream);
            CAPTURE(size);
            CHECK(pieces_of(each.stream, size) == each.pieces);
        }
    }
}

TEST_CASE("an event over the limit is told as soon as it is, and one at the limit is not")
{
    const std::string stream = "data: a\n\ndata: 12345\n\n";
    CHECK(pieces_of(stream, 100, 13) == list{"data: a\n\n", "data: 12345\n\n"});
    for (std::size_t size = 1; size <= stream.size(); ++size) {
        CAPTURE(size);
        CHECK(pieces_of(stream, size, 12) == list{"data: a\n\n", "too large"});
    }
    CHECK(pieces_of("data: 1234567", 100, 12) == list{"too large"});
}

TEST_CASE("the data of an event are its data lines and nothing else")
{
    struct row {
        std::string event;
        std::optional<std::string> data;
    };
    const row rows[] = {
        {"data: a\n\n", "a"},
        {"data:a\r\n\r\n", "a"},
        {"data:  a \n\n", " a "},
        {"data: a\rdata\rdata: b\r\r", "a\n\nb"},
        {"id: 1\ndata: {\ndata: }\nevent: x\n\n", "{\n}"},
        {"data: not ended", "not ended"},
        {"\ndata: a\r\n\r", "a"},
        {"data:\n\n", ""},
        {": data: a\n\n", std::nullopt},
        {"datum: a\n\n", std::nullopt},
        {" data: a\n\n", std::nullopt},
        {"Data: a\n\n", std::nullopt},
        {"retry: 5\n\n", std::nullopt},
        {"\n", std::nullopt},
    };
    for (const auto& each : rows) {
        CAPTURE(each.event);
        CHECK(net::sse_data(each.event) == each.data);
        CHECK(net::take_sse_data(std::string{each.event}) == each.data);
    }
}

TEST_CASE("other data take the place of an event's own, and its other lines stay")
{
    CHECK(net::with_sse_data("data: a\n\n", "x") == "data: x\n\n");
    CHECK(
        net::with_sse_data("id: 7\r\ndata: a\r\nretry: 5\r\ndata: b\r\n: c\r\n\r", "x") ==
        "id: 7\r\ndata: x\nretry: 5\r\n: c\r\n\r"
    );
    CHECK(net::with_sse_data("\ndata: a\n\n", "{\n \"b\": 1\n}") == "\ndata: {  \"b\": 1 }\n\n");
    CHECK(net::with_sse_data("data: a\n\n", "{\r\n}") == "data: {  }\n\n");
    CHECK(net::with_sse_data("data: a", "x") == "data: x\n");
    CHECK(net::with_sse_data("data: a\n\n", "") == "data: \n\n");
    CHECK(net::with_sse_data(": c\n\n", "x") == ": c\n\n");
}

TEST_CASE("a reader of an edited stream sees the other data, and everything else as it was")
{
    for (const std::string end : {"\n", "\r", "\r\n"}) {
        CAPTURE(end);
        std::string stream;
        for (const std::string line :
             {": c", "", "event: e", "id: 7", "data: {", "data: }", "retry: 9", "", "data: b", ""}) {
            stream += line + end;
        }
        std::string edited;
        for (const auto& piece : pieces_of(stream, 3)) {
            edited += net::sse_data(piece) ? net::with_sse_data(piece, "{\n}") : piece;
        }
        CHECK(tests::events_of(edited) == list{"retry 9", "e|7|{ }\n", "|7|{ }\n"});
    }
}

TEST_SUITE_END();
