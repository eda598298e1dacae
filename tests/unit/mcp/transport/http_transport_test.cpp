#include "mcp/transport/http_transport.hpp"

#include "tests/support/test_ca.hpp"
#include "tests/unit/mcp/transport/transport_rig.hpp"

TEST_SUITE_BEGIN("mcp/transport/http_transport");

using namespace mcp_test;
using namespace std::chrono_literals;
using test_support::answer;
using test_support::answer_json;
using test_support::recorded_request;
using test_support::scripted_agent;

namespace {

// The outcome of one request, the first over the connection.
std::string outcome_at(const std::string& url, const std::string& method = "server/discover")
{
    transport_rig x{url};
    x.settings.server.request_timeout = 1s;
    x.settings.server.initialize_timeout = 1s;
    x.settings.server.max_message = 500;
    x.open();
    REQUIRE(x.wire->send(ask(7, method)).has_value());
    REQUIRE(x.wait_until([&] { return x.told.size() > 1; }));
    CHECK(x.told.front() == "connected");
    x.run_for(10ms);
    CHECK(x.told.size() == 2);
    return x.told.back();
}

std::string outcome_of(test_support::script what, const std::string& method = "server/discover")
{
    scripted_agent agent{always(std::move(what))};
    return outcome_at(agent.url("/mcp"), method);
}

}  // namespace

TEST_CASE("an answer may come as JSON or in a stream, with what else the server has to say")
{
    scripted_agent agent;
    agent.next(answer_json(result_of(1)));
    agent.next(events(
        "event: message\n" + event(notice) + ": a comment\n\nevent: other\ndata: x\n\n" +
        event(R"({"jsonrpc":"2.0","id":"s","method":"ping"})") + event(result_of(2)) + event(result_of(2))
    ));
    agent.next(answer(202, ""));
    transport_rig x{agent.url("/mcp")};
    x.open();
    REQUIRE(x.wire->send(ask(1, "initialize")).has_value());
    CHECK(x.told.empty());
    REQUIRE(x.wait_for("received " + result_of(1)));
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wait_for("received " + result_of(2)));
    REQUIRE(x.wire->send(note("notifications/initialized")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 3; }));
    x.run_for(20ms);
    CHECK(
        x.told ==
        words{
            "connected",
            "received " + result_of(1),
            "received " + notice,
            R"(received {"jsonrpc":"2.0","id":"s","method":"ping"})",
            "received " + result_of(2)
        }
    );
    CHECK(agent.request(0).target == "/mcp");
    CHECK(agent.request(0).header("accept") == "application/json, text/event-stream");
    CHECK(agent.request(0).header("content-type") == "application/json");
}

TEST_CASE("an answer that cannot be taken fails its request at once, with the reason, and lets the others go on")
{
    const auto refused = R"({"jsonrpc":"2.0","id":1,"result":{"tools":NaN}})";
    struct row {
        test_support::script what;
        bool streams;
        const char* told;
        const char* why;
    };
    for (const auto& [what, streams, told, why] : {
             row{answer_json(refused), false, "failed 1 upstream_protocol legacy", "answer refused: message: "},
             row{test_support::event_stream(), true, "failed 1 upstream_protocol", "answer refused: message: "},
         }) {
        scripted_agent agent{always(what)};
        transport_rig x{agent.url("/mcp")};
        x.settings.server.request_timeout = 1h;
        x.open();
        REQUIRE(x.wire->send(ask(1, "tools/list")).has_value());
        REQUIRE(x.wait_until([&] { return agent.request_count() == 1; }));
        if (streams) {
            REQUIRE(agent.wait_for_streams(1));
            agent.send_event(refused);
        }
        REQUIRE(x.wait_for(told));
        CHECK(x.why_failed.starts_with(why));
    }
}

