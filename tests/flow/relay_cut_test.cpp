// Answers and calls that end before they should, at every byte.
#include "tests/flow/relay_fixture.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::bytes;
using test_support::close_now;
using test_support::http_client;
using test_support::reset_now;
using test_support::script;

TEST_SUITE_BEGIN("flow/relay");

namespace {

struct whole_answer {
    std::string name;
    std::string head;
    std::string coded;
    std::string body;
};

std::vector<whole_answer> answers()
{
    const std::string body = R"({"jsonrpc":"2.0","id":1,"result":{"kind":"message","parts":[]}})";
    const std::string status = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
    return {
        {"length", status + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n", body, body},
        {"chunked", status + "Transfer-Encoding: chunked\r\n\r\n", flow::chunked(body, 17), body},
    };
}

// What a caller sees of it: a whole answer, an error of the gateway, or something that cannot be taken for either.
struct seen {
    std::optional<test_support::http_response> answer;
};

seen see(http_client& caller)
{
    seen out;
    try {
        out.answer = caller.read_response();
    } catch (const std::runtime_error& cut) {
        REQUIRE(std::string_view{cut.what()} == flow::cut_answer);
    }
    return out;
}

}  // namespace

TEST_CASE("an answer cut at any byte never looks complete, and the gateway goes on")
{
    for (const auto& whole : answers()) {
        const auto all = whole.head + whole.coded;
        relayed x{test_support::answer_json("{}")};
        for (const bool reset : {false, true}) {
            for (std::size_t cut = 0; cut < all.size(); ++cut) {
                CAPTURE(whole.name);
                CAPTURE(reset);
                CAPTURE(cut);
                script does;
                if (cut > 0) {
                    does.emplace_back(bytes{all.substr(0, cut)});
                }
                if (reset) {
                    does.emplace_back(reset_now{});
                } else {
                    does.emplace_back(close_now{});
                }
                x.agent.next(std::move(does));
                http_client caller{x.port()};
                caller.send(call_text(call_body()));

                const auto got = see(caller);

                if (got.answer) {
                    flow::check_jsonrpc_error(*got.answer, flow::cut_off, "1");
                } else {
                    REQUIRE(cut >= whole.head.size());
                }
            }
        }
        CHECK(flow::call(x.port(), call_body()).body == "{}");
    }
}

TEST_CASE("an answer that comes in two pieces is whole wherever it is parted")
{
    for (const auto& whole : answers()) {
        CAPTURE(whole.name);
        const auto all = whole.head + whole.coded;
        relayed x{test_support::answer_json("{}")};
        http_client caller{x.port()};
        for (std::size_t at = 1; at < all.size(); ++at) {
            test_support::gate second;
            x.agent.next(test_support::then({bytes{all.substr(0, at)}}, test_support::raw({all.substr(at)}, second)));
            caller.send(call_text(call_body()));
            REQUIRE(second.wait_until_reached());
            second.release();
            const auto got = caller.read_response();
            CHECK(got.status == 200);
            CHECK(got.body == whole.body);
        }
        CHECK(x.agent.accepted_connections() == 1);
    }
}

TEST_CASE("an answer whose every byte is a write of its own is whole")
{
    for (const auto& whole : answers()) {
        CAPTURE(whole.name);
        const relayed x{test_support::byte_by_byte(whole.head + whole.coded)};
        CHECK(flow::call(x.port(), call_body()).body == whole.body);
    }
    const auto text = flow::pattern_text(3000);
    const relayed x{test_support::chunked_byte_by_byte(text)};
    CHECK((flow::call(x.port(), call_body()).body == text));
}

TEST_CASE("half an answer is passed as half an answer")
{
    struct row {
        std::string name;
        script does;
        std::string arrives;
    };
    const row rows[] = {
        {"length", test_support::half_body(), std::string(50, 'x')},
        {"chunked", test_support::half_chunked(), "5\r\nhello\r\n"},
        {"within a chunk",
         {bytes{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhello"}, close_now{}},
         "5\r\nhello\r\n"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.name);
        test_support::gate go;
        auto does = row.does;
        does.insert(does.end() - 1, test_support::pass_gate{go.shared()});
        const relayed x{does};
        http_client caller{x.port()};
        caller.send(call_text(call_body()));
        CHECK(caller.read_head().status == 200);
        CHECK(caller.read_until(row.arrives) == row.arrives);
        go.release();
        CHECK(caller.read_until_closed().empty());
        CHECK(x.gateway.wait_for_metric(R"(cardea_upstream_errors_total{agent="a",reason="upstream_reset"})", 1));
    }
}

TEST_CASE("a chunked body that is none is cut, not ended")
{
    const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n";
    const std::string endings[] = {
        "ZZ\r\n",
        "-1\r\n",
        "0x3\r\nabc\r\n",
        "3\nabc\r\n",
        "3\r\nabcd\r\n",
        "ffffffffffffffff0\r\n",
        "3;" + std::string(9000, 'x') + "\r\nabc\r\n0\r\n\r\n",
        "0\r\nX : y\r\n\r\n",
    };
    for (const auto& ending : endings) {
        CAPTURE(ending.substr(0, 20));
        for (const bool begun : {true, false}) {
            CAPTURE(begun);
            test_support::gate go;
            const relayed x{test_support::then(test_support::raw({head, ending}, go), test_support::silence())};
            http_client caller{x.port()};
            caller.send(call_text(call_body()));
            if (begun) {
                go.release();
                CHECK(caller.read_head().status == 200);
                CHECK(caller.read_until("abc\r\n") == "3\r\nabc\r\n");
                go.release();
                CHECK(caller.read_until_closed().find("0\r\n\r\n") == std::string::npos);
            } else {
                go.release(2);
                const auto got = see(caller);  // an error if all of it came to the gateway in one read
                if (got.answer) {
                    flow::check_jsonrpc_error(*got.answer, flow::not_http, "1");
                }
            }
            CHECK(x.gateway.wait_for_metric(R"(cardea_upstream_errors_total{agent="a",reason="upstream_protocol"})", 1)
            );
        }
    }
    const relayed x{test_support::then({bytes{head + "ZZ\r\n"}}, test_support::silence())};
    flow::check_jsonrpc_error(flow::call(x.port(), call_body("5")), flow::not_http, "5");
}

TEST_CASE("trailers and chunk extensions of the agent are dropped")
{
    relayed x{
        {bytes{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Set-Cookie\r\n\r\n"
               "3;x=\"y\"\r\nabc\r\n0\r\nSet-Cookie: a=b\r\n\r\n"}}
    };
    http_client caller{x.port()};
    caller.send(call_text(call_body(), {{"Connection", "close"}}));
    const auto raw = caller.read_until_closed();
    CHECK(raw.ends_with("\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
    CHECK(raw.find("Set-Cookie") == std::string::npos);
}

TEST_CASE("an answer that is cut while its caller speaks HTTP/1.0 ends with a reset")
{
    // There the end of the connection is the end of the body: an orderly one would pass for a whole answer.
    test_support::gate go;
    const relayed x{{
        bytes{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"},
        test_support::pass_gate{go.shared()},
        close_now{},
    }};
    namespace asio = boost::asio;
    asio::io_context io;
    asio::ip::tcp::socket caller{io};
    caller.connect({asio::ip::address_v4::loopback(), x.port()});
    const auto body = call_body();
    const auto text =
        "POST /agents/a HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\n\r\n" + body;
    asio::write(caller, asio::buffer(text));
    std::string got;
    boost::system::error_code ended;
    while (!ended) {
        std::array<char, 4096> block{};
        got.append(block.data(), caller.read_some(asio::buffer(block), ended));
        if (got.find("abc") != std::string::npos) {
            go.release();
        }
    }
    CHECK(ended == asio::error::connection_reset);
    CHECK(got.ends_with("\r\n\r\nabc"));
}

TEST_CASE("a caller that leaves after any byte of its call sends nothing to the agent")
{
    for (const bool chunked_body : {false, true}) {
        const auto body = call_body();
        const auto text = chunked_body ? test_support::request_text(
                                             "POST",
                                             "/agents/a",
                                             {{"Content-Type", "application/json"}, {"Transfer-Encoding", "chunked"}},
                                             flow::chunked(body, 20)
                                         )
                                       : call_text(body);
        relayed x{test_support::answer_json("{}")};
        for (const bool reset : {false, true}) {
            for (std::size_t sent = 0; sent < text.size(); ++sent) {
                http_client caller{x.port()};
                caller.send(std::string_view{text}.substr(0, sent));
                if (reset) {
                    caller.reset();
                } else {
                    caller.close();
                }
            }
        }
        CHECK(x.gateway.wait_for_metric("cardea_connections_open", 0));
        CHECK(x.agent.request_count() == 0);
        CHECK(x.agent.accepted_connections() == 0);
        CHECK(flow::call(x.port(), body).body == "{}");
        CHECK(x.agent.request_count() == 1);
    }
}

TEST_CASE("a caller that resets is left at once, one that closes its half only after the time it has for reading")
{
    test_support::scripted_agent closed{[](const auto&) { return test_support::silence(); }};
    test_support::scripted_agent reset{[](const auto&) { return test_support::silence(); }};
    auto settings = flow::quick_settings();
    settings.timeouts.upstream_head = 1h;
    settings.agents.push_back(flow::a2a_agent("closed", closed.url()));
    settings.agents.push_back(flow::a2a_agent("reset", reset.url()));
    const flow::running_gateway gateway{std::move(settings)};
    const auto calling = [&](const std::string& agent) {
        http_client caller{gateway.port()};
        caller.send(
            test_support::request_text("POST", "/agents/" + agent, {{"Content-Type", "application/json"}}, call_body())
        );
        return caller;
    };
    auto reader = calling("closed");
    auto leaver = calling("reset");
    REQUIRE(closed.wait_for_requests(1));
    REQUIRE(reset.wait_for_requests(1));
    reader.half_close();
    leaver.reset();  // later, and yet its call ends first
    CHECK(reset.wait_until_peer_closed());
    CHECK(closed.closed_by_peer() == 0);
    CHECK(closed.wait_until_peer_closed());
}

TEST_CASE("a caller that only closes its half in the middle of a call gets 400 for a head and nothing for a body")
{
    const relayed x{test_support::answer_json("{}")};
    {
        http_client caller{x.port()};
        caller.send("POST /agents/a HTTP/1.1\r\nHost: a");
        caller.half_close();
        const auto got = caller.read_response();
        CHECK(got.status == 400);
        CHECK(got.header("Cardea-Error") == "bad_request");
        CHECK(got.header("Connection") == "close");
        CHECK(caller.closed_by_peer());
    }
    http_client caller{x.port()};
    auto text = call_text(call_body());
    text.pop_back();
    caller.send(text);
    caller.half_close();
    CHECK(caller.read_until_closed().empty());
    CHECK(x.agent.accepted_connections() == 0);
}

TEST_SUITE_END();
