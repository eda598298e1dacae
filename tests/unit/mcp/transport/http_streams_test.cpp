#include "mcp/transport/http_transport.hpp"
#include "tests/unit/mcp/transport/transport_rig.hpp"

TEST_SUITE_BEGIN("mcp/http_streams");

using namespace mcp_test;
using namespace std::chrono_literals;
using test_support::answer;
using test_support::answer_json;
using test_support::recorded_request;
using test_support::script;
using test_support::scripted_agent;

namespace {

// What comes after one another to all but the beginning of a session.
test_support::handler one_by_one(std::vector<script> all)
{
    const auto at = std::make_shared<std::size_t>(0);
    return in_session([all = std::move(all), at](const recorded_request&) {
        return *at < all.size() ? all[(*at)++] : test_support::silence();
    });
}

// The outcome of a request whose answer is spread over streams.
words told_of(
    std::vector<script> all,
    const std::function<void(const scripted_agent&)>& look = {},
    core::duration patience = 10s
)
{
    scripted_agent agent{one_by_one(std::move(all))};
    transport_rig x{agent.url("/mcp")};
    x.settings.server.request_timeout = patience;
    x.begin();
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wait_until([&] { return !x.told.empty() && x.told.back() != "received " + notice; }));
    if (look) {
        look(agent);
    }
    return x.told;
}

const std::string primed = "id: e1\nretry: 5\ndata: \n\n";

}  // namespace

TEST_CASE("a stream that ends before the answer is taken up again behind its last event, as often as it takes")
{
    const auto look = [](const scripted_agent& agent) {
        REQUIRE(agent.request_count() == 4);
        for (const std::size_t i : {2U, 3U}) {
            CHECK(agent.request(i).method == "GET");
            CHECK(agent.request(i).target == "/mcp");
            CHECK(agent.request(i).header("accept") == "text/event-stream");
            CHECK(agent.request(i).header("mcp-session-id") == "s-1");
            CHECK(agent.request(i).header("mcp-protocol-version") == "2025-11-25");
            CHECK(agent.request(i).header("last-event-id") == (i == 2 ? "e1" : "e2"));
        }
    };
    CHECK(
        told_of({events(primed), events(event(notice, "e2")), events(event(result_of(2), "e3"))}, look) ==
        words{"received " + notice, "received " + result_of(2)}
    );
}

TEST_CASE("a stream that was cut, or cannot be taken up at once, is taken up again too")
{
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    script cut = test_support::raw({head + "1c\r\nid: e1\nretry: 5\ndata:\n\ndata:\r\n"});
    cut.emplace_back(test_support::close_now{});
    CHECK(told_of({cut, test_support::reset(), events(event(result_of(2)))}) == words{"received " + result_of(2)});
}

TEST_CASE("an answer that cannot be had any more is a failure")
{
    CHECK(told_of({events(event(notice))}) == words{"received " + notice, "failed 2 upstream_reset"});
    CHECK(told_of({events(primed), answer(405, "")}) == words{"failed 2 upstream_status"});
    CHECK(told_of({events(primed), answer(400, "")}) == words{"failed 2 upstream_status"});
    CHECK(told_of({events(primed), answer_json(result_of(2))}) == words{"failed 2 upstream_protocol"});
    CHECK(told_of({events(primed), events("")}, {}, 300ms) == words{"failed 2 upstream_timeout"});
    CHECK(told_of({events(primed), answer(404, "")}) == words{"session_lost"});
}

TEST_CASE("the server says when a stream may be taken up again")
{
    scripted_agent agent{one_by_one({events("id: e1\nretry: 150\ndata:\n\n"), events(event(result_of(2)))})};
    transport_rig x{agent.url()};
    x.settings.longest_retry = 10s;
    x.begin();
    const auto before = std::chrono::steady_clock::now();
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wait_for("received " + result_of(2)));
    CHECK(std::chrono::steady_clock::now() - before >= 150ms);
}

