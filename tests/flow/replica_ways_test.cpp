// The way from one replica to another: who is known there, over TLS, behind proxies, and what each of the two looks after.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/contained_fixture.hpp"
#include "tests/flow/mcp_shared_fixture.hpp"
#include "tests/flow/replicas_fixture.hpp"
#include "tests/support/listening_socket.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/replica ways");

using namespace flow;
using namespace flow::mcp_programs;
using flow::replicas::three_replicas;
using test_support::certificate_spec;
using test_support::test_ca;
using test_support::tls_caller;

namespace {

// OpenSSL reads the name of the system's authorities when a context is made.
class trusted_authority {
public:
    explicit trusted_authority(const test_ca& authority) { ::setenv("SSL_CERT_FILE", authority.ca_file().c_str(), 1); }
    ~trusted_authority() { ::unsetenv("SSL_CERT_FILE"); }
    trusted_authority(const trusted_authority&) = delete;
    trusted_authority& operator=(const trusted_authority&) = delete;
};

// Over TLS, to the name that callers use.
http_response post_securely(
    three_replicas& x,
    std::size_t at,
    const tls_caller& how,
    field_list fields,
    std::string_view body = call_of("one")
)
{
    http_client caller{x[at].port(), how};
    fields.emplace_back("Host", "gateway.test");
    caller.send(program_gateway::text("POST", fields, body));
    return caller.read_response();
}

field_list session_of(const http_response& begun)
{
    REQUIRE(begun.status == 200);
    return {{"Mcp-Session-Id", begun.header("Mcp-Session-Id")}, {"MCP-Protocol-Version", "2025-11-25"}};
}

bool has_line(const running_gateway& gateway, std::string_view first, std::string_view second)
{
    return gateway.log()
        .wait_for([&](std::string_view line) { return line.find(first) != line.npos && line.find(second) != line.npos; }
        )
        .has_value();
}

}  // namespace