TEST_CASE("every step that fails tells why, and what it says of the era")
{
    CHECK(outcome_at("http://127.0.0.1:" + std::to_string(test_support::unused_port())) == "failed 7 upstream_refused");
    CHECK(outcome_of(test_support::reset()) == "failed 7 upstream_reset");
    CHECK(outcome_of(test_support::close_unanswered()) == "failed 7 upstream_reset");
    CHECK(outcome_of(test_support::half_body()) == "failed 7 upstream_reset");
    CHECK(outcome_of(test_support::silence()) == "failed 7 upstream_timeout");
    CHECK(outcome_of(test_support::silence(), "initialize") == "failed 7 upstream_timeout");
    CHECK(outcome_of(test_support::not_json()) == "failed 7 upstream_protocol legacy");
    CHECK(
        outcome_of(answer(200, result_of(7), {{"Content-Type", "text/plain"}})) == "failed 7 upstream_protocol legacy"
    );
    CHECK(outcome_of(answer_json(std::string(501, ' '))) == "failed 7 message_too_large");
    CHECK(outcome_of(answer_json(result_of(8))) == "failed 7 upstream_protocol legacy");
    CHECK(outcome_of(answer(202, "")) == "failed 7 upstream_protocol legacy");
    CHECK(outcome_of(answer(400, "")) == "failed 7 upstream_status legacy");
    CHECK(outcome_of(answer(404, "")) == "failed 7 upstream_status legacy");
    CHECK(outcome_of(answer(401, result_of(7))) == "failed 7 session_misconfigured");
    CHECK(outcome_of(answer(503, "")) == "failed 7 upstream_status");
    CHECK(outcome_of(test_support::redirect("/other")) == "failed 7 upstream_status");
    CHECK(outcome_of(answer(400, error_of(7, -32022, "no"))) == "received " + error_of(7, -32022, "no"));
    CHECK(outcome_of(answer(404, error_of(7, -32601, "no"))) == "received " + error_of(7, -32601, "no"));
    CHECK(outcome_of(events(event(notice).substr(0, 20))) == "failed 7 upstream_reset");
    CHECK(outcome_of(events(event(result_of(8)))) == "failed 7 upstream_reset");
    CHECK(outcome_of(events("data: " + std::string(70000, 'x'))) == "failed 7 message_too_large");
    CHECK(outcome_of(test_support::event_stream()) == "failed 7 upstream_timeout");
}

TEST_CASE(
    "A 307 or 308 within the origin is followed, by all that the connection sends from then on, three times at most"
)
{
    for (const unsigned status : {307U, 308U}) {
        std::string base;
        scripted_agent agent{[&](const recorded_request& asked) {
            if (asked.target != "/mcp/") {
                return answer(status, "", {{"Location", asked.target == "/mcp" ? base + "/mcp/" : "/mcp"}});
            }
            return asked.method == "GET"
                       ? answer(405, "")
                       : answer_json(result_of(asked.body.find("\"id\":1") != std::string::npos ? 1 : 2));
        }};
        base = agent.url("");
        transport_rig x{agent.url("/start")};
        x.begin();
        REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
        REQUIRE(x.wait_for("received " + result_of(2)));
        x.wire->open_stream({});
        REQUIRE(x.wait_for("no stream"));
        const auto all = agent.requests();
        REQUIRE(all.size() == 5);
        CHECK(all[0].target == "/start");
        CHECK(all[1].target == "/mcp");
        for (const std::size_t at : {2U, 3U, 4U}) {
            CHECK(all[at].target == "/mcp/");
        }
        CHECK(all[2].method == "POST");
        CHECK(all[2].body == all[0].body);
    }
    scripted_agent circle{always(answer(307, "", {{"Location", "/mcp"}}))};
    CHECK(outcome_at(circle.url("/mcp")) == "failed 7 upstream_status");
    CHECK(circle.request_count() == 4);
}

TEST_CASE("Each of several requests that are redirected at once is sent to where its own answer led")
{
    scripted_agent agent{in_session([](const recorded_request& asked) {
        return asked.target == "/mcp" ? answer(308, "", {{"Location", "mcp/"}})
               : asked.target == "/mcp/"
                   ? answer_json(result_of(asked.body.find("\"id\":2") != std::string::npos ? 2 : 3))
                   : answer(404, "");
    })};
    transport_rig x{agent.url("/mcp")};
    x.begin();
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wire->send(ask(3, "tools/list")).has_value());
    REQUIRE(x.wait_until([&] { return x.told.size() == 2; }));
    CHECK(x.has("received " + result_of(2)));
    CHECK(x.has("received " + result_of(3)));
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wait_until([&] { return x.told.size() == 3; }));
    CHECK(agent.request_count() == 6);
}

