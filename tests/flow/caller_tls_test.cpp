// Callers over TLS: who is served, with which certificate, and what befalls those that do not keep to the protocol.
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <atomic>
#include <filesystem>
#include <thread>

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::answer_json;
using test_support::certificate_spec;
using test_support::http_client;
using test_support::test_ca;
using test_support::tls_caller;

TEST_SUITE_BEGIN("flow/caller_tls");

namespace {

config::certificate_files files_of(const test_support::certificate& which)
{
    return {which.cert_file, which.key_file, {}};
}

relayed::adjustment over_tls(test_ca& ca, const relayed::adjustment& further = {})
{
    const auto files = files_of(ca.issue({"127.0.0.1", "localhost"}));
    return [files, further](config::settings& s) {
        s.tls = {files};
        if (further) {
            further(s);
        }
    };
}

double handshakes(const relayed& x, std::string_view outcome)
{
    return x.gateway.metric("cardea_tls_handshakes_total{outcome=\"" + std::string(outcome) + "\"}").value_or(0);
}

std::string shown_name(const http_client& caller)
{
    char name[128] = {};
    auto* const subject = X509_get_subject_name(SSL_get0_peer_certificate(caller.tls()));
    X509_NAME_get_text_by_NID(subject, NID_commonName, name, sizeof name);
    return name;
}

test_support::http_response call(http_client& caller, std::string_view body = call_body())
{
    caller.send(call_text(body));
    return caller.read_response();
}

constexpr std::string_view half_hello{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11};

}  // namespace

TEST_CASE("callers are served over TLS 1.2 and 1.3, on a connection that is kept")
{
    test_ca ca;
    const relayed x{answer_json(R"({"name":"Card or answer"})"), over_tls(ca)};
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        http_client caller{x.port(), tls_caller{ca.ca_file(), "localhost", version}};
        CHECK(SSL_version(caller.tls()) == version);
        for (int i = 0; i < 3; ++i) {
            const auto got = call(caller);
            CHECK(got.status == 200);
            CHECK(got.body == R"({"name":"Card or answer"})");
        }
        caller.send(test_support::request_text("GET", "/agents/a/.well-known/agent-card.json"));
        const auto card = caller.read_response();
        CHECK(card.status == 200);
        CHECK(card.body.find("https://127.0.0.1:" + std::to_string(x.port()) + "/agents/a\"") != std::string::npos);
        caller.send(call_text(call_body(), {{"Connection", "close"}}));
        CHECK(caller.read_response().status == 200);
        CHECK(caller.closed_by_peer());
        CHECK(caller.ended_in_order());
    }
    CHECK(handshakes(x, "complete") == 2);
    CHECK(handshakes(x, "failed") == 0);
}

TEST_CASE("large bodies pass both ways unchanged, also to a caller that reads late")
{
    test_ca ca;
    constexpr std::size_t size = 8 * 1024 * 1024;
    const relayed x{test_support::huge(size, true), over_tls(ca, [](config::settings& s) {
                        s.limits.body = 4 * 1024 * 1024;
                    })};
    http_client caller{x.port(), tls_caller{ca.ca_file()}, 10s};
    const auto body = call_body('"' + std::string(3'000'000, 'b') + '"');
    for (int i = 0; i < 2; ++i) {
        caller.send(call_text(body));
        const auto head = caller.read_head();
        CHECK(head.status == 200);
        const auto got = caller.read_until("\r\n0\r\n\r\n");
        CHECK(got.size() > size);
        CHECK((x.agent.request(static_cast<std::size_t>(i)).body == body));
    }
    CHECK((call(caller, body).body == flow::pattern_text(size)));
}

