// One call to an agent over HTTP/2: what goes out, what comes in, and how it fails.
#include "tests/support/test_ca.hpp"
#include "tests/unit/net/upstream/http2_rig.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace http2_rig;
using core::errc;

TEST_SUITE_BEGIN("net/http2_calls");

namespace {

constexpr errc none{};

h2::script echo(const recorded_request& request)
{
    return h2::answer(200, "<" + request.body + ">", {{"content-type", "text/plain"}}, {{"checked", "yes"}});
}

net::routine<> call_twice(rig& r, target to)
{
    for (const std::string body : {"one", "two"}) {
        const auto got = co_await call(r.pool, to, "/some/path?q", body);
        CHECK(got.failure == none);
        CHECK(got.status == 200);
        CHECK(got.body == "<" + body + ">");
        CHECK(got.trailers == "checked: yes\r\n");
    }
    CHECK(r.pool.idle() == 1);
}

net::routine<> call_once(rig& r, target to, std::string body, answer& got)
{
    got = co_await call(r.pool, std::move(to), "/", std::move(body));
}

// The outcome of one call to an agent that answers so.
answer answer_to(h2::script said, std::string body = "x")
{
    http2_agent agent{[said](const recorded_request&) { return said; }};
    rig r;
    answer got;
    r.run(call_once(r, target_of(agent.url()), std::move(body), got));
    CHECK(r.counters.streams == 0);
    CHECK(r.counters.connections == 0);
    return got;
}

net::routine<> call_with_fields(rig& r, target to)
{
    net::signal changed;
    auto lease = co_await begin(r.pool, std::move(to), changed);
    const auto head = head_of(
        "POST",
        "/",
        "Content-Type: application/json\r\nAuthorization: Bearer secret\r\nX-API-Key: k\r\nConnection: close\r\n"
        "Transfer-Encoding: chunked\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\n"
    );
    net::agent_request request{.body = "body", .last = true, .chunked = true};
    request.head.add(std::string_view{head}.substr(0, 30));
    request.head.add(std::string_view{head}.substr(30));
    lease->send(request);
    const auto got = co_await finish(*lease, changed, net::http1::method::post);
    CHECK(got.status == 200);
}

net::routine<> talk_both_ways(rig& r, http2_agent& agent)
{
    net::signal changed;
    auto lease = co_await begin(r.pool, target_of(agent.url()), changed);
    const auto head = head_of("POST", "/");
    net::agent_request request{.last = false, .chunked = true};
    request.head.add(head);
    lease->send(request);
    CHECK_FALSE(lease->sending());
    std::string come;
    while (!lease->read_head(net::http1::method::post).value()) {
        lease->arm();
        co_await changed.wait();
    }
    lease->consume_head();
    for (const std::string_view piece : {"a", "bb", "ccc"}) {
        lease->send_body(piece, false);
        CHECK_FALSE(lease->sending());
        const auto before = come.size();
        while (come.size() < before + piece.size()) {
            come += lease->take().value();
            lease->release();
            if (come.size() < before + piece.size()) {
                lease->arm();
                co_await changed.wait();
            }
        }
    }
    CHECK_FALSE(lease->body_done());
    lease->send_body({}, true);
    while (!lease->body_done()) {
        lease->take().value();
        lease->release();
        if (!lease->body_done()) {
            lease->arm();
            co_await changed.wait();
        }
    }
    CHECK(come == "abbccc");
    CHECK(lease->reusable());
}

}  // namespace

TEST_CASE("a call goes over HTTP/2 with prior knowledge, and the next one over its connection")
{
    http2_agent agent{echo};
    rig r;
    r.run(call_twice(r, target_of(agent.url())));
    CHECK(agent.accepted_connections() == 1);
    const auto first = agent.request(0);
    CHECK(first.method == "POST");
    CHECK(first.target == "/some/path?q");
    CHECK(first.header(":scheme") == "http");
    CHECK(first.header(":authority") == "agent.test");
    CHECK(first.count("host") == 0);
    CHECK(first.body == "one");
    CHECK(agent.pings() == 0);
    CHECK(agent.wait_for_open_connections(0));
    CHECK(agent.goaways() == 1);
}

