#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace std::chrono_literals;
using namespace test_support;

TEST_CASE("a request is recorded whole, and answered by the queue first, then by the default")
{
    scripted_agent agent{[](const recorded_request& request) { return answer(200, "default " + request.target); }};
    agent.next(answer(418, "first"));
    agent.next(answer_json("{}"));

    CHECK(request(agent.port(), "POST", "/a?b", {{"X-One", "1"}, {"x-one", "2"}}, "body").status == 418);
    CHECK(request(agent.port(), "GET", "/c").header("content-type") == "application/json");
    CHECK(request(agent.port(), "GET", "/d").body == "default /d");

    const auto first = agent.request(0);
    CHECK(first.method == "POST");
    CHECK(first.target == "/a?b");
    CHECK(first.header("X-ONE") == "1");
    CHECK(first.count("X-One") == 2);
    CHECK(first.body == "body");
    CHECK(agent.request_count() == 3);
    CHECK(agent.request(2).connection == 3);
    CHECK(agent.request(2).number_on_connection == 1);
    CHECK(agent.wait_for_requests(3, 0ms));
    CHECK_FALSE(agent.wait_for_requests(4, 0ms));
    CHECK(agent.wait_for([](const auto& all) { return all.back().target == "/d"; }));
    CHECK(agent.wait_until_peer_closed(patience, 3));
    CHECK(agent.wait_for_open_connections(0));
    CHECK(agent.accepted_connections() == 3);
}

TEST_CASE("a connection serves request after request, HEAD without a body, until somebody says close")
{
    scripted_agent agent{[](const recorded_request&) { return answer(200, "12345"); }};
    http_client client{agent.port()};
    client.send(request_text("HEAD", "/1") + request_text("GET", "/2"));
    const auto head = client.read_response(true);
    CHECK(head.header("Content-Length") == "5");
    CHECK(head.body.empty());
    CHECK(client.read_response().body == "12345");
    CHECK_FALSE(client.closed_by_peer(0ms));
    client.send(request_text("GET", "/3", {{"Connection", "close"}}));
    CHECK(client.read_response().body == "12345");
    CHECK(client.closed_by_peer());
    CHECK(agent.request(2).number_on_connection == 3);
    CHECK(agent.most_open_connections() == 1);
    CHECK(agent.closed_by_peer() == 0);

    agent.next(answer(200, "x", {{"Connection", "close"}}));
    http_client other{agent.port()};
    other.send(request_text("GET", "/4"));
    CHECK(other.read_response().body == "x");
    CHECK(other.closed_by_peer());
}

TEST_CASE("over TLS the client tells an end in order from one that only ends")
{
    test_ca ca;
    const auto shown = ca.issue({"127.0.0.1"});
    scripted_agent agent{{.cert_file = shown.cert_file, .key_file = shown.key_file}};
    agent.next(script{bytes{"HTTP/1.1 200 OK\r\n\r\nwhole"}, close_now{}});
    http_client whole{agent.port(), tls_caller{ca.ca_file()}};
    whole.send(request_text("GET", "/"));
    CHECK(whole.read_response().body == "whole");
    CHECK(whole.closed_by_peer());
    CHECK(whole.ended_in_order());

    agent.next(script{bytes{"HTTP/1.1 200 OK\r\n\r\npart"}, reset_now{}});
    http_client part{agent.port(), tls_caller{ca.ca_file()}};
    part.send(request_text("GET", "/"));
    part.read_until_closed();
    CHECK_FALSE(part.ended_in_order());

    test_ca stranger{"another root"};
    CHECK_THROWS_WITH(
        http_client(agent.port(), tls_caller{stranger.ca_file()}),
        "http_client: handshake: certificate verify failed"
    );
    CHECK_THROWS_AS(http_client(agent.port(), tls_caller{ca.ca_file(), "localhost"}), std::runtime_error);
}

TEST_CASE("pieces wait at their gate, one release each")
{
    gate held;
    scripted_agent agent;
    agent.next(raw({"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", "ab", "cd"}, held));
    http_client client{agent.port()};
    client.send(request_text("GET", "/"));
    CHECK(held.wait_until_reached(1));
    CHECK_FALSE(client.closed_by_peer(0ms));
    CHECK_FALSE(held.wait_until_reached(2, 0ms));
    held.release();
    CHECK(client.read_head().status == 200);
    CHECK(held.wait_until_reached(2));
    held.release();
    CHECK(client.read_until("ab") == "ab");
    CHECK(held.wait_until_reached(3));
    CHECK_THROWS_AS(http_client(agent.port(), 10ms).read_some(), std::runtime_error);
    held.release(5);
    CHECK(client.read_some() == "cd");

    agent.next(then(raw({"HTTP/1.1 200 OK\r\n"}), raw({"\r\n"}, gate{})));
    client.send(request_text("GET", "/"));
    CHECK(client.read_until("\n") == "HTTP/1.1 200 OK\r\n");
    client.close();
    CHECK(agent.wait_until_peer_closed(patience, 2));
}