TEST_CASE("A GET that is redirected within the origin is made there, and the messages go on to where they went")
{
    SUBCASE("for what the server says unasked")
    {
        scripted_agent agent{in_session([](const recorded_request& asked) {
            return asked.target == "/events" ? test_support::event_stream()
                   : asked.method == "GET"   ? answer(307, "", {{"Location", "/events"}})
                                             : answer_json(result_of(2));
        })};
        transport_rig x{agent.url("/mcp")};
        x.begin();
        x.wire->open_stream({});
        REQUIRE(x.wait_for("stream up"));
        CHECK(agent.request(2).header("mcp-session-id") == "s-1");
        REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
        REQUIRE(x.wait_for("received " + result_of(2)));
        CHECK(agent.request(3).target == "/mcp");
        CHECK(x.told.front() == "stream up");
    }
    SUBCASE("for the rest of an answer")
    {
        const auto look = [](const scripted_agent& agent) {
            REQUIRE(agent.request_count() == 4);
            CHECK(agent.request(2).target == "/mcp");
            CHECK(agent.request(3).target == "/rest");
            CHECK(agent.request(3).method == "GET");
            CHECK(agent.request(3).header("last-event-id") == "e1");
        };
        CHECK(
            told_of({events(primed), answer(308, "", {{"Location", "/rest"}}), events(event(result_of(2)))}, look) ==
            words{"received " + result_of(2)}
        );
    }
    SUBCASE("three times at most")
    {
        scripted_agent agent{in_session(always(answer(307, "", {{"Location", "/events"}})))};
        transport_rig x{agent.url("/mcp")};
        x.settings.first_retry = 1h;
        x.begin();
        x.wire->open_stream({});
        REQUIRE(x.wait_for("stream down"));
        CHECK(agent.request_count() == 5);
    }
}

TEST_CASE("A request to listen that is redirected within the origin goes there, and so does what follows")
{
    scripted_agent agent{[](const recorded_request& asked) {
        return asked.target == "/mcp"                                         ? answer(307, "", {{"Location", "/mcp/"}})
               : asked.body.find("subscriptions/listen") != std::string::npos ? test_support::event_stream()
                                                                              : answer_json(result_of(3));
    }};
    transport_rig x{agent.url("/mcp")};
    x.open();
    x.wire->settle(modern);
    x.wire->open_stream(ask(2, "subscriptions/listen"));
    REQUIRE(x.wait_for("stream up"));
    CHECK(agent.request(1).body == ask(2, "subscriptions/listen").text);
    REQUIRE(x.wire->send(ask(3, "tools/list")).has_value());
    REQUIRE(x.wait_for("received " + result_of(3)));
    CHECK(agent.request(2).target == "/mcp/");
}

TEST_CASE("in the modern era a stream that ends before the answer is a failure, with ids or without")
{
    scripted_agent agent{always(events(primed))};
    transport_rig x{agent.url()};
    x.open();
    x.wire->settle(modern);
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    CHECK(x.wait_for("failed 2 upstream_reset"));
    CHECK(agent.request_count() == 1);
}

TEST_CASE("a stream that goes on behind its answer holds nothing up, and ends soon")
{
    scripted_agent agent{in_session(always(test_support::event_stream()))};
    transport_rig x{agent.url()};
    x.settings.linger = 500ms;
    x.begin();
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 2; }));
    REQUIRE(agent.wait_for_streams(1));
    agent.send_event(result_of(2));
    agent.send_event(notice);
    REQUIRE(x.wait_for("received " + notice));
    CHECK(x.wait_until([&] { return agent.closed_by_peer() == 1; }));
    CHECK(x.told == words{"received " + result_of(2), "received " + notice});
}