TEST_CASE("events come when they come, and a stream that is cut does not end in order")
{
    test_ca ca;
    relayed x{test_support::event_stream(), over_tls(ca)};
    http_client caller{x.port(), tls_caller{ca.ca_file()}};
    caller.send(call_text(call_body("1", "message/stream"), {{"Accept", "text/event-stream"}}));
    CHECK(caller.read_head().status == 200);
    REQUIRE(x.agent.wait_for_streams(1));
    for (const auto* const text : {"one", "two"}) {
        x.agent.send_event(text);
        CHECK(caller.read_until("\n\n\r\n").find("data: " + std::string{text}) != std::string::npos);
    }
    x.agent.cut_streams();
    CHECK(caller.read_until_closed().find("0\r\n\r\n") == std::string::npos);
    CHECK_FALSE(caller.ended_in_order());
}

TEST_CASE("requests in one record, and one request in records of one byte, are read as any other")
{
    test_ca ca;
    const relayed x{answer_json("{}"), over_tls(ca)};
    http_client caller{x.port(), tls_caller{ca.ca_file()}};
    const auto text = call_text(call_body());
    caller.send(text + text + text);
    for (int i = 0; i < 3; ++i) {
        CHECK(caller.read_response().status == 200);
    }
    for (const char& byte : text) {
        caller.send({&byte, 1});
    }
    CHECK(caller.read_response().status == 200);
    CHECK(x.agent.request_count() == 4);
    CHECK(x.agent.request(3).body == call_body());
}

TEST_CASE("a caller that is silent before or within its handshake is let go")
{
    test_ca ca;
    const relayed x{answer_json("{}"), over_tls(ca, [](config::settings& s) {
                        s.timeouts.handshake = 200ms;
                        s.timeouts.header = 1h;
                        s.log_level = core::log_level::debug;
                    })};
    for (const auto said : {std::string_view{}, half_hello}) {
        http_client caller{x.port()};
        caller.send(said);
        CHECK(caller.read_until_closed().empty());
    }
    CHECK(x.gateway.wait_for_metric(R"(cardea_tls_handshakes_total{outcome="failed"})", 2));
    const auto line =
        x.gateway.log().wait_for([](auto each) { return each.find("handshake_failed") != std::string_view::npos; });
    CHECK(
        line.value_or("").find(R"("listener":"traffic","peer":"127.0.0.1","reason":"took too long")") !=
        std::string::npos
    );
}

TEST_CASE("after the handshake, the time for the head begins again")
{
    test_ca ca;
    const relayed x{answer_json("{}"), over_tls(ca, [](config::settings& s) { s.timeouts.header = 200ms; })};
    http_client silent{x.port(), tls_caller{ca.ca_file()}};
    CHECK(silent.read_until_closed().empty());
    CHECK(silent.ended_in_order());
    http_client slow{x.port(), tls_caller{ca.ca_file()}};
    slow.send("POST /agents/a HTTP/1.1\r\nHost:");
    CHECK(slow.read_response().status == 408);
    CHECK(slow.closed_by_peer());
}

TEST_CASE("plain HTTP on the TLS port gets no answer in plain HTTP, and TLS on the plain port gets 400")
{
    test_ca ca;
    const relayed secure{answer_json("{}"), over_tls(ca)};
    http_client plain{secure.port()};
    plain.send(call_text(call_body()));
    CHECK(plain.read_until_closed().find("HTTP/") == std::string::npos);
    CHECK(secure.agent.accepted_connections() == 0);
    CHECK(handshakes(secure, "failed") == 1);

    const relayed open{answer_json("{}")};
    http_client hello{open.port()};
    hello.send(half_hello);
    CHECK(hello.read_response().status == 400);
    CHECK(hello.closed_by_peer());
    CHECK_THROWS_WITH(
        http_client(open.port(), tls_caller{ca.ca_file()}),
        "http_client: handshake: wrong version number"
    );
}

TEST_CASE("a caller with outdated TLS, or with other protocols only, is refused")
{
    test_ca ca;
    const relayed x{answer_json("{}"), over_tls(ca)};
    CHECK_THROWS_WITH(
        http_client(x.port(), tls_caller{ca.ca_file(), "localhost", TLS1_1_VERSION}),
        "http_client: handshake: tlsv1 alert protocol version"
    );
    CHECK_THROWS_WITH(
        http_client(
            x.port(),
            tls_caller{
                .ca_file = ca.ca_file(),
                .protocols = "\x03"
                             "h2c"
            }
        ),
        "http_client: handshake: tlsv1 alert no application protocol"
    );
    CHECK(handshakes(x, "failed") == 2);
}