TEST_CASE("A replica over https has to show a certificate for the host of public_url, whatever its own address is")
{
    test_ca servers{"cardea test servers"};
    const trusted_authority trusted{servers};
    const auto shown = servers.issue({"gateway.test"});
    for (const std::string_view host : {"gateway.test", "other.test"}) {
        CAPTURE(host);
        three_replicas x{
            [&](config::settings& all) {
                all.tls = {{shown.cert_file, shown.key_file, {}}};
                all.public_url = "https://" + std::string{host};
                all.hosts = {"*"};
            },
            2
        };
        const tls_caller how{.ca_file = servers.ca_file(), .name = "gateway.test"};
        const auto session = session_of(post_securely(x, 0, how, {}, initialize_body));
        const auto got = post_securely(x, 1, how, session);
        if (host == "gateway.test") {
            CHECK(got.body == done_of("1"));
            CHECK(x.forwarded(1, "answered", 1));
        } else {
            check_error(got, 404, -32001, "session_not_found");
            CHECK(x.forwarded(1, "unreachable", 1));
            CHECK(has_line(x[1], R"("code":"session_not_found")", R"("detail":"replica r0: )"));
        }
    }
}

TEST_CASE("A caller that is known by its certificate is not forwarded, one that shows a token too is")
{
    test_ca servers{"cardea test servers"};
    test_ca clients{"cardea test clients"};
    const trusted_authority trusted{servers};
    const auto shown = servers.issue({"gateway.test"});
    three_replicas x{
        [&](config::settings& all) {
            all.tls = {{shown.cert_file, shown.key_file, {}}};
            all.public_url = "https://gateway.test";
            all.access.providers = {
                token("ops", "token-of-operations-1", {}),
                {"certs", core::mtls_provider{.ca_file = clients.ca_file(), .principal = core::certificate_name::san}},
            };
            all.agents[0].discover = everybody_known;
            all.agents[0].call = everybody_known;
        },
        2
    };
    const auto alice = clients.issue(certificate_spec{.names = {"alice"}, .extended_use = "clientAuth"});
    tls_caller how{.ca_file = servers.ca_file(), .name = "gateway.test"};
    how.cert_file = alice.cert_file;
    how.key_file = alice.key_file;
    const auto own = session_of(post_securely(x, 0, how, {}, initialize_body));
    CHECK(post_securely(x, 0, how, own).status == 200);
    check_error(post_securely(x, 1, how, own), 404, -32001, "session_not_found");
    CHECK(x.forwarded(1, "certificate", 1));
    const auto ops = bearer("token-of-operations-1");
    auto session = session_of(post_securely(x, 0, how, ops, initialize_body));
    session.insert(session.begin(), ops.begin(), ops.end());
    CHECK(post_securely(x, 1, how, session).status == 200);
    CHECK(x.forwarded(1, "answered", 1));
}

TEST_CASE("The other replica knows the caller's address if it trusts this one as a proxy, and else this one's")
{
    for (const bool trusts : {true, false}) {
        CAPTURE(trusts);
        three_replicas x{
            [&](config::settings& all) {
                if (trusts || all.replica.name == "r1") {
                    all.trusted_proxies = {"127.0.0.1"};
                }
            },
            2
        };
        auto session = x.begin(0);
        session.emplace_back("X-Forwarded-For", "203.0.113.7");
        CHECK(x.post(1, session, call_of("one")).status == 200);
        CHECK(has_line(x[1], R"("client":"203.0.113.7")", R"("forwarded":"r0")"));
        if (trusts) {
            CHECK(has_line(x[0], R"("client":"203.0.113.7")", R"("rpc":"tools/call")"));
        } else {
            CHECK(has_line(x[0], R"("peer":"127.0.0.1")", R"("rpc":"tools/call")"));
            for (const auto& line : x[0].log().all()) {
                CHECK(line.find("203.0.113.7") == std::string::npos);
            }
        }
    }
}

TEST_CASE("A stranger says nothing of its address through a replica that the other one trusts")
{
    three_replicas x{
        [&](config::settings& all) {
            if (all.replica.name == "r0") {
                all.trusted_proxies = {"127.0.0.1"};
            }
        },
        2
    };
    auto session = x.begin(0);
    session.emplace_back("X-Forwarded-For", "203.0.113.7");
    session.emplace_back("Forwarded", "for=203.0.113.7");
    session.emplace_back("X-Original-URL", "/agents/other");
    CHECK(x.post(1, session, call_of("one")).status == 200);
    CHECK(has_line(x[0], R"("client":"127.0.0.1")", R"("rpc":"tools/call")"));
}

TEST_CASE("A replica that contains the agent or the caller forwards nothing, and ends what it forwards")
{
    three_replicas x{{}, 2};
    const auto session = x.begin(0);
    auto listens = x.open(1, "GET", session);
    CHECK(listens.read_head().status == 200);
    auto calls = x.open(1, "POST", session, call_of("hang", "9"));
    CHECK(calls.read_head().header("Content-Type") == "text/event-stream");
    contain(x[1], "a");
    check_contained(x.post(1, session, call_of("one")), contained_rpc("1", "agent_contained"));
    CHECK(listens.read_until("\r\n0\r\n\r\n").find(": contained") != std::string::npos);
    CHECK(calls.read_until("\r\n0\r\n\r\n").find(contained_rpc("9", "agent_contained")) != std::string::npos);
    CHECK(x.got("hang").find("\"one\"") == std::string::npos);
    CHECK(x.post(0, session, call_of("one")).status == 200);
    release(x[1], "a");
    CHECK(x.post(1, session, call_of("one")).status == 200);
}

TEST_CASE("A shared session is its replica's, and is reached through every one")
{
    three_replicas x{mcp_shared::make_shared};
    for (const auto at : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        CHECK(program_gateway::becomes_true([&] { return x.post(at, {}, initialize_body).status == 200; }));
    }
    const auto session = x.begin(0);
    for (const auto at : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        const auto got = x.post(
            at,
            session,
            R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"one","arguments":{"mark":"m3"}}})"
        );
        CHECK(got.body.find(R"("text":"m3")") != std::string::npos);
    }
    CHECK(x.forwarded(1, "answered", 1));
    CHECK(x.forwarded(2, "answered", 1));
}