TEST_CASE("over TLS the agent chooses HTTP/2 by ALPN, and one that does not is not called")
{
    test_support::test_ca ca;
    const auto identity = ca.issue(std::vector<std::string>{"127.0.0.1"});
    for (const bool chooses : {true, false}) {
        CAPTURE(chooses);
        http2_agent agent{
            echo,
            {.cert_file = identity.cert_file, .key_file = identity.key_file, .chooses_h2 = chooses}
        };
        rig r;
        answer got;
        r.run(call_once(r, target_of(agent.url(), ca.ca_file()), "hello", got));
        CHECK(got.failure == (chooses ? none : errc::upstream_tls));
        CHECK(agent.requests().size() == (chooses ? 1 : 0));
        if (chooses) {
            CHECK(got.body == "<hello>");
            CHECK(agent.request(0).header(":scheme") == "https");
        }
    }
}

TEST_CASE("fields of HTTP/1.1 stay here, names go in lower case, and credentials are never indexed")
{
    http2_agent agent{echo};
    rig r;
    r.run(call_with_fields(r, target_of(agent.url())));
    const auto got = agent.request(0);
    CHECK(got.header("content-type") == "application/json");
    CHECK(got.header("te") == "trailers");
    for (const auto* const name : {"connection", "transfer-encoding", "keep-alive", "host"}) {
        CHECK(got.count(name) == 0);
    }
    std::vector<std::string> secret;
    for (const auto& [name, value] : got.headers) {
        if (name == "not-indexed") {
            secret.push_back(value);
        }
        CHECK(std::ranges::none_of(name, [](char c) { return c >= 'A' && c <= 'Z'; }));
    }
    CHECK(secret == std::vector<std::string>{"authorization", "x-api-key"});
    CHECK(got.body == "body");
}

TEST_CASE("an answer without a body is whole with its head")
{
    for (const unsigned status : {200U, 204U, 304U, 404U}) {
        CAPTURE(status);
        const auto got = answer_to(h2::answer(status, ""), "");
        CHECK(got.failure == none);
        CHECK(got.status == status);
        CHECK(got.body.empty());
    }
}

TEST_CASE("interim answers are skipped, up to eight")
{
    for (const int interim : {7, 8, 9}) {
        CAPTURE(interim);
        h2::script said;
        for (int i = 0; i < interim; ++i) {
            said.push_back(h2::head{{{":status", "103"}, {"link", "</a>"}}});
        }
        for (auto& each : h2::answer(200, "done")) {
            said.push_back(std::move(each));
        }
        const auto got = answer_to(std::move(said));
        CHECK(got.failure == (interim <= 8 ? none : errc::upstream_protocol));
        CHECK(got.body == (interim <= 8 ? "done" : ""));
    }
}

TEST_CASE("a head that breaks a rule of HTTP/2 is the agent's fault")
{
    const std::vector<test_support::field_list> heads{
        {{":status", "200"}, {"Upper", "x"}},
        {{":status", "200"}, {"bad name", "x"}},
        {{":status", "200"}, {"x", "a\rb"}},
        {{":status", "200"}, {"x", std::string{"a\0b", 3}}},
        {{":status", "200"}, {"connection", "close"}},
        {{":status", "200"}, {"transfer-encoding", "chunked"}},
        {{":status", "200"}, {"keep-alive", "timeout=5"}},
        {{":status", "200"}, {"upgrade", "h2c"}},
        {{":status", "200"}, {":path", "/"}},
        {{":status", "200"}, {":status", "200"}},
        {{"x", "y"}, {":status", "200"}},
        {{":status", "200"}, {":unknown", "x"}},
        {{":status", "101"}},
        {{":status", "20"}},
        {{":status", "200"}, {"content-length", "1"}, {"content-length", "1"}},
        {{":status", "200"}, {"content-length", "-1"}},
        {{"x", "y"}},
    };
    for (const auto& fields : heads) {
        CAPTURE(fields.back().first);
        CAPTURE(fields.back().second);
        const auto got = answer_to({h2::head{fields}, h2::data{"x", true}});
        CHECK(got.failure == errc::upstream_protocol);
        CHECK_FALSE(got.unprocessed);
    }
}

