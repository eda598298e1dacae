#include "tests/flow/relay_fixture.hpp"
#include "tests/support/test_ca.hpp"

using namespace std::chrono_literals;
using flow::call;
using flow::call_body;
using flow::relayed;

TEST_SUITE_BEGIN("flow/relay");

namespace {

test_support::agent_options with(const test_support::certificate& which)
{
    return {.cert_file = which.cert_file, .key_file = which.key_file};
}

void use_localhost(core::agent& agent)
{
    agent.url.replace(agent.url.find("127.0.0.1"), std::string_view{"127.0.0.1"}.size(), "localhost");
}

}  // namespace

TEST_CASE("an agent over TLS is called when its certificate is good, by address and by name")
{
    test_support::test_ca ca;
    for (const bool by_name : {false, true}) {
        CAPTURE(by_name);
        relayed x{
            test_support::answer_json("{\"tls\":1}"),
            [&](config::settings& s) {
                s.agents[0].ca_file = ca.ca_file();
                if (by_name) {
                    use_localhost(s.agents[0]);
                }
            },
            with(ca.issue({by_name ? "localhost" : "127.0.0.1"}))
        };
        for (int i = 0; i < 2; ++i) {
            const auto got = call(x.port(), call_body());
            CHECK(got.status == 200);
            CHECK(got.body == "{\"tls\":1}");
        }
        REQUIRE(x.agent.request_count() == 2);
        CHECK(
            x.agent.request(0).header("Host") ==
            (by_name ? "localhost:" : "127.0.0.1:") + std::to_string(x.agent.port())
        );
        CHECK(x.agent.accepted_connections() == 1);
    }
}

TEST_CASE("large bodies pass over TLS both ways unchanged")
{
    test_support::test_ca ca;
    constexpr std::size_t size = 3 * 1024 * 1024;
    for (const bool chunked : {false, true}) {
        relayed x{
            test_support::huge(size, chunked),
            [&](config::settings& s) {
                s.agents[0].ca_file = ca.ca_file();
                s.limits.body = 2 * 1024 * 1024;
            },
            with(ca.issue({"127.0.0.1"}))
        };
        const auto body = call_body('"' + std::string(1'500'000, 'b') + '"');
        const auto got = call(x.port(), body);
        CHECK(got.status == 200);
        CHECK((got.body == flow::pattern_text(size)));
        REQUIRE(x.agent.request_count() == 1);
        CHECK((x.agent.request(0).body == body));
    }
}

TEST_CASE("an agent that does not speak TLS where it should fails as TLS")
{
    const relayed closing{
        test_support::answer_json("{}"),
        [](config::settings& s) { s.agents[0].url.replace(0, 4, "https"); },
        {.accepts = test_support::on_accept::close}
    };
    flow::check_jsonrpc_error(call(closing.port(), call_body()), flow::tls_failed, "1");
    const relayed plain{test_support::answer_json("{}"), [](config::settings& s) {
                            s.agents[0].url.replace(0, 4, "https");
                        }};
    flow::check_jsonrpc_error(call(plain.port(), call_body()), flow::tls_failed, "1");
    CHECK(plain.agent.request_count() == 0);
}

TEST_CASE("a handshake that does not end is ended by the connect timeout")
{
    relayed x{
        test_support::answer_json("{}"),
        [](config::settings& s) {
            s.agents[0].url.replace(0, 4, "https");
            s.timeouts.connect = 100ms;
            s.timeouts.upstream_head = 1h;
        },
        {.accepts = test_support::on_accept::silence}
    };
    flow::check_jsonrpc_error(call(x.port(), call_body()), flow::late, "1");
    CHECK(x.agent.wait_until_peer_closed());
}

TEST_CASE("a caller that leaves during the handshake ends it")
{
    relayed x{
        test_support::answer_json("{}"),
        [](config::settings& s) {
            s.agents[0].url.replace(0, 4, "https");
            s.timeouts.connect = 1h;
        },
        {.accepts = test_support::on_accept::silence}
    };
    test_support::http_client caller{x.port()};
    caller.send(flow::call_text(call_body()));
    REQUIRE(x.agent.wait_for_connections(1));
    caller.reset();
    CHECK(x.agent.wait_until_peer_closed());
}

TEST_CASE("over TLS an end without close_notify is no end of a body")
{
    test_support::test_ca ca;
    const std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
    const auto trust = [&](config::settings& s) { s.agents[0].ca_file = ca.ca_file(); };
    SUBCASE("with close_notify the body is whole")
    {
        const relayed x{
            test_support::script{test_support::bytes{head + "whole"}, test_support::close_now{}},
            trust,
            with(ca.issue({"127.0.0.1"}))
        };
        const auto got = call(x.port(), call_body());
        CHECK(got.status == 200);
        CHECK(got.body == "whole");
    }
    SUBCASE("without it, or with a reset, it is cut")
    {
        for (const test_support::step& end :
             {test_support::step{test_support::close_now{.silently = true}},
              test_support::step{test_support::reset_now{}}}) {
            test_support::gate go;
            relayed x{
                test_support::script{test_support::bytes{head + "part"}, test_support::pass_gate{go.shared()}, end},
                trust,
                with(ca.issue({"127.0.0.1"}))
            };
            test_support::http_client caller{x.port()};
            caller.send(flow::call_text(call_body()));
            CHECK(caller.read_head().status == 200);
            go.release();
            CHECK(caller.read_until_closed() == "4\r\npart\r\n");
        }
    }
}

TEST_SUITE_END();