TEST_CASE("every way to break off is seen as such")
{
    scripted_agent agent;
    const auto received = [&](script what) {
        agent.next(std::move(what));
        http_client client{agent.port()};
        client.send(request_text("GET", "/"));
        return client.read_until_closed();
    };
    CHECK(received(close_unanswered()).empty());
    CHECK(received(reset()).empty());
    CHECK(received(half_head()) == "HTTP/1.1 200 OK\r\nContent-Type: applic");
    CHECK(received(half_body()).ends_with("\r\n\r\n" + std::string(50, 'x')));
    CHECK(received(half_chunked()).ends_with("\r\n\r\n5\r\nhello\r\n"));
    CHECK(received(answer_then_close(200, "whole")).ends_with("\r\n\r\nwhole"));
    CHECK(agent.closed_by_peer() == 0);

    agent.next(silence());
    http_client patient{agent.port()};
    patient.send(request_text("GET", "/"));
    CHECK(agent.wait_for_requests(7));
    CHECK_FALSE(patient.closed_by_peer(10ms));
    patient.reset();
    CHECK(agent.wait_until_peer_closed());

    agent.otherwise(closing_on_reuse(answer(200, "once")));
    http_client twice{agent.port()};
    twice.send(request_text("GET", "/"));
    CHECK(twice.read_response().body == "once");
    twice.send(request_text("GET", "/"));
    CHECK(twice.read_until_closed().empty());
    CHECK_THROWS_AS(http_client{unused_port()}, std::system_error);
}

TEST_CASE("what happens on accept can be scripted too")
{
    scripted_agent closing{{.accepts = on_accept::close}};
    CHECK(http_client{closing.port()}.read_until_closed().empty());
    scripted_agent deaf{{.accepts = on_accept::silence}};
    http_client client{deaf.port()};
    client.send(request_text("GET", "/"));
    CHECK(deaf.wait_for_connections(1));
    CHECK_FALSE(client.closed_by_peer(10ms));
    client.half_close();
    CHECK(deaf.wait_until_peer_closed());
    CHECK(deaf.request_count() == 0);
}

TEST_CASE("large bodies follow their pattern, with a length or in chunks")
{
    constexpr std::uint64_t size = 300'001;
    for (const bool chunked : {false, true}) {
        scripted_agent agent{[&](const recorded_request&) { return huge(size, chunked); }};
        const auto got = request(agent.port(), "GET", "/");
        REQUIRE(got.body.size() == size);
        for (std::uint64_t i = 0; i < size; i += 997) {
            CHECK(got.body[i] == pattern_byte(i));
        }
    }
    scripted_agent agent{[&](const recorded_request&) { return chunked_byte_by_byte("[1,2]"); }};
    CHECK(request(agent.port(), "GET", "/").body == "[1,2]");
}

TEST_CASE("events go out when they are sent, to every open stream, until it is ended, cut or left")
{
    scripted_agent agent{[](const recorded_request&) { return event_stream({{"X-Stream", "1"}}); }};
    http_client one{agent.port()};
    http_client two{agent.port()};
    for (auto* const client : {&one, &two}) {
        client->send(request_text("GET", "/events"));
        CHECK(client->read_head().header("X-Stream") == "1");
    }
    REQUIRE(agent.wait_for_streams(2));
    agent.send_event("first");
    for (auto* const client : {&one, &two}) {
        CHECK(client->read_until("first\n\n\r\n") == "d\r\ndata: first\n\n\r\n");
    }
    two.close();
    CHECK(agent.wait_until_peer_closed());
    agent.send_stream(": comment\n\n");
    CHECK(one.read_until("\n\n\r\n").ends_with(": comment\n\n\r\n"));
    agent.end_streams();
    CHECK(one.read_until("0\r\n\r\n") == "0\r\n\r\n");

    one.send(request_text("GET", "/again"));
    CHECK(one.read_head().status == 200);
    REQUIRE(agent.wait_for_streams(1));
    agent.cut_streams();
    CHECK(one.read_until_closed().empty());
}
