// Calls of callers over HTTP/2 to an agent over HTTP/1.1: what passes, and that a fault of one ends no other.
#include "net/upstream/via.hpp"
#include "tests/flow/http2_caller.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("flow/http2_calls");

namespace {

using namespace std::chrono_literals;
namespace raw = test_support::http2;
using flow::http2_call;
using flow::http2_caller;
using flow::relayed;
using test_support::answer_json;

}  // namespace

TEST_CASE("A call over HTTP/2 reaches its agent as one of HTTP/1.1, and the access line has the version")
{
    relayed call{[](const auto&) { return answer_json(R"({"jsonrpc":"2.0","id":1,"result":{}})"); }};
    http2_caller caller{call.port()};
    caller.send(http2_call(1, flow::call_body(), {{"cookie", "a=1"}, {"x-name", "value"}, {"te", "trailers"}}));
    REQUIRE(caller.answered(1));
    CHECK(caller.field(1, ":status") == "200");
    CHECK(caller.field(1, "content-type") == "application/json");
    CHECK(caller.field(1, "connection").empty());
    CHECK(caller.field(1, "transfer-encoding").empty());
    CHECK(caller.body(1) == R"({"jsonrpc":"2.0","id":1,"result":{}})");
    const auto request = call.agent.request(0);
    CHECK(request.method == "POST");
    CHECK(request.body == flow::call_body());
    CHECK(request.header("x-name") == "value");
    CHECK(request.header("te").empty());
    CHECK(request.header("Via") == "2.0 " + std::string{net::own_pseudonym()});
    CHECK(call.gateway.log().wait_for([](auto line) {
        return line.find(R"("event":"request")") != line.npos && line.find(R"("http":"2")") != line.npos;
    }));
    CHECK(call.gateway.wait_for_metric("cardea_http2_connections{side=\"caller\"}", 1));
    CHECK(call.gateway.wait_for_metric("cardea_http2_streams{side=\"caller\"}", 0));
}

TEST_CASE("Calls of one connection wait for no other")
{
    relayed call{[](const test_support::recorded_request& request) {
        return request.body.find("slow") != std::string::npos ? test_support::silence() : answer_json("{}");
    }};
    http2_caller caller{call.port()};
    caller.send(http2_call(1, flow::call_body("\"slow\"")));
    REQUIRE(call.agent.wait_for_requests(1));
    for (std::uint32_t stream = 3; stream < 100; stream += 2) {
        caller.send(http2_call(stream, flow::call_body()));
        REQUIRE(caller.answered(stream));
    }
}

TEST_CASE("A caller's reset ends the agent's exchange within 100 ms")
{
    relayed call{[](const auto&) { return test_support::silence(); }};
    http2_caller caller{call.port()};
    std::uint32_t stream = 1;
    std::size_t calls = 0;
    CHECK(flow::once_within(100ms, [&] {
        caller.send(http2_call(stream, flow::call_body()));
        REQUIRE(call.agent.wait_for_requests(++calls));
        caller.send(raw::reset_frame(stream));
        REQUIRE(call.agent.wait_until_peer_closed(test_support::patience, calls));
        stream += 2;
    }));
    CHECK(call.gateway.wait_for_metric("cardea_http2_streams{side=\"caller\"}", 0));
    caller.send(raw::ping_frame());
    CHECK(caller.until([](const auto& each) { return each.type == raw::ping; }));
}

TEST_CASE("An agent that breaks off leaves an answer that is reset, and its caller's other streams")
{
    relayed call{[](const test_support::recorded_request& request) {
        return request.body.find("half") != std::string::npos ? test_support::half_body() : answer_json("{}");
    }};
    http2_caller caller{call.port()};
    caller.send(http2_call(1, flow::call_body("\"half\"")) + http2_call(3, flow::call_body()));
    CHECK(caller.answered(3));
    http2_caller other{call.port()};
    other.send(http2_call(1, flow::call_body("\"half\"")));
    CHECK(other.was_reset(1, 2));
}

TEST_CASE("The other listeners speak HTTP/2 too, unless it is switched off")
{
    relayed call{[](const auto&) { return answer_json("{}"); }};
    http2_caller admin{call.gateway.admin_port()};
    admin.send(raw::headers_frame(1, flow::http2_fields("GET", "/healthz")));
    REQUIRE(admin.answered(1));
    CHECK(admin.body(1) == "alive\n");
    relayed off{
        [](const auto&) { return answer_json("{}"); },
        [](config::settings& settings) { settings.http2 = false; }
    };
    http2_caller refused{off.port()};
    CHECK(refused.goaway() == -1);
}

TEST_CASE("A name outside hosts is 421 on its stream alone")
{
    relayed call{
        [](const auto&) { return answer_json("{}"); },
        [](config::settings& settings) { settings.hosts = {"127.0.0.1"}; }
    };
    http2_caller caller{call.port()};
    auto other = flow::http2_fields("GET", "/agents/a");
    other[2].second = "b.test";
    caller.send(raw::headers_frame(1, other));
    REQUIRE(caller.answered(1));
    CHECK(caller.field(1, ":status") == "421");
    caller.send(http2_call(3, flow::call_body()));
    REQUIRE(caller.answered(3));
    CHECK(caller.field(3, ":status") == "200");
}

