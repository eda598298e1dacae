#include "gateway/relay/answer_body.hpp"

#include <boost/asio/error.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/event_stream");

namespace {

using namespace std::chrono_literals;
using gateway::relay::event_stream;

constexpr core::steady_time start{1h};

net::http1::response_head head_with(std::string_view name, std::string_view value)
{
    net::http1::response_head head;
    head.fields.push_back({net::http1::lookup_field(name), name, value});
    return head;
}

// What goes on of a piece.
std::string passed(event_stream& stream, std::string_view piece)
{
    const auto found = stream.pass(piece);
    REQUIRE_FALSE(found.too_large);
    return std::string{found.bytes.held} + std::string{found.bytes.rest};
}

}  // namespace

TEST_CASE("An answer is a stream of events by its type, whatever the case and the parameters")
{
    for (const auto* type :
         {"text/event-stream", "Text/Event-Stream", "text/event-stream; charset=utf-8", "text/event-stream ;x"}) {
        CAPTURE(type);
        CHECK(gateway::relay::is_event_stream(head_with("Content-Type", type)));
    }
    for (const auto* type : {"text/event-streams", "text/event", "", "application/json", "x text/event-stream"}) {
        CAPTURE(type);
        CHECK_FALSE(gateway::relay::is_event_stream(head_with("Content-Type", type)));
    }
    CHECK_FALSE(gateway::relay::is_event_stream({}));
}

TEST_CASE("A body without a content coding is as it was made")
{
    CHECK(gateway::relay::has_identity_coding({}));
    CHECK(gateway::relay::has_identity_coding(head_with("Content-Encoding", "Identity")));
    CHECK_FALSE(gateway::relay::has_identity_coding(head_with("Content-Encoding", "gzip")));
    CHECK_FALSE(gateway::relay::has_identity_coding(head_with("Content-Encoding", "identity, gzip")));
}

TEST_CASE("A comment is due so long after the caller was last written to, and never within an event")
{
    event_stream stream{1024, 15s};
    stream.wrote(start);
    CHECK(stream.comment_due() == start + 15s);
    CHECK(passed(stream, "data: a") == "data: a");
    stream.wrote(start + 1s);
    CHECK(stream.comment_due() == core::steady_time::max());
    CHECK(passed(stream, "b\n") == "b\n");
    CHECK(stream.comment_due() == core::steady_time::max());
    CHECK(passed(stream, "\n") == "\n");
    stream.wrote(start + 2s);
    CHECK(stream.comment_due() == start + 17s);
    // The next event is one again, although the last has ended.
    CHECK(passed(stream, "data: c\n\n: note\n") == "data: c\n\n: note\n");
    CHECK(stream.comment_due() == start + 17s);
    CHECK(passed(stream, "id: 1\n") == "id: 1\n");
    CHECK(stream.comment_due() == core::steady_time::max());
}

TEST_CASE("A comment is never due where keep-alive is off")
{
    event_stream stream{1024, 0s};
    stream.wrote(start);
    CHECK(stream.comment_due() == core::steady_time::max());
}

TEST_CASE("A byte order mark behind a comment is taken out, in one piece or in several")
{
    for (const auto& pieces : std::vector<std::vector<std::string_view>>{
             {"\xEF\xBB\xBF"
              "data: a\n\n"},
             {"\xEF", "\xBB", "\xBF", "data: a\n\n"},
             {"\xEF\xBB",
              "\xBF"
              "data: a\n\n"},
         }) {
        event_stream stream{1024, 15s};
        CHECK(stream.comment() == ": keep-alive\n\n");
        CHECK(stream.comment() == ": keep-alive\n\n");
        std::string all;
        for (const auto piece : pieces) {
            all += passed(stream, piece);
        }
        CHECK(all == "data: a\n\n");
        // One mark is taken out, and nothing that looks like one later.
        CHECK(
            passed(
                stream,
                "\xEF\xBB\xBF"
                "data: b\n\n"
            ) ==
            "\xEF\xBB\xBF"
            "data: b\n\n"
        );
    }
}

TEST_CASE("The rest of an event ends with its empty line, wherever it was cut")
{
    const std::string events = "data: one\r\n\r\ndata: two\n\n";
    constexpr std::size_t first = 13;
    for (std::size_t cut = 1; cut < first; ++cut) {
        CAPTURE(cut);
        event_stream stream{1000, 1s};
        passed(stream, events.substr(0, cut));
        const auto rest = stream.rest_of_event(std::string_view{events}.substr(cut));
        CHECK(rest == first - cut);
        CHECK_FALSE(stream.between_events());  // it only looks
        passed(stream, events.substr(cut, rest));
        CHECK(stream.between_events());
        CHECK(stream.rest_of_event("data: two") == 0);
    }
    event_stream open{1000, 1s};
    passed(open, "data: on");
    CHECK(open.rest_of_event("e\ndata: more") == 12);
    CHECK(open.rest_of_event("") == 0);
}