TEST_CASE(
    "A redirect to elsewhere, or one that changes the method, is not followed, and where it leads is told without "
    "secrets"
)
{
    scripted_agent other;
    for (const auto& [status, location, shown] :
         {std::tuple{307U, other.url("/mcp"), other.url("/mcp")},
          {308U, std::string{"https://user:word@127.0.0.1/mcp?key=s3cret#x"}, std::string{"https://127.0.0.1/mcp"}},
          {302U, std::string{"/login/s3cret-s3cret?next=/mcp"}, std::string{"/login/********"}}}) {
        scripted_agent agent{always(answer(status, "", {{"Location", location}}))};
        transport_rig x{agent.url("/mcp")};
        x.settings.secrets = std::make_shared<core::redaction>(std::vector<std::string>{"s3cret-s3cret"});
        x.open();
        REQUIRE(x.wire->send(ask(7, "initialize")).has_value());
        REQUIRE(x.wait_for("failed 7 upstream_status"));
        CHECK(x.why_failed.starts_with("status " + std::to_string(status) + " to initialize; Location: " + shown + " (")
        );
        CHECK(agent.request_count() == 1);
    }
    CHECK(other.request_count() == 0);
}

TEST_CASE("401 and 403 are told with the challenge and the beginning of the body, without what the server was given")
{
    const auto secret = std::string{"hunter2-hunter2"};
    for (const unsigned status : {401U, 403U}) {
        const auto body = "No\r\n  access for " + secret + std::string(160, '.') + secret + " more";
        scripted_agent agent{always(answer(status, body, {{"WWW-Authenticate", "Bearer realm=\"" + secret + "\""}}))};
        transport_rig x{agent.url("/mcp")};
        x.settings.secrets = std::make_shared<core::redaction>(std::vector<std::string>{secret});
        x.open();
        REQUIRE(x.wire->send(ask(7, "initialize")).has_value());
        REQUIRE(x.wait_for("failed 7 session_misconfigured"));
        CHECK(
            x.why_failed == "status " + std::to_string(status) +
                                " to initialize; WWW-Authenticate: Bearer realm=\"********\"; No access for ********" +
                                std::string(160, '.') + "********"
        );
    }
    CHECK(outcome_of(answer(402, "")) == "failed 7 upstream_status legacy");
}

TEST_CASE("a server is verified, and shown nothing before that")
{
    test_support::test_ca ca;
    const auto offered = ca.issue({"127.0.0.1"});
    scripted_agent agent{
        always(answer_json(result_of(1))),
        {.cert_file = offered.cert_file, .key_file = offered.key_file}
    };
    CHECK(outcome_at(agent.url()) == "failed 7 upstream_tls");
    CHECK(agent.request_count() == 0);
    transport_rig x{agent.url()};
    x.settings.tls.ca_file = ca.ca_file();
    x.open();
    REQUIRE(x.wire->send(ask(1, "initialize")).has_value());
    CHECK(x.wait_for("received " + result_of(1)));
}

TEST_CASE("a session's id goes with all that follows, the version once it is settled, and the configured fields always")
{
    scripted_agent agent{in_session(always(answer(202, "")))};
    transport_rig x{agent.url()};
    x.settings.headers = {{"Authorization", core::secret{"Bearer t"}}, {"mcp-session-id", core::secret{"mine"}}};
    x.begin();
    REQUIRE(x.wire->send(note("notifications/initialized")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 2; }));
    CHECK(agent.request(0).count("mcp-session-id") == 0);
    CHECK(agent.request(0).count("mcp-protocol-version") == 0);
    CHECK(agent.request(0).header("authorization") == "Bearer t");
    CHECK(agent.request(1).count("mcp-session-id") == 1);
    CHECK(agent.request(1).header("mcp-session-id") == "s-1");
    CHECK(agent.request(1).header("mcp-protocol-version") == "2025-11-25");
    CHECK(agent.request(1).header("authorization") == "Bearer t");
    CHECK(agent.request(1).count("mcp-method") == 0);
}

TEST_CASE("a key in the query goes with every message, also to where a redirect has led, once even if that repeats it")
{
    scripted_agent agent{always(answer(202, ""))};
    agent.next(answer(307, "", {{"Location", "/other?key=k&x=1"}}));
    transport_rig x{agent.url("/mcp?v=1")};
    x.settings.query = core::secret{"key=k"};
    x.open();
    REQUIRE(x.wire->send(note("notifications/initialized")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 2; }));
    CHECK(agent.request(0).target == "/mcp?v=1&key=k");
    CHECK(agent.request(1).target == "/other?x=1&key=k");
}