TEST_CASE(
    "A name outside the connection's certificate is 421 on its stream, but for the name that was asked for and for "
    "proxies"
)
{
    test_support::test_ca ca;
    const auto both_names = [&](config::settings& settings) {
        for (const auto& each : {ca.issue({"127.0.0.1", "a.test"}), ca.issue({"b.test", "*.c.test"})}) {
            settings.tls.push_back({each.cert_file, each.key_file, {}});
        }
        settings.hosts = {"*"};
    };
    const auto statuses = [&](const relayed& call, const std::string& asked, std::vector<std::string> names) {
        http2_caller caller{call.port(), {.ca_file = ca.ca_file(), .name = asked}};
        std::string out;
        std::uint32_t stream = 1;
        for (const auto& name : names) {
            auto fields = flow::http2_fields("POST", "/agents/a", {{"content-type", "application/json"}});
            fields[1].second = "https";
            fields[2].second = name;
            caller.send(raw::headers_frame(stream, fields, raw::end_headers));
            caller.send(raw::frame(raw::data, raw::end_stream, stream, flow::call_body()));
            REQUIRE(caller.answered(stream));
            out += (out.empty() ? "" : " ") + caller.field(stream, ":status");
            stream += 2;
        }
        return out;
    };
    relayed call{[](const auto&) { return answer_json("{}"); }, both_names};
    CHECK(
        statuses(call, "b.test", {"b.test", "a.test", "x.c.test:443", "x.y.c.test", "B.test"}) == "200 421 200 421 200"
    );
    CHECK(statuses(call, "127.0.0.1", {"127.0.0.1", "a.test", "b.test", "127.0.0.2"}) == "200 200 421 200");
    CHECK(call.agent.request_count() == 6);
    relayed behind{
        [](const auto&) { return answer_json("{}"); },
        [&](config::settings& settings) {
            both_names(settings);
            settings.trusted_proxies = {"127.0.0.1"};
        }
    };
    CHECK(statuses(behind, "b.test", {"a.test", "any.test"}) == "200 200");
}

TEST_CASE("Heads that an intermediary must refuse get their exact answer, and the agent no byte")
{
    relayed call{[](const auto&) { return answer_json("{}"); }};
    http2_caller caller{call.port()};
    struct row {
        std::string method = "POST";
        std::string path = "/agents/a";
        std::string authority = "127.0.0.1";
        raw::field_lines more{};
        std::string status;  // empty: reset
    };
    const row rows[] = {
        {.path = "/agents/a<", .status = "400"},
        {.path = "/agents/a\"", .status = "400"},
        {.path = "/agents/a\\", .status = "400"},
        {.path = "/agents/a^", .status = "400"},
        {.path = "/agents/a\xff", .status = "400"},
        {.path = "/agents/%zz", .status = "400"},
        {.authority = "user@127.0.0.1", .status = "400"},
        {.authority = "127.0.0.1:x", .status = "400"},
        {.more = {{"host", "b.test"}}, .status = "400"},
        {.more = {{"content-type", "text/plain"}, {"content-type", "application/json"}}, .status = "400"},
        {.more = {{"authorization", "a"}, {"authorization", "b"}}, .status = "400"},
        {.method = "CONNECT", .status = ""},
        {.method = "PROPFIND", .status = "501"},
        {.method = "post", .status = "501"},
        {.more = {{"expect", "200-ok"}, {"content-length", "1"}}, .status = "417"},
        {.more = {{"connection", "close"}}, .status = ""},
        {.more = {{"transfer-encoding", "chunked"}}, .status = ""},
        {.more = {{"te", "gzip"}}, .status = ""},
    };
    std::uint32_t stream = 1;
    for (const auto& row : rows) {
        CAPTURE(row.path);
        CAPTURE(row.method);
        raw::field_lines fields{
            {":method", row.method},
            {":scheme", "http"},
            {":authority", row.authority},
            {":path", row.path}
        };
        fields.insert(fields.end(), row.more.begin(), row.more.end());
        caller.send(raw::headers_frame(stream, fields, raw::end_headers | (row.status == "417" ? 0 : raw::end_stream)));
        if (row.status.empty()) {
            CHECK(caller.was_reset(stream, 1));
        } else {
            CHECK(caller.answered(stream));
            CHECK(caller.field(stream, ":status") == row.status);
        }
        stream += 2;
    }
    caller.send(raw::headers_frame(stream, {{":method", "CONNECT"}, {":authority", "127.0.0.1:1"}}));
    REQUIRE(caller.answered(stream));
    CHECK(caller.field(stream, ":status") == "501");
    CHECK(call.agent.request_count() == 0);
    caller.send(http2_call(stream + 2, flow::call_body()));
    CHECK(caller.answered(stream + 2));
}

TEST_SUITE_END();