TEST_CASE("a caller that asks to renegotiate is refused, and its connection is as good as before")
{
    test_ca ca;
    const relayed x{answer_json("{}"), over_tls(ca)};
    http_client caller{x.port(), tls_caller{ca.ca_file(), "localhost", TLS1_2_VERSION}};
    CHECK(call(caller).status == 200);
    CHECK(SSL_get_current_compression(caller.tls()) == nullptr);
    REQUIRE(SSL_renegotiate(caller.tls()) == 1);
    const auto by = std::chrono::steady_clock::now() + test_support::patience;
    int why = SSL_ERROR_WANT_READ;
    while (why == SSL_ERROR_WANT_READ && std::chrono::steady_clock::now() < by) {
        ERR_clear_error();
        const int done = SSL_do_handshake(caller.tls());
        REQUIRE(done != 1);
        why = SSL_get_error(caller.tls(), done);
    }
    CHECK(why == SSL_ERROR_SSL);
    CHECK(ERR_GET_REASON(ERR_peek_error()) == SSL_R_NO_RENEGOTIATION);
    http_client next{x.port(), tls_caller{ca.ca_file()}};
    CHECK(call(next).status == 200);
}

TEST_CASE("a caller that closes its half gets its answer, whether it says so in TLS or not")
{
    test_ca ca;
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        for (const bool says_so : {true, false}) {
            CAPTURE(version);
            CAPTURE(says_so);
            test_support::gate go;
            const relayed x{
                test_support::raw({"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"}, go),
                over_tls(ca, [](config::settings& s) { s.timeouts.upstream_head = 1h; })
            };
            http_client caller{x.port(), tls_caller{ca.ca_file(), "127.0.0.1", version}};
            caller.send(call_text(call_body()));
            if (says_so) {
                caller.half_close();
            } else {
                REQUIRE(::shutdown(SSL_get_fd(caller.tls()), SHUT_WR) == 0);
            }
            REQUIRE(go.wait_until_reached());
            go.release();
            CHECK(caller.read_response().body == "{}");
            CHECK(caller.closed_by_peer());
        }
    }
}

TEST_CASE("a caller that leaves ends its call, whether it says so in TLS or not")
{
    test_ca ca;
    for (const bool says_so : {true, false}) {
        CAPTURE(says_so);
        relayed x{test_support::silence(), over_tls(ca, [](config::settings& s) { s.timeouts.upstream_head = 1h; })};
        http_client caller{x.port(), tls_caller{ca.ca_file()}};
        caller.send(call_text(call_body()));
        REQUIRE(x.agent.wait_for_requests(1));
        if (says_so) {
            caller.half_close();
        } else {
            caller.reset();
        }
        CHECK(x.agent.wait_until_peer_closed());
        CHECK(flow::access_lines(x.gateway, 1).at(0).find(R"("status":499)") != std::string::npos);
    }
}

TEST_CASE("each name gets its certificate, over both listeners")
{
    test_ca ca;
    const relayed x{answer_json("{}"), [&](config::settings& s) {
                        s.tls = {
                            files_of(ca.issue(certificate_spec{.names = {"localhost"}, .common_name = "first"})),
                            files_of(ca.issue(certificate_spec{.names = {"*.b.test"}, .common_name = "second"}))
                        };
                    }};
    CHECK(shown_name(http_client{x.port(), tls_caller{ca.ca_file(), "localhost"}}) == "first");
    CHECK(shown_name(http_client{x.port(), tls_caller{ca.ca_file(), "a.b.test"}}) == "second");
}