TEST_CASE("what a server says unasked is heard, answers are not, and the stream is made again when it has ended")
{
    scripted_agent agent{one_by_one({test_support::event_stream(), events(""), test_support::event_stream()})};
    transport_rig x{agent.url()};
    x.begin();
    x.wire->open_stream({});
    REQUIRE(x.wait_for("stream up"));
    CHECK(agent.request(1).method == "GET");
    CHECK(agent.request(1).header("mcp-session-id") == "s-1");
    REQUIRE(agent.wait_for_streams(1));
    agent.send_event(result_of(2));
    agent.send_stream("id: e7\ndata: " + notice + "\n\n");
    REQUIRE(x.wait_for("received " + notice));
    CHECK(x.told == words{"stream up", "received " + notice});
    SUBCASE("quietly, if it ends in order and can be taken up where it was")
    {
        agent.end_streams();
        REQUIRE(x.wait_until([&] { return agent.request_count() == 4; }));
        CHECK(agent.request(2).header("last-event-id") == "e7");
        CHECK(x.told.size() == 2);
    }
    SUBCASE("and is told to be gone if it was cut")
    {
        agent.cut_streams();
        REQUIRE(x.wait_for("stream down"));
        REQUIRE(x.wait_until([&] { return std::ranges::count(x.told, "stream up") == 2; }));
        CHECK(agent.request(2).header("last-event-id") == "e7");
    }
}

TEST_CASE(
    "a stream that stood for a while and ends in order is asked for again without a word, as soon as the first time"
)
{
    std::vector<script> all(7, test_support::event_stream());
    scripted_agent agent{one_by_one(std::move(all))};
    transport_rig x{agent.url()};
    x.settings.longest_retry = 10s;
    x.settings.first_retry = 50ms;
    x.begin();
    x.wire->open_stream({});
    auto before = std::chrono::steady_clock::now();
    for (std::size_t i = 1; i <= 6; ++i) {
        REQUIRE(x.wait_until([&] { return agent.request_count() == 1 + i; }));
        CHECK(std::chrono::steady_clock::now() - before < 500ms);
        REQUIRE(agent.wait_for_streams(1));
        REQUIRE(x.wait_until([&] { return x.told.size() == i; }));
        x.run_for(60ms);
        agent.send_stream(": still here\n\n");
        agent.end_streams();
        before = std::chrono::steady_clock::now();
    }
    CHECK(x.told == words(6, "stream up"));
}

TEST_CASE("a stream that ends as soon as it stands, or cannot be had again, is one that is down")
{
    scripted_agent agent{one_by_one({events(""), events(""), test_support::event_stream(), answer(500, "")})};
    transport_rig x{agent.url()};
    x.settings.first_retry = 300ms;
    x.settings.longest_retry = 300ms;
    x.begin();
    x.wire->open_stream({});
    REQUIRE(x.wait_until([&] { return agent.request_count() == 4; }));
    REQUIRE(x.wait_until([&] {
        return x.told == words{"stream up", "stream down", "stream up", "stream down", "stream up"};
    }));
    x.run_for(320ms);
    REQUIRE(agent.wait_for_streams(1));
    agent.end_streams();
    REQUIRE(x.wait_until([&] { return agent.request_count() == 5; }));
    CHECK(x.wait_until([&] { return x.told.size() == 6 && x.told.back() == "stream down"; }));
}

TEST_CASE("a stream that was cut after it had stood for long enough is asked for again as soon as the first time")
{
    scripted_agent agent{in_session(always(test_support::event_stream()))};
    transport_rig x{agent.url()};
    x.settings.longest_retry = 10s;
    x.settings.first_retry = 200ms;
    x.settings.steady_stream = 30ms;
    x.begin();
    x.wire->open_stream({});
    auto before = std::chrono::steady_clock::now();
    for (std::size_t i = 1; i <= 5; ++i) {
        REQUIRE(x.wait_until([&] { return agent.request_count() == 1 + i; }));
        CHECK(std::chrono::steady_clock::now() - before < 600ms);  // 1012 ms without
        REQUIRE(agent.wait_for_streams(1));
        x.run_for(40ms);
        agent.cut_streams();
        before = std::chrono::steady_clock::now();
    }
}

