// Callers behind proxies, over real sockets: what the agent is told, and what the access line says.
#include "tests/flow/relay_fixture.hpp"

using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::field_list;
using test_support::http_client;

TEST_SUITE_BEGIN("flow/forwarded");

namespace {

const field_list& chain()
{
    static const field_list some{
        {"X-Forwarded-For", "6.6.6.6, 203.0.113.1, 127.0.0.9"},
        {"X-Forwarded-Proto", "https"},
        {"X-Forwarded-Host", "agents.example.com"},
        {"Forwarded", "for=203.0.113.1;proto=https"},
        {"X_Forwarded_For", "6.6.6.6"},
        {"Cardea-Principal", "root"},
    };
    return some;
}

void check_never_passes(const test_support::recorded_request& seen)
{
    CHECK(seen.count("X_Forwarded_For") == 0);
    CHECK(seen.count("Cardea-Principal") == 0);
}

}  // namespace

TEST_CASE("from a trusted proxy the chain passes with our hop behind it, and the log names the caller")
{
    relayed x{test_support::answer_json("{}"), [](config::settings& s) {
                  s.trusted_proxies = {"127.0.0.0/8"};
                  s.agents[0].relay_paths = {"/up"};
              }};
    http_client caller{x.port()};
    caller.send(call_text(call_body(), chain()));
    CHECK(caller.read_response().status == 200);
    caller.send(test_support::request_text("PUT", "/agents/a/up", chain(), std::string(200'000, 'u')));
    CHECK(caller.read_response().status == 200);
    for (std::size_t i = 0; i < 2; ++i) {
        const auto seen = x.agent.request(i);
        CHECK(seen.count("X-Forwarded-For") == 1);
        CHECK(seen.header("X-Forwarded-For") == "6.6.6.6, 203.0.113.1, 127.0.0.9, 127.0.0.1");
        CHECK(seen.count("X-Forwarded-Proto") == 1);
        CHECK(seen.header("X-Forwarded-Proto") == "https");
        CHECK(seen.count("X-Forwarded-Host") == 1);
        CHECK(seen.header("X-Forwarded-Host") == "agents.example.com");
        CHECK(seen.count("Forwarded") == 1);
        CHECK(seen.header("Forwarded") == "for=203.0.113.1;proto=https, for=127.0.0.1;host=\"127.0.0.1\";proto=http");
        check_never_passes(seen);
    }
    for (const auto& line : flow::access_lines(x.gateway, 2)) {
        CHECK(line.find(R"("peer":"127.0.0.1","client":"203.0.113.1")") != std::string::npos);
    }
}

TEST_CASE("from anyone else nothing of a chain passes, and the gateway says what it knows")
{
    relayed x{test_support::answer_json("{}"), [](config::settings& s) { s.trusted_proxies = {"10.0.0.0/8"}; }};
    http_client caller{x.port()};
    caller.send(call_text(call_body(), chain()));
    CHECK(caller.read_response().status == 200);
    const auto seen = x.agent.request(0);
    CHECK(seen.header("X-Forwarded-For") == "127.0.0.1");
    CHECK(seen.header("X-Forwarded-Proto") == "http");
    CHECK(seen.header("X-Forwarded-Host") == "127.0.0.1");
    CHECK(seen.count("X-Forwarded-For") == 1);
    CHECK(seen.count("Forwarded") == 0);
    check_never_passes(seen);
    const auto lines = flow::access_lines(x.gateway, 1);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find(R"("client":)") == std::string::npos);
}

TEST_CASE("a trailer of a chunked body is no word of a proxy")
{
    relayed x{test_support::answer_json("{}"), [](config::settings& s) { s.trusted_proxies = {"127.0.0.1"}; }};
    auto coded = flow::chunked(call_body(), 1000);
    coded.resize(coded.size() - 2);
    coded += "X-Forwarded-For: 6.6.6.6\r\n\r\n";
    http_client caller{x.port()};
    caller.send(test_support::request_text(
        "POST",
        "/agents/a",
        {{"Content-Type", "application/json"}, {"Transfer-Encoding", "chunked"}},
        coded
    ));
    CHECK(caller.read_response().status == 200);
    CHECK(x.agent.request(0).header("X-Forwarded-For") == "127.0.0.1");
}

TEST_CASE("the line about a stream names the caller behind a proxy, whatever was received since")
{
    relayed x{test_support::event_stream(), [](config::settings& s) { s.trusted_proxies = {"127.0.0.1"}; }};
    http_client caller{x.port()};
    caller.send(call_text(call_body("1", "message/stream"), {{"X-Forwarded-For", "203.0.113.1"}}));
    CHECK(caller.read_head().status == 200);
    REQUIRE(x.agent.wait_for_streams(1));
    const auto other = call_text(call_body(), {{"X-Forwarded-For", "198.51.100.1"}});
    caller.send(other.substr(0, other.size() - 1));
    x.agent.send_event("one");
    caller.read_until("\n\n");
    x.agent.end_streams();
    caller.read_until("\r\n0\r\n\r\n");
    const auto lines = flow::access_lines(x.gateway, 1);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find(R"("client":"203.0.113.1")") != std::string::npos);
}

TEST_CASE("a request that cannot be read has no caller behind its proxy")
{
    const relayed x{test_support::answer_json("{}"), [](config::settings& s) { s.trusted_proxies = {"127.0.0.1"}; }};
    http_client caller{x.port()};
    caller.send("GET / HTTP/1.1\r\nX-Forwarded-For: 203.0.113.1\r\nbad line\r\n\r\n");
    CHECK(caller.read_response().status == 400);
    const auto lines = flow::access_lines(x.gateway, 1);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("203.0.113.1") == std::string::npos);
}

TEST_SUITE_END();