TEST_CASE("the admin listener serves over TLS too")
{
    test_ca ca;
    auto settings = flow::quick_settings();
    settings.admin_tls = {files_of(ca.issue({"127.0.0.1"}))};
    const flow::running_gateway gateway{std::move(settings)};
    http_client prober{gateway.admin_port(), tls_caller{ca.ca_file()}};
    prober.send(test_support::request_text("GET", "/readyz"));
    CHECK(prober.read_response().status == 200);
    CHECK(test_support::request(gateway.port(), "GET", "/").status == 200);
}

TEST_CASE("a caller that comes again resumes, whichever worker it meets")
{
    test_ca ca;
    const relayed x{answer_json("{}"), over_tls(ca, [](config::settings& s) { s.workers = 2; })};
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        CAPTURE(version);
        http_client first{x.port(), tls_caller{ca.ca_file(), "localhost", version}};
        REQUIRE(call(first).status == 200);
        const std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> session{
            SSL_get1_session(first.tls()),
            SSL_SESSION_free
        };
        // The first one is still open, so that this one is placed on the other worker.
        http_client second{x.port(), tls_caller{ca.ca_file(), "localhost", version, session.get()}};
        CHECK(call(second).status == 200);
        CHECK(SSL_session_reused(second.tls()) == 1);
    }
    CHECK(handshakes(x, "resumed") == 2);
}

TEST_CASE("new certificates are shown to new callers; not one call is lost, and bad files change nothing")
{
    test_ca ca;
    const auto cert = ca.file("live.pem");
    const auto key = ca.file("live.key");
    const auto put = [&](const std::string& name) {
        const auto made = ca.issue(certificate_spec{.names = {"localhost", "127.0.0.1"}, .common_name = name});
        std::filesystem::copy_file(made.key_file, key + ".new");
        std::filesystem::copy_file(made.cert_file, cert + ".new");
        std::filesystem::rename(key + ".new", key);
        std::filesystem::rename(cert + ".new", cert);
    };
    put("before");
    const relayed x{answer_json("{}"), [&](config::settings& s) { s.tls = {{cert, key, {}}}; }};
    const tls_caller how{ca.ca_file(), "localhost"};
    http_client kept{x.port(), how};
    REQUIRE(shown_name(kept) == "before");

    std::atomic<bool> enough = false;
    std::atomic<int> answered = 0;
    std::atomic<int> lost = 0;
    std::thread others{[&] {
        while (!enough) {
            try {
                http_client caller{x.port(), how};
                ++(call(caller).status == 200 ? answered : lost);
            } catch (const std::exception&) {
                ++lost;
            }
        }
    }};
    const auto shows = [&](const std::string& name) {
        const auto by = std::chrono::steady_clock::now() + test_support::patience;
        while (std::chrono::steady_clock::now() < by) {
            if (shown_name(http_client{x.port(), how}) == name) {
                return true;
            }
        }
        return false;
    };
    put("after");
    CHECK(shows("after"));
    CHECK(call(kept).status == 200);
    std::filesystem::resize_file(cert, 100);
    const auto line = x.gateway.log().wait_for([](auto each) {
        return each.find("certificate_reload_failed") != std::string_view::npos;
    });
    CHECK(line.value_or("").find("live.pem has no certificate in PEM") != std::string::npos);
    CHECK(shown_name(http_client{x.port(), how}) == "after");
    enough = true;
    others.join();
    CHECK(answered > 0);
    CHECK(lost == 0);
    CHECK(call(kept).status == 200);
}

TEST_CASE("when the gateway stops, idle connections end in order and a handshake under way is let go")
{
    test_ca ca;
    relayed x{answer_json("{}"), over_tls(ca)};
    http_client idle{x.port(), tls_caller{ca.ca_file()}};
    CHECK(call(idle).status == 200);
    http_client hello{x.port()};
    hello.send(half_hello);
    CHECK(x.gateway.wait_for_metric("cardea_connections_open", 2));
    x.gateway.stop();
    CHECK(idle.closed_by_peer());
    CHECK(idle.ended_in_order());
    CHECK(hello.read_until_closed().empty());
    CHECK(x.gateway.wait_until_stopped());
}

TEST_SUITE_END();
