#include "gateway/relay/answer_body.hpp"

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