TEST_CASE("a head of the limit passes, and one that is larger is the agent's fault")
{
    constexpr std::size_t limit = 4096;
    constexpr std::size_t others = 7 + 3 + 32 + 1 + 32;  // :status, and the name and entry of the field
    for (const std::size_t size : {limit - 1, limit, limit + 1}) {
        CAPTURE(size);
        http2_agent agent{[&](const recorded_request&) {
            return h2::answer(200, "ok", {{"x", std::string(size - others, 'v')}});
        }};
        net::pool_settings settings;
        settings.head_limit = limit;
        rig r{settings};
        answer got;
        r.run(call_once(r, target_of(agent.url()), "", got));
        CHECK(got.failure == (size <= limit ? none : errc::upstream_protocol));
    }
}

TEST_CASE("a body that differs from its announced length is no answer")
{
    for (const auto* const length : {"2", "3", "4"}) {
        CAPTURE(length);
        const auto got = answer_to(h2::answer(200, "abc", {{"content-length", length}}));
        CHECK(got.failure == (std::string{length} == "3" ? none : errc::upstream_protocol));
    }
}

TEST_CASE("a stream that the agent resets is a reset, before the head and within the body")
{
    const auto before = answer_to({h2::reset{2}});
    CHECK(before.failure == errc::upstream_reset);
    CHECK_FALSE(before.unprocessed);
    const auto within = answer_to({h2::head{{{":status", "200"}}}, h2::data{"part"}, h2::reset{2}});
    CHECK(within.failure == errc::upstream_reset);
    CHECK(within.body == "part");
}

TEST_CASE("a connection that ends cuts the answer, and what has come stays")
{
    for (const h2::step& end : {h2::step{h2::close_now{}}, h2::step{h2::break_now{}}}) {
        const auto before = answer_to({end});
        CHECK(before.failure == errc::upstream_reset);
        CHECK_FALSE(before.unprocessed);
        const auto within = answer_to({h2::head{{{":status", "200"}}}, h2::data{"part"}, end});
        CHECK(within.failure == errc::upstream_reset);
    }
}

TEST_CASE("an agent that breaks the rules of the connection ends all its calls")
{
    using namespace std::string_literals;
    const std::string bad_data{"\0\0\1\0\0\0\0\0\0x", 10};  // DATA on stream 0
    const auto got = answer_to({h2::head{{{":status", "200"}}}, h2::raw{bad_data}});
    CHECK(got.failure == errc::upstream_protocol);
}

TEST_CASE("an agent that speaks HTTP/1.1 is told from one that speaks HTTP/2")
{
    http2_agent agent{echo, {.instead = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"}};
    rig r;
    answer got;
    r.run(call_once(r, target_of(agent.url()), "x", got));
    CHECK(got.failure == errc::upstream_protocol);
    CHECK(agent.requests().empty());
}

TEST_CASE("request and answer go beside each other")
{
    http2_agent agent{
        [](const recorded_request& so_far) {
            return so_far.body.empty() ? h2::script{h2::head{{{":status", "200"}}}} : h2::script{h2::data{so_far.body}};
        },
        {.answers_pieces = true}
    };
    rig r;
    r.run(talk_both_ways(r, agent));
}

TEST_CASE("a large body waits for the agent's credit, and so does whoever sends it")
{
    const std::string body(1'000'000, 'b');
    http2_agent agent{echo};
    rig r;
    answer got;
    r.run(call_once(r, target_of(agent.url()), body, got));
    CHECK(got.failure == none);
    CHECK(got.body == "<" + body + ">");
}

TEST_SUITE_END();