TEST_CASE("A byte order mark at the very beginning stays, and so does what only began like one")
{
    event_stream first{1024, 15s};
    CHECK(
        passed(
            first,
            "\xEF\xBB\xBF"
            "data: a\n\n"
        ) ==
        "\xEF\xBB\xBF"
        "data: a\n\n"
    );
    event_stream second{1024, 15s};
    second.comment();
    CHECK(passed(second, "\xEF\xBB").empty());
    CHECK(passed(second, "x: y\n\n") == "\xEF\xBBx: y\n\n");
    CHECK(
        passed(
            second,
            "\xEF\xBB\xBF"
            "x: y\n\n"
        ) ==
        "\xEF\xBB\xBF"
        "x: y\n\n"
    );
}

TEST_CASE(
    "The end of the gateway is announced once, at once but not within an event, and never where there are no comments"
)
{
    event_stream stream{1000, 15s};
    stream.wrote(start);
    passed(stream, "data: 1\n");
    stream.announce_end();
    CHECK(stream.comment_due() == core::steady_time::max());
    passed(stream, "\n");
    CHECK(stream.comment_due() == core::steady_time::min());
    CHECK(stream.comment() == ": draining\n\n");
    CHECK(stream.comment_due() == start + 15s);
    CHECK(stream.comment() == ": keep-alive\n\n");

    event_stream silent{1000, 0s};
    silent.wrote(start);
    silent.announce_end();
    CHECK(silent.comment_due() == core::steady_time::max());
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("gateway/body_reader");

namespace {

using core::errc;
using gateway::relay::body_reader;
using net::http1::framing;

// What of `received` belongs to the body, read until it is done or all is used, and what is behind it.
struct read_body {
    std::string data;
    std::string_view rest;
};

read_body read(body_reader& body, std::string_view received)
{
    read_body read;
    while (!received.empty() && !body.done()) {
        const auto piece = body.take(received);
        REQUIRE(piece.has_value());
        read.data += piece->data;
        received.remove_prefix(piece->used);
    }
    read.rest = received;
    return read;
}

}  // namespace

TEST_CASE("An answer without a body is done before anything came")
{
    CHECK(body_reader{}.done());
    CHECK(body_reader{framing::none, 0}.done());
    CHECK(body_reader{framing::length, 0}.done());
    CHECK_FALSE(body_reader{framing::length, 1}.done());
    CHECK_FALSE(body_reader{framing::chunked, 0}.done());
    CHECK_FALSE(body_reader{framing::until_close, 0}.done());
}

TEST_CASE("A body with a length ends after so many bytes, and what follows is not used")
{
    body_reader body{framing::length, 5};
    CHECK(read(body, "ab").data == "ab");
    CHECK_FALSE(body.done());
    const auto last = read(body, "cdefg");
    CHECK(last.data == "cde");
    CHECK(last.rest == "fg");
    CHECK(body.done());
}

TEST_CASE("A chunked body gives its data without its framing, however it is split")
{
    constexpr std::string_view coded = "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nField: x\r\n\r\n";
    for (std::size_t step = 1; step <= coded.size(); ++step) {
        CAPTURE(step);
        body_reader body{framing::chunked, 0};
        std::string data;
        for (std::size_t at = 0; at < coded.size(); at += step) {
            CHECK_FALSE(body.done());
            data += read(body, coded.substr(at, step)).data;
        }
        CHECK(data == "abcde");
        CHECK(body.done());
    }
}

TEST_CASE("A chunk announces its bytes before they come")
{
    body_reader body{framing::chunked, 0};
    CHECK(read(body, "ff").data.empty());
    CHECK(body.announced() == 0);
    CHECK(read(body, "\r\n").data.empty());
    CHECK(body.announced() == 255);
    CHECK(read(body, "abc").data == "abc");
    CHECK(body.announced() == 252);
}

TEST_CASE("A fault in the chunked coding is the agent's")
{
    body_reader body{framing::chunked, 0};
    const auto piece = body.take("zz\r\n");
    REQUIRE_FALSE(piece.has_value());
    CHECK(piece.error().code == errc::upstream_protocol);
    CHECK(piece.error().from == core::side::upstream);
    CHECK(piece.error().detail.starts_with("chunk: "));
}

TEST_CASE("Only a body without length and chunks ends with the connection, if that ends in order")
{
    body_reader open{framing::until_close, 0};
    CHECK(read(open, "abc").data == "abc");
    CHECK_FALSE(open.done());
    CHECK(open.end(boost::asio::error::eof).has_value());
    CHECK(open.done());

    for (const auto how : {framing::length, framing::chunked}) {
        body_reader cut{how, 5};
        const auto ended = cut.end(boost::asio::error::eof);
        REQUIRE_FALSE(ended.has_value());
        CHECK(ended.error().code == errc::upstream_reset);
        CHECK_FALSE(cut.done());
    }
    body_reader broken{framing::until_close, 0};
    const auto ended = broken.end(boost::asio::error::connection_reset);
    REQUIRE_FALSE(ended.has_value());
    CHECK(ended.error().code == errc::upstream_reset);
    CHECK_FALSE(broken.done());
}

TEST_SUITE_END();