TEST_CASE("a session's id that cannot be sent back is a failure")
{
    for (const auto& id : {std::string{"a b"}, std::string{"caf\xc3\xa9"}, std::string(1025, 'x')}) {
        CHECK(
            outcome_of(answer_json(result_of(7), {{"Mcp-Session-Id", id}}), "initialize") ==
            "failed 7 upstream_protocol"
        );
    }
}

TEST_CASE("a session that is forgotten is told once, however many requests find out, and nothing is sent until the next"
)
{
    for (const bool as_400 : {false, true}) {
        CAPTURE(as_400);
        scripted_agent agent{in_session([&](const recorded_request&) {
            return as_400 ? answer(400, error_of(0, -32000, "Bad Request: No valid session ID provided"))
                          : answer(404, "");
        })};
        transport_rig x{agent.url()};
        x.begin();
        for (std::uint64_t id = 2; id < 30; ++id) {
            REQUIRE(x.wire->send(ask(id, "resources/read")).has_value());
        }
        REQUIRE(x.wait_for("session_lost"));
        CHECK(core::name(x.wire->send(ask(40, "ping")).error().code) == "upstream_reset");
        x.run_for(20ms);
        CHECK(x.told == words{"session_lost"});
        const auto before = agent.request_count();
        REQUIRE(x.wire->send(ask(1, "initialize")).has_value());
        REQUIRE(x.wait_for("received " + result_of(1)));
        CHECK(agent.request(before).count("mcp-session-id") == 0);
        CHECK(agent.request(before).count("mcp-protocol-version") == 0);
    }
}

TEST_CASE("A list for which the server knows no session fails alone, and one whose method it does not know is answered")
{
    for (const auto& refused :
         {answer(404, ""),
          answer(404, error_of(2, -32001, "Session not found")),
          answer(400, error_of(2, -32000, "no session"))}) {
        scripted_agent agent{in_session(always(refused))};
        transport_rig x{agent.url()};
        x.begin();
        REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
        REQUIRE(x.wait_for("failed 2 session_not_found"));
        CHECK(x.told.size() == 1);
    }
    const auto unknown = error_of(2, -32601, "Method not found");
    scripted_agent agent{in_session(always(answer(404, unknown)))};
    transport_rig x{agent.url()};
    x.begin();
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wait_for("received " + unknown));
}

TEST_CASE("404 and 400 to what named no session lose none")
{
    CHECK(outcome_of(answer(404, ""), "tools/list") == "failed 7 upstream_status legacy");
    CHECK(
        outcome_of(answer(400, error_of(0, -32000, "no session")), "tools/list") == "failed 7 upstream_status legacy"
    );
}

TEST_CASE("Once a session stands, a failure tells the server's era only if it is another than the one that is spoken")
{
    const auto failure = [](int code, const std::string& text) {
        return R"({"jsonrpc":"2.0","id":null,"error":{"code":)" + std::to_string(code) + R"(,"message":")" + text +
               R"("}})";
    };
    struct row {
        bool modern;
        unsigned status;
        std::string body;
        const char* told;
    };
    for (const auto& [speaks_modern, status, body, told] : {
             row{false, 400, failure(-32022, "Unsupported protocol version"), "failed 2 upstream_status modern"},
             row{false, 400, failure(-32602, "Unsupported protocol version"), "failed 2 upstream_status"},
             row{false, 400, "", "failed 2 upstream_status"},
             row{true, 400, failure(-32000, "Bad Request: Server not initialized"), "failed 2 upstream_status legacy"},
             row{true, 404, failure(-32001, "Session not found"), "failed 2 upstream_status legacy"},
             row{true, 400, failure(-32022, "Unsupported protocol version"), "failed 2 upstream_status"},
             row{true, 503, failure(-32000, "no session"), "failed 2 upstream_status"},
             row{true, 404, "", "failed 2 upstream_status"},
         }) {
        CAPTURE(speaks_modern);
        CAPTURE(status);
        CAPTURE(body);
        scripted_agent agent{in_session(always(answer(status, body)))};
        transport_rig x{agent.url()};
        x.begin();
        if (speaks_modern) {
            x.wire->settle(modern);
        }
        REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
        CHECK(x.wait_for(told));
    }
}