TEST_CASE("an answer in a batch is one where 2025-03-26 is spoken, in a stream and as JSON")
{
    const auto batch = "[" + notice + "," + result_of(2) + "]";
    for (const auto& answered : {answer_json(batch), events(event(batch)), events(event(notice) + event(batch))}) {
        scripted_agent agent{one_by_one({answered})};
        transport_rig x{agent.url()};
        x.begin();
        x.wire->settle({"2025-03-26", {}});
        REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
        CHECK(x.wait_for("received " + batch));
        CHECK(std::ranges::none_of(x.told, [](const auto& each) { return each.starts_with("failed"); }));
    }
    scripted_agent agent{one_by_one({events(event("[" + result_of(1) + "," + result_of(2) + "]"))})};
    transport_rig x{agent.url()};
    x.begin();
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wait_for("failed 2 upstream_protocol"));
    CHECK(x.why_failed.find("batch") != std::string::npos);
}

TEST_CASE("a server that offers no stream is as good as one whose stream stands; all else is tried again")
{
    struct row {
        const char* what;
        script answered;
        const char* told;
    };
    for (const auto& [what, answered, told] : {
             row{"405", answer(405, ""), "no stream"},
             row{"404", answer(404, ""), "session_lost"},
             row{"409", answer(409, ""), "stream down"},
             row{"500", answer(500, ""), "stream down"},
             row{"401", answer(401, ""), "stream down"},
             row{"no stream", answer_json("{}"), "stream down"},
             row{"too large", events("data: " + std::string(70000, 'x')), "stream down"},
             row{"400 that says the session is lost",
                 answer(400, error_of(0, -32000, "No valid session")),
                 "session_lost"},
             row{"half a head", test_support::half_head(), "stream down"},
         }) {
        CAPTURE(what);
        scripted_agent agent{one_by_one({answered, answer(405, "")})};
        transport_rig x{agent.url()};
        x.settings.server.max_message = 1000;
        x.begin();
        x.wire->open_stream({});
        REQUIRE(x.wait_for(told));
        const bool again = std::string_view{told} == "stream down";
        if (again) {
            CHECK(x.wait_until([&] { return x.told.back() == "no stream"; }));
        }
        x.run_for(60ms);
        CHECK(agent.request_count() == (again ? 3 : 2));
    }
}

TEST_CASE("404 to a GET that named no session is a server that offers no stream")
{
    scripted_agent agent;
    transport_rig x{agent.url()};
    x.open();
    x.wire->open_stream({});
    CHECK(x.wait_for("no stream"));
}

TEST_CASE("in the modern era listening is a request, whose stream tells and whose answer says that it is over")
{
    scripted_agent agent;
    agent.next(test_support::event_stream());
    transport_rig x{agent.url()};
    x.open();
    x.wire->settle(modern);
    x.wire->open_stream(ask(9, "subscriptions/listen"));
    REQUIRE(x.wait_for("stream up"));
    CHECK(agent.request(0).method == "POST");
    CHECK(agent.request(0).header("mcp-method") == "subscriptions/listen");
    CHECK(agent.request(0).body == ask(9, "subscriptions/listen").text);
    REQUIRE(agent.wait_for_streams(1));
    agent.send_event(notice);
    REQUIRE(x.wait_for("received " + notice));
    agent.next(test_support::event_stream());
    agent.send_event(result_of(9));
    agent.end_streams();
    REQUIRE(x.wait_for("stream down"));
    x.run_for(60ms);
    CHECK(agent.request_count() == 1);
    x.wire->open_stream(ask(10, "subscriptions/listen"));
    REQUIRE(x.wait_until([&] { return x.told.back() == "stream up"; }));
    CHECK(agent.request(1).body == ask(10, "subscriptions/listen").text);
    CHECK_FALSE(x.has("received " + result_of(9)));
}

TEST_CASE("a modern server that knows no listening is one that offers no stream")
{
    for (const auto& answered :
         {answer(404, error_of(9, -32601, "no")),
          answer(405, ""),
          answer(404, ""),
          answer_json(error_of(9, -32601, "no")),
          events(event(error_of(9, -32601, "no")))}) {
        scripted_agent agent{always(answered)};
        transport_rig x{agent.url()};
        x.open();
        x.wire->settle(modern);
        x.wire->open_stream(ask(9, "subscriptions/listen"));
        REQUIRE(x.wait_for("no stream"));
        x.run_for(60ms);
        CHECK(agent.request_count() == 1);
        CHECK_FALSE(x.has("stream down"));
    }
}

TEST_SUITE_END();