TEST_CASE(
    "A session over HTTP goes on at every replica by itself, and through its own if the server's id fits into no other"
)
{
    for (const std::size_t length : {std::size_t{200}, std::size_t{201}}) {
        CAPTURE(length);
        test_support::scripted_agent server{[&](const test_support::recorded_request& asked) {
            const auto begins = asked.body.find("\"initialize\"") != std::string::npos;
            const auto result =
                begins ? R"({"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}})"
                       : "{}";
            return test_support::answer_json(
                R"({"jsonrpc":"2.0","id":)" + std::string{begins ? "0" : "1"} + R"(,"result":)" + result + "}",
                begins ? field_list{{"Mcp-Session-Id", std::string(length, 's')}} : field_list{}
            );
        }};
        three_replicas x{
            [&](config::settings& all) {
                all.agents[0].url = server.url("/mcp");
                auto& how = all.agents[0].mcp.emplace();
                how.transport = core::mcp_transport::streamable_http;
                how.era = core::mcp_era::legacy;
                how.start = core::mcp_start::lazy;
            },
            2
        };
        const auto session = x.begin(0);
        CHECK(x.post(1, session, call_of("one")).status == 200);
        CHECK(x[1].metric("cardea_forwarded_total{outcome=\"answered\"}").value_or(0) == (length > 200 ? 1 : 0));
        const auto last = server.request(server.request_count() - 1);
        CHECK(last.header("Mcp-Session-Id") == std::string(length, 's'));
        CHECK(last.count("Cardea-Forwarded") == 0);
    }
}

TEST_CASE("A long message reaches the other replica as its caller sent it")
{
    three_replicas x{{}, 2};
    const auto session = x.begin(0);
    const auto body = R"({ "jsonrpc":"2.0", "id":4, "method":"tools/call","params":{"name":"one","arguments":{"n":")" +
                      std::string(300'000, 'n') + "\"}}}";
    CHECK(x.post(1, session, body).body == done_of("4"));
    CHECK(x.forwarded(1, "answered", 1));
    CHECK(x.got(std::string(300'000, 'n')).find(R"("id":4)") != std::string::npos);
}

TEST_CASE(
    "A session id is none of the fields that end at a hop, and a head with too many fields says where it came from"
)
{
    three_replicas x{{}, 2};
    auto session = x.begin(0);
    session.emplace_back("Connection", "Mcp-Session-Id");
    CHECK(x.post(1, session, call_of("one")).status == 200);
    CHECK(x.got("tools/call").find("tools/call") != std::string::npos);
    CHECK(x.programs() == 1);
    session.resize(session.size() + 100 - 8 - 2, {"X-A", "b"});
    CHECK(x.post(1, session, call_of("one")).status == 200);
    session.resize(session.size() + 3, {"X-A", "b"});
    CHECK(x.post(1, session, call_of("one")).status == 431);  // directly too, with one more
    CHECK(x.forwarded(1, "answered", 3));
}

TEST_CASE("A replica that is frozen while nobody can tell has 15 s for what is answered soon")
{
    three_replicas x{{}, 2};
    const auto session = x.begin(0);
    const test_support::listening_socket frozen;  // connections wait there
    const auto address = "http://127.0.0.1:" + std::to_string(frozen.port());
    x.list().reach(x.id(0), address);
    CHECK(program_gateway::becomes_true([&] {
        return manage(x[1], "replicas/list", core::json::object()).dump().find(address) != std::string::npos;
    }));
    const auto begun = std::chrono::steady_clock::now();
    http_client caller{x[1].port(), std::chrono::seconds{20}};
    caller.send(program_gateway::text("POST", session, call_of("one")));
    const auto failed = caller.read_response();
    const auto took = std::chrono::steady_clock::now() - begun;
    CHECK(failed.header("Cardea-Error") == "upstream_timeout");
    CHECK(took > std::chrono::seconds{14});
    CHECK(took < std::chrono::seconds{18});
}

TEST_SUITE_END();