TEST_CASE("in the modern era each request says what it is, in ASCII, and no session is named")
{
    scripted_agent agent{always(answer_json(result_of(1), {{"Mcp-Session-Id", "s-1"}}))};
    transport_rig x{agent.url()};
    x.open();
    x.wire->settle(modern);
    for (const auto* const name : {"plain", "caf\xc3\xa9", " led", "=?base64?eA==?="}) {
        REQUIRE(x.wire->send(ask(1, "tools/call", name)).has_value());
    }
    REQUIRE(x.wire->send(ask(1, "server/discover")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 5; }));
    words names;
    for (const auto& each : agent.requests()) {
        CHECK(each.header("mcp-protocol-version") == "2026-07-28");
        CHECK(each.count("mcp-session-id") == 0);
        names.push_back(each.header("mcp-method") + " " + each.header("mcp-name"));
    }
    std::ranges::sort(names);
    CHECK(
        names ==
        words{
            "server/discover ",
            "tools/call =?base64?IGxlZA==?=",
            "tools/call =?base64?PT9iYXNlNjQ/ZUE9PT89?=",
            "tools/call =?base64?Y2Fmw6k=?=",
            "tools/call plain"
        }
    );
}

TEST_CASE("in the modern era a request is cancelled by ending its exchange, and nothing but requests is sent")
{
    scripted_agent agent{always(test_support::silence())};
    transport_rig x{agent.url()};
    x.open();
    x.wire->settle(modern);
    REQUIRE(x.wire->send(ask(3, "tools/list")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 1; }));
    REQUIRE(x.wire->send({R"({"jsonrpc":"2.0","id":"s","result":{}})", 0, ""}).has_value());
    auto cancels = note("notifications/cancelled");
    cancels.text = mcp::cancelled_notification(3, "why");
    cancels.cancels = 3;
    REQUIRE(x.wire->send(cancels).has_value());
    CHECK(x.wait_until([&] { return agent.closed_by_peer() == 1; }));
    CHECK(agent.request_count() == 1);
    CHECK(x.told == words{"connected"});
}

TEST_CASE("Callers' requests wait for no place and take none, and one that is cancelled ends its exchange in either era"
)
{
    scripted_agent agent{always(test_support::silence())};
    transport_rig x{agent.url()};
    x.open();
    for (std::size_t i = 0; i < 2 * mcp::most_posts; ++i) {
        auto call = ask(1000 + i, "tools/call");
        call.of_caller = true;
        call.text_id = 1000 + i;
        REQUIRE(x.wire->send(call).has_value());
    }
    REQUIRE(x.wait_until([&] { return agent.request_count() == 2 * mcp::most_posts; }));
    REQUIRE(x.wire->send(ask(1, "ping")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 2 * mcp::most_posts + 1; }));
    auto cancels = note("notifications/cancelled");
    // Two members with one name: the text says nothing to this transport.
    cancels.text = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1003,"x":1,"x":2}})";
    cancels.cancels = 1003;
    cancels.of_caller = true;
    REQUIRE(x.wire->send(cancels).has_value());
    CHECK(x.wait_until([&] { return agent.closed_by_peer() == 1; }));
    REQUIRE(x.wait_until([&] { return agent.request_count() == 2 * mcp::most_posts + 2; }));
    CHECK(x.told == words{"connected"});
}

TEST_CASE("messages over max_message are not sent, and the bounds of what waits hold")
{
    scripted_agent agent{always(test_support::silence())};
    transport_rig x{agent.url()};
    x.settings.server.max_message = 200;
    x.open();
    auto large = ask(1, "tools/call");
    large.text.resize(201, ' ');
    CHECK(core::name(x.wire->send(large).error().code) == "body_too_large");
    for (std::size_t i = 0; i < mcp::most_posts + mcp::most_waiting_posts; ++i) {
        REQUIRE(x.wire->send(ask(i + 1, "tools/list")).has_value());
    }
    CHECK(core::name(x.wire->send(ask(9999, "ping")).error().code) == "overloaded");
    REQUIRE(x.wait_until([&] { return agent.request_count() == mcp::most_posts; }));
    x.run_for(20ms);
    CHECK(agent.request_count() == mcp::most_posts);
}

