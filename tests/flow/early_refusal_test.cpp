// Answers that come before all of a request has: the caller sees them, however much it still has to send.
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <optional>

using flow::relayed;
using test_support::http_client;
using test_support::request_text;

TEST_SUITE_BEGIN("flow/early_refusal");

namespace {

constexpr std::size_t upload = 5'000'000;  // more than sockets buffer

struct row {
    std::string request;  // without its body
    unsigned status;
};

std::string with_length(const char* line, const std::string& fields = {})
{
    return std::string{line} + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + fields +
           "Content-Length: " + std::to_string(upload) + "\r\n\r\n";
}

std::vector<row> rows()
{
    return {
        {with_length("POST /nowhere"), 404},
        {with_length("PUT /agents/a"), 405},
        {with_length("POST /agents/a"), 413},
        {with_length("POST /rpc"), 413},
        {request_text(
             "POST",
             "/agents/a",
             {{"Content-Type", "text/plain"}, {"Content-Length", std::to_string(upload)}}
         ),
         415},
        {with_length("POST /agents/a/../b"), 400},
        {with_length("POST /agents/a", "Expect: much\r\n"), 417},
        {"POST /agents/a HTTP/1.1\r\nHost: evil.example\r\nContent-Length: " + std::to_string(upload) + "\r\n\r\n", 421
        },
        {with_length("POST /agents/a", "X-Long: " + std::string(20'000, 'x') + "\r\n"), 431},
        {with_length("BREW /agents/a"), 501},
        {"POST /agents/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Transfer-Encoding: chunked\r\n\r\nA00000\r\n",
         413},
    };
}

}  // namespace

TEST_CASE("a caller that is refused while it sends 5 MB can send all of it, and sees the refusal")
{
    test_support::test_ca ca;
    const auto shown = ca.issue({"localhost"});
    const std::string body(upload, 'b');
    for (const bool tls : {false, true}) {
        const relayed x{test_support::answer_json("{}"), [&](config::settings& s) {
                            s.limits.body = 1024 * 1024;
                            if (tls) {
                                s.tls = {{shown.cert_file, shown.key_file, {}}};
                            }
                        }};
        for (const auto& each : rows()) {
            CAPTURE(tls);
            CAPTURE(each.status);
            auto caller = tls ? http_client{x.port(), test_support::tls_caller{ca.ca_file(), "localhost"}}
                              : http_client{x.port()};
            caller.send(each.request);
            caller.send(body);
            const auto got = caller.read_response();
            CHECK(got.status == each.status);
            if (!test_support::over_http2()) {
                CHECK(got.header("Connection") == "close");
                CHECK(caller.closed_by_peer());
            }
        }
        CHECK(x.agent.request_count() == 0);
        CHECK(x.gateway.wait_for_metric("cardea_connections_open", 0));
    }
}

TEST_CASE("a refused caller that sends nothing more is let go when the time is up")
{
    const relayed x{test_support::answer_json("{}"), [](config::settings& s) {
                        s.timeouts.linger = std::chrono::hours{1};
                    }};
    http_client caller{x.port()};
    caller.send(with_length("POST /nowhere"));
    CHECK(caller.read_response().status == 404);
    CHECK(x.gateway.wait_for_metric("cardea_connections_open", 0));
}

TEST_SUITE_END();
