// Calls over sessions of both roles: bodies, windows, trailers, ends, and what HPACK may remember.
#include "tests/unit/net/http2/session_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>

TEST_SUITE_BEGIN("net/http2/session");

namespace {

using namespace tests;
using net::http2::error_code;
using net::http2::role;
using net::http2::session;

// A caller's and a server's session, with all that one sends given to the other.
struct two_sessions {
    // Until neither has anything to say.
    void exchange()
    {
        for (bool more = true; more;) {
            caller.session.produce(0);
            server.session.produce(0);
            more = !caller.session.output().empty() || !server.session.output().empty();
            server.feed(std::exchange(caller.session.output(), {}));
            caller.feed(std::exchange(server.session.output(), {}));
        }
    }

    std::int32_t send(std::string_view head, bool last) { return caller.session.request(head, call, last).value(); }

    session_rig caller{{.as = role::client, .secure = true}};
    session_rig server{{.as = role::server}};
    recorded_stream call{caller.log, "call"};
};

}  // namespace

TEST_CASE("A request and its answer pass with bodies and trailers")
{
    two_sessions both;
    both.call.to_send = "question";
    both.call.last = true;
    both.call.trailers = "x-request: trailer\r\n";
    const auto id = both.send(
        "POST /x?y HTTP/1.1\r\nHost: a.test:1\r\nConnection: close\r\nTE: trailers\r\nX-Name: value\r\n"
        "Transfer-Encoding: chunked\r\n\r\n",
        false
    );
    both.exchange();
    CHECK(
        both.server.log ==
        "settings\n1: request POST /x?y HTTP/1.1\r\nhost: a.test:1\r\nte: trailers\r\nx-name: value\r\n"
        "transfer-encoding: chunked\r\n\r\n\n1: body\n1: trailers x-request: trailer\r\n\n1: end 8\n"
    );
    CHECK(both.server.streams[id]->body == "question");
    auto& answer = *both.server.streams[id];
    answer.to_send = "answer";
    answer.last = true;
    answer.trailers = "grpc-status: 0\r\n";
    both.server.session.interim(id, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    both.server.session.answer(id, "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nA: b\r\n\r\n", false);
    both.exchange();
    CHECK(
        both.caller.log ==
        "call: sent all\nsettings\ncall: head HTTP/1.1 103 \r\nlink: x\r\n\r\n\n"
        "call: head HTTP/1.1 200 \r\na: b\r\ntransfer-encoding: chunked\r\n\r\n\ncall: body\n"
        "call: trailers grpc-status: 0\r\n\ncall: end 6\ncall: closed no_error by us\n"
    );
    CHECK(both.call.body == "answer");
    CHECK(both.server.log.ends_with("1: sent all\n1: closed no_error by us\n"));
}

TEST_CASE("A body that comes later is sent when it is there")
{
    two_sessions both;
    const auto id = both.send("GET / HTTP/1.1\r\nHost: a.test\r\n", true);
    both.exchange();
    auto& answer = *both.server.streams[id];
    both.server.session.answer(id, "HTTP/1.1 200 OK\r\n", false);
    both.exchange();
    CHECK(both.call.body.empty());
    answer.to_send = "first";
    both.server.session.resume(id);
    both.exchange();
    CHECK(both.call.body == "first");
    answer.last = true;
    both.server.session.resume(id);
    both.exchange();
    CHECK(both.caller.log.ends_with("call: end 5\ncall: closed no_error by us\n"));
}

TEST_CASE("A peer sends no more than was taken and the windows allow")
{
    two_sessions both;
    both.call.to_send = std::string(200'000, 'x');
    both.call.last = true;
    const auto id = both.send("POST / HTTP/1.1\r\nHost: a.test\r\n", false);
    both.exchange();
    CHECK(both.server.streams[id]->body.size() == 64 * 1024);
    both.server.session.consume(id, 64 * 1024);
    both.exchange();
    CHECK(both.server.streams[id]->body.size() == 2 * 64 * 1024);
    both.server.session.consume(id, 64 * 1024);
    both.exchange();
    both.server.session.consume(id, 64 * 1024);
    both.exchange();
    CHECK(both.server.log.ends_with("end 200000\n"));
}

TEST_CASE("A stream whose body nobody takes stalls no other")
{
    two_sessions both;
    both.call.to_send = std::string(200'000, 'x');
    both.send("POST /1 HTTP/1.1\r\nHost: a.test\r\n", false);
    recorded_stream other{both.caller.log, "other"};
    other.to_send = std::string(60'000, 'y');
    other.last = true;
    const auto id = both.caller.session.request("POST /2 HTTP/1.1\r\nHost: a.test\r\n", other, false).value();
    both.exchange();
    CHECK(both.server.streams[id]->body.size() == 60'000);
}

TEST_CASE("No more than 64 KiB of DATA wait to be sent, and the answer to a PING does not wait for them")
{
    session_rig rig;
    rig.feed(raw::client_start() + raw::update_frame(0, 1'000'000) + raw::settings_frame({{4, 1'000'000}}));
    rig.feed(raw::headers_frame(1, raw::get()));
    rig.streams[1]->to_send = std::string(500'000, 'x');
    rig.session.answer(1, "HTTP/1.1 200 OK\r\n", false);
    rig.session.produce(0);
    const auto first = rig.session.output().size();
    CHECK(first >= session::most_unsent);
    CHECK(first < session::most_unsent + 17'000);
    rig.feed(raw::ping_frame());
    CHECK(rig.session.output().size() == first + 17);
    rig.session.output().clear();
    rig.session.produce(session::most_unsent);
    CHECK(rig.session.output().empty());
    rig.session.produce(session::most_unsent - 1);
    CHECK(rig.session.output().size() == 16'384 + 9);
}

TEST_CASE("Trailers of a hundred kilobytes reach their peer")
{
    session_rig rig;
    rig.feed(raw::client_start() + raw::headers_frame(1, raw::get()));
    rig.streams[1]->last = true;
    rig.streams[1]->trailers = "grpc-message: " + std::string(100'000, 'x') + "\r\ngrpc-status: 8\r\n";
    rig.session.answer(1, "HTTP/1.1 200 OK\r\n", false);
    rig.session.produce(0);
    CHECK(rig.session.output().size() > 70'000);  // in Huffman code
    CHECK(rig.log.ends_with("1: closed no_error by us\n"));
}

TEST_CASE("A head and trailers that are too large to send end their stream alone")
{
    session_rig rig;
    rig.feed(raw::client_start());
    const std::string large = "x-large: " + std::string(6'000'000, '~') + "\r\n";
    rig.feed(raw::headers_frame(1, raw::get()));
    rig.session.answer(1, "HTTP/1.1 200 OK\r\n" + large, false);
    CHECK(rig.sent().back().code() == static_cast<std::uint32_t>(error_code::internal_error));
    CHECK(rig.log.ends_with("1: closed internal_error by us\n"));
    rig.feed(raw::headers_frame(3, raw::get()));
    rig.streams[3]->last = true;
    rig.streams[3]->trailers = large;
    rig.session.answer(3, "HTTP/1.1 200 OK\r\n", false);
    CHECK(rig.sent().back().code() == static_cast<std::uint32_t>(error_code::internal_error));
    CHECK(rig.log.ends_with("3: closed internal_error by us\n"));
    rig.feed(raw::headers_frame(5, raw::get()));
    rig.session.answer(5, "HTTP/1.1 204 No Content\r\n", true);
    rig.session.produce(0);
    CHECK(rig.log.ends_with("5: sent all\n5: closed no_error by us\n"));
}

TEST_CASE("Answers take turns: a short one does not wait for the end of a long one")
{
    session_rig rig;
    rig.feed(raw::client_start() + raw::update_frame(0, 1'000'000) + raw::settings_frame({{4, 1'000'000}}));
    rig.feed(raw::headers_frame(1, raw::get()) + raw::headers_frame(3, raw::get()));
    rig.streams[1]->to_send = std::string(500'000, 'x');
    rig.streams[3]->to_send = "short";
    rig.streams[3]->last = true;
    rig.session.answer(1, "HTTP/1.1 200 OK\r\n", false);
    rig.session.answer(3, "HTTP/1.1 200 OK\r\n", false);
    const auto frames = rig.sent();
    CHECK(std::any_of(frames.begin(), frames.end(), [](const auto& each) {
        return each.stream == 3 && each.payload == "short";
    }));
}

TEST_CASE("What still comes of a stream that was answered is dropped until it is reset")
{
    session_rig rig;
    rig.feed(raw::client_start() + raw::headers_frame(1, raw::post(), raw::end_headers));
    rig.streams[1]->last = true;
    rig.session.answer(1, "HTTP/1.1 413 \r\n", true);
    CHECK(rig.ends().empty());
    rig.log.clear();
    rig.session.detach(1);
    rig.feed(raw::frame(raw::data, 0, 1, "late"));
    CHECK(rig.ends().empty());
    REQUIRE(rig.session.is_open(1));
    rig.session.reset(1, error_code::no_error);
    CHECK(rig.ends() == "reset 1 no_error\n");
    CHECK_FALSE(rig.session.is_open(1));
    rig.feed(raw::frame(raw::data, raw::end_stream, 1, "late"));
    CHECK(rig.ends().empty());
    CHECK(rig.log.empty());
}

TEST_CASE("Bytes of a stream that is gone still open the connection's window")
{
    session_rig rig{{.stream_window = 65'536, .connection_window = 65'536}};
    rig.feed(raw::client_start());
    rig.sent();
    for (std::uint32_t id = 1; id < 20; id += 2) {
        rig.feed(
            raw::headers_frame(id, raw::post(), raw::end_headers) +
            raw::frame(raw::data, 0, id, std::string(16'000, 'x'))
        );
        rig.session.reset(static_cast<std::int32_t>(id), error_code::cancel);
        rig.session.consume(static_cast<std::int32_t>(id), 16'000);
        rig.session.end_work();
        rig.sent();
        CHECK_FALSE(rig.session.done());
    }
}

TEST_CASE("A caller's reset is told once, with its code")
{
    two_sessions both;
    const auto id = both.send("POST / HTTP/1.1\r\nHost: a.test\r\n", false);
    both.exchange();
    both.caller.session.reset(id, error_code::cancel);
    both.exchange();
    CHECK(both.server.log.ends_with("1: closed cancel by peer\n"));
    CHECK(both.caller.log == "settings\n");
}

TEST_CASE("A server's end is announced, names the last stream, and lets streams end that have begun")
{
    two_sessions both;
    both.exchange();
    both.server.session.announce_end();
    both.exchange();
    CHECK(both.caller.log.ends_with("goaway 2147483647 no_error\n"));
    CHECK(both.caller.session.room_for_requests() == 0);
    CHECK(both.caller.session.done());

    session_rig rig;
    rig.feed(raw::client_start() + raw::headers_frame(1, raw::get()));
    rig.session.announce_end();
    rig.feed(raw::headers_frame(3, raw::get()));
    rig.session.end();
    CHECK(rig.ends() == "goaway no_error \ngoaway no_error \n");
    CHECK(rig.goaways == 1);
    rig.feed(raw::headers_frame(5, raw::get()));
    CHECK(rig.log.find("5:") == std::string::npos);
    rig.session.answer(1, "HTTP/1.1 204 \r\n", true);
    rig.sent();
    CHECK_FALSE(rig.session.done());
    rig.session.answer(3, "HTTP/1.1 204 \r\n", true);
    rig.sent();
    CHECK(rig.session.done());
}

TEST_CASE("Requests above the last stream of a GOAWAY were not processed")
{
    session_rig rig{{.as = role::client}};
    recorded_stream one{rig.log, "one"};
    recorded_stream three{rig.log, "three"};
    REQUIRE(rig.session.request("GET / HTTP/1.1\r\nHost: a.test\r\n", one, true).has_value());
    REQUIRE(rig.session.request("GET / HTTP/1.1\r\nHost: a.test\r\n", three, true).has_value());
    rig.feed(raw::settings_frame());
    rig.sent();
    rig.log.clear();
    rig.feed(raw::frame(raw::goaway, 0, 0, raw::number(1, 4) + raw::number(0, 4)));
    CHECK(rig.log == "goaway 1 no_error\nthree: closed refused_stream by peer\n");
    rig.feed(raw::headers_frame(1, {{":status", "204"}}));
    CHECK(rig.log.ends_with("one: head HTTP/1.1 204 \r\n\r\n(last)\none: end 0\none: closed no_error by us\n"));
    CHECK(rig.session.done());
    CHECK(rig.session.request("GET / HTTP/1.1\r\nHost: a.test\r\n", one, true).has_error());
}

TEST_CASE("Requests beyond the peer's number of streams are counted")
{
    session_rig rig{{.as = role::client}};
    rig.feed(raw::settings_frame({{3, 2}}));
    CHECK(rig.session.room_for_requests() == 2);
    recorded_stream call{rig.log, "call"};
    REQUIRE(rig.session.request("GET / HTTP/1.1\r\nHost: a.test\r\n", call, true).has_value());
    CHECK(rig.session.room_for_requests() == 1);
    rig.sent();
    rig.feed(raw::headers_frame(1, {{":status", "204"}}));
    CHECK(rig.session.room_for_requests() == 2);
}

TEST_CASE("HPACK indexes no credential, in requests and in answers")
{
    const std::string names[] = {
        "authorization",
        "cookie",
        "proxy-authorization",
        "x-api-key",
        "api-key",
        "x-goog-api-key",
        "x-amz-security-token",
        "x-auth-token",
        "mcp-session-id",
        "x-corp-secret",
        "set-cookie"
    };
    for (const auto& name : names) {
        CAPTURE(name);
        session_rig caller{{.as = role::client}};
        recorded_stream call{caller.log, "call"};
        const auto head = "GET / HTTP/1.1\r\nHost: a.test\r\n" + name + ": " + std::string(30, 'v') + "\r\n";
        REQUIRE(caller.session.request(head, call, true).has_value());
        caller.sent();
        CHECK(caller.blocks.never_indexed == 1);
        session_rig server;
        server.feed(raw::client_start() + raw::headers_frame(1, raw::get()));
        server.session.answer(1, "HTTP/1.1 200 OK\r\n" + name + ": " + std::string(30, 'v') + "\r\n", true);
        server.sent();
        CHECK(server.blocks.never_indexed == 1);
    }
    session_rig caller{{.as = role::client}};
    recorded_stream call{caller.log, "call"};
    REQUIRE(caller.session.request("GET / HTTP/1.1\r\nHost: a.test\r\nA2A-Version: 1.0\r\n", call, true).has_value());
    caller.sent();
    CHECK(caller.blocks.never_indexed == 0);
    // Whatever a configuration calls an agent's credential.
    REQUIRE(
        caller.session.request("GET / HTTP/1.1\r\nHost: a.test\r\nX-Pass: v\r\nX-Jwt: v\r\n", call, true).has_value()
    );
    caller.sent();
    CHECK(caller.blocks.never_indexed == 2);
}

TEST_CASE("A session without the preface or without SETTINGS first is ended")
{
    const std::string starts[] = {
        "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
        std::string{raw::preface} + raw::ping_frame()
    };
    for (const auto& start : starts) {
        session_rig rig;
        rig.feed(start);
        CHECK(rig.ends().starts_with("goaway protocol_error"));
        CHECK(rig.session.done());
    }
}

// Equal bytes in any two parts, and one by one, give equal events and frames.
TEST_CASE("What a session tells and sends does not depend on how its input is cut")
{
    const auto input = raw::client_start() + raw::headers_frame(1, raw::post(), raw::end_headers) +
                       raw::frame(raw::data, raw::padded, 1, raw::number(3, 1) + "body" + std::string(3, '\0')) +
                       raw::ping_frame() + raw::headers_frame(3, raw::get("/", {{"Upper", "x"}})) +
                       raw::frame(raw::data, 0, 3, "late") + raw::headers_frame(1, {{"a", "trailer"}}) +
                       raw::headers_frame(5, raw::get()) + raw::reset_frame(5) + raw::frame(0x33, 7, 9, "unknown") +
                       raw::update_frame(0, 100) + raw::frame(raw::data, 0, 5, "on a closed stream") +
                       raw::headers_frame(1, raw::get()) + raw::headers_frame(7, raw::get());
    const auto outcome = [&](const std::vector<std::size_t>& sizes) {
        session_rig rig;
        std::string_view left{input};
        for (const auto size : sizes) {
            rig.feed(left.substr(0, size));
            left.remove_prefix(std::min(size, left.size()));
        }
        rig.feed(left);
        return rig.log + rig.ends();
    };
    const auto whole = outcome({});
    CHECK(whole.ends_with("goaway stream_closed HEADERS: stream closed\n"));
    for (std::size_t cut = 1; cut < input.size(); ++cut) {
        CAPTURE(cut);
        REQUIRE(outcome({cut}) == whole);
    }
    REQUIRE(outcome(std::vector<std::size_t>(input.size(), 1)) == whole);
}

TEST_CASE("A session knows since when a head has not ended, and that it has")
{
    session_rig rig;
    rig.feed(raw::client_start());
    const auto since = [&] { return rig.session.head_since(); };
    const auto begun = rig.now;
    std::uint32_t stream = 1;
    for (const auto& fields : {raw::get(), raw::get("/", {{"Upper", "x"}})}) {  // the second is reset for its fault
        CAPTURE(stream);
        CHECK_FALSE(since());
        const auto whole = raw::headers_frame(stream, fields);
        rig.now = begun;
        rig.feed(whole.substr(0, 12));
        CHECK(since() == begun);
        rig.now += 1s;
        rig.feed(whole.substr(12, 3));
        CHECK(since() == begun);
        rig.feed(whole.substr(15));
        CHECK_FALSE(since());
        stream += 2;
    }
    rig.now = begun;
    const auto parts = raw::headers_frame(5, raw::get(), raw::end_stream);
    rig.feed(parts);
    rig.now += 1s;
    rig.feed(raw::frame(raw::continuation, 0, 5));
    CHECK(since() == begun);
    rig.feed(raw::frame(raw::continuation, raw::end_headers, 5));
    CHECK_FALSE(since());
}

TEST_SUITE_END();