TEST_CASE("a notification is taken with the head of its answer, whatever follows that")
{
    scripted_agent agent{in_session([](const recorded_request& asked) {
        return asked.body.find("\"id\":") == std::string::npos ? test_support::event_stream()
                                                               : answer_json(result_of(2));
    })};
    transport_rig x{agent.url()};
    x.settings.linger = 500ms;
    x.begin();
    REQUIRE(x.wire->send(note("notifications/initialized")).has_value());
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wait_for("received " + result_of(2)));
    REQUIRE(agent.wait_for_streams(1));
    agent.send_event(notice);
    REQUIRE(x.wait_for("received " + notice));
    CHECK(x.wait_until([&] { return agent.closed_by_peer() == 1; }));
    CHECK(x.told == words{"received " + result_of(2), "received " + notice});
}

TEST_CASE("a notification that is refused is told as what did not arrive")
{
    scripted_agent agent{in_session(always(answer(500, "")))};
    transport_rig x{agent.url()};
    x.begin();
    REQUIRE(x.wire->send(note("notifications/initialized")).has_value());
    REQUIRE(x.wait_for("failed 0 upstream_status"));
    CHECK(x.why_failed == "status 500 to notifications/initialized");
    CHECK(x.told.size() == 1);
}

TEST_CASE("what follows the beginning of a session waits until that is taken")
{
    test_support::gate held;
    scripted_agent agent{in_session([&](const recorded_request& asked) {
        return asked.body.find("initialized") != std::string::npos
                   ? test_support::raw({"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"}, held)
                   : answer_json(result_of(2));
    })};
    transport_rig x{agent.url()};
    x.begin();
    REQUIRE(x.wire->send(note("notifications/initialized")).has_value());
    REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
    REQUIRE(x.wait_until([&] { return agent.request_count() == 2; }));
    x.run_for(20ms);
    CHECK(agent.request_count() == 2);
    held.release();
    CHECK(x.wait_for("received " + result_of(2)));
}

TEST_CASE("a session is ended with DELETE, whose answer is not waited for long, and then nothing is told")
{
    for (const int how : {200, 405, 404, 0}) {
        CAPTURE(how);
        scripted_agent agent{in_session([&](const recorded_request& asked) {
            return asked.method != "DELETE" || how == 0 ? test_support::silence()
                                                        : answer(static_cast<unsigned>(how), "");
        })};
        transport_rig x{agent.url()};
        x.settings.end_session_timeout = 30ms;
        x.begin();
        REQUIRE(x.wire->send(ask(2, "tools/list")).has_value());
        REQUIRE(x.wait_until([&] { return agent.request_count() == 2; }));
        x.wire->close(true);
        REQUIRE(x.wait_for("closed"));
        CHECK(x.told == words{"closed"});
        REQUIRE(agent.wait_for_requests(3));
        CHECK(agent.request(2).method == "DELETE");
        CHECK(agent.request(2).header("mcp-session-id") == "s-1");
        CHECK(x.wire->send(ask(3, "ping")).has_error());
        x.run_for(10ms);
        CHECK(x.told == words{"closed"});
    }
}

TEST_CASE("without a session, or when it is to be kept, closing sends nothing")
{
    scripted_agent agent{in_session(always(answer(202, "")))};
    transport_rig kept{agent.url()};
    kept.begin();
    kept.wire->close(false);
    CHECK(kept.wait_for("closed"));
    transport_rig none{agent.url()};
    none.open();
    none.wire->close(true);
    CHECK(none.wait_for("closed"));
    CHECK(none.told == words{"closed"});
    CHECK(agent.request_count() == 1);
}

TEST_CASE("whatever is told, the transport may be destroyed by it")
{
    struct row {
        const char* what;
        test_support::script answered;
    };
    for (const auto& [what, answered] : {
             row{"received", answer_json(result_of(2))},
             row{"received", events(event(notice) + event(result_of(2)))},
             row{"failed", answer(500, "")},
             row{"session_lost", answer(404, "")},
             row{"no stream", answer(405, "")},
             row{"stream", test_support::event_stream()},
         }) {
        CAPTURE(what);
        scripted_agent agent{in_session(always(answered))};
        transport_rig x{agent.url()};
        x.begin();
        x.on_word = [&x, awaited = std::string{what}](const std::string& told) {
            if (told.starts_with(awaited)) {
                x.wire.reset();
            }
        };
        if (std::string_view{what}.ends_with("stream")) {
            x.wire->open_stream({});
        } else {
            REQUIRE(x.wire->send(ask(2, "resources/read")).has_value());
        }
        CHECK(x.wait_until([&] { return x.wire == nullptr; }));
        x.run_for(20ms);
        CHECK(x.told.size() == 1);
    }
}

TEST_SUITE_END();
