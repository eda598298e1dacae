#include "tests/flow/access_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>
#include <openssl/ssl.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/access certificates");

namespace {

using namespace flow;
using test_support::certificate;
using test_support::certificate_spec;
using test_support::http_client;
using test_support::test_ca;
using test_support::tls_caller;

using session_pointer = std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)>;

// A gateway whose agent `a` only alice may call, and what callers connect with.
struct certified {
    explicit certified(core::certificate_name principal = core::certificate_name::san, const std::string& ca_file = {})
        : gateway{settings(principal, ca_file.empty() ? clients.ca_file() : ca_file)}
    {
    }

    config::settings settings(core::certificate_name principal, const std::string& ca_file)
    {
        auto made = quick_settings();
        const auto server = servers.issue({"127.0.0.1"});
        made.tls = {{server.cert_file, server.key_file, {}}};
        made.access.providers = {
            token("ops", "token-of-operations-1", {}),
            {"certs", core::mtls_provider{.ca_file = ca_file, .principal = principal}},
        };
        const std::vector<std::string> names{"alice", "spiffe://corp.test/alice", "CN=alice"};
        made.agents = {agent("a", upstream.url("/rpc"), everybody_known, only({.principals = names}))};
        return made;
    }

    certificate client(std::vector<std::string> names, const std::string& common_name = "leaf")
    {
        return clients.issue(
            certificate_spec{.names = std::move(names), .common_name = common_name, .extended_use = "clientAuth"}
        );
    }

    tls_caller caller(const certificate& shown, int newest_tls = 0, SSL_SESSION* session = nullptr) const
    {
        tls_caller how{.ca_file = servers.ca_file(), .newest_tls = newest_tls, .session = session};
        how.cert_file = shown.cert_file;
        how.key_file = shown.key_file;
        return how;
    }

    static unsigned status(http_client& client, field_list headers = {})
    {
        headers.emplace_back("Content-Type", "application/json");
        client.send(test_support::request_text(
            "POST",
            "/agents/a",
            headers,
            R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})"
        ));
        return client.read_response().status;
    }

    unsigned status(const certificate& shown, const field_list& headers = {}) const
    {
        http_client client{gateway.port(), caller(shown)};
        return status(client, headers);
    }

    // The first answer on a connection with this certificate: none, if the handshake fails, in TLS 1.3 after the client
    // takes it for complete.
    bool is_served(const certificate& shown, int newest_tls) const
    {
        try {
            http_client client{gateway.port(), caller(shown, newest_tls)};
            return status(client) != 0;
        } catch (const std::exception&) {
            return false;
        }
    }

    test_ca servers{"cardea test servers"};
    test_ca clients{"cardea test clients"};
    test_support::scripted_agent upstream{answer_of_agent};
    running_gateway gateway;
};

// Of a caller with a token, whatever certificate its connection has.
unsigned card_status(http_client& client)
{
    client.send(test_support::request_text("GET", card_target("a"), bearer("token-of-operations-1")));
    return client.read_response().status;
}

// 0: the connection has ended.
unsigned status_or_end(http_client& client)
{
    try {
        return certified::status(client);
    } catch (const std::exception&) {
        return 0;
    }
}

}  // namespace

TEST_CASE("a client certificate identifies its caller, over TLS 1.2 and 1.3")
{
    certified with;
    const auto alice = with.client({"alice"});
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        http_client client{with.gateway.port(), with.caller(alice, version)};
        CHECK(certified::status(client) == 200);
        CHECK(certified::status(client) == 200);
    }
    CHECK(with.status(with.client({"bob"})) == 403);
    CHECK(with.status({}) == 401);
    CHECK(with.gateway.metric(R"(cardea_access_total{provider="certs",outcome="accepted"})") == 5);
    const auto line = with.gateway.log().wait_for([](std::string_view text) {
        return text.find("\"principal\":\"alice\",\"provider\":\"certs\"") != text.npos;
    });
    CHECK(line.has_value());
}

TEST_CASE("a certificate that no authority of clients vouches for ends the handshake")
{
    certified with;
    test_ca others;
    const auto spec = [](const std::string& use, std::chrono::hours until) {
        return certificate_spec{.names = {"alice"}, .until = until, .extended_use = use};
    };
    const std::vector<std::pair<const char*, certificate>> refused{
        {"of another authority", others.issue(spec("clientAuth", std::chrono::hours{24}))},
        {"of the servers' authority", with.servers.issue(spec("clientAuth", std::chrono::hours{24}))},
        {"signed by itself", with.clients.self_signed({"alice"})},
        {"expired", with.clients.issue(spec("clientAuth", std::chrono::hours{-1}))},
        {"for servers", with.clients.issue(spec("serverAuth", std::chrono::hours{24}))},
    };
    for (const auto& [name, shown] : refused) {
        CAPTURE(name);
        CHECK_FALSE(with.is_served(shown, TLS1_2_VERSION));
        CHECK_FALSE(with.is_served(shown, TLS1_3_VERSION));
    }
    CHECK(with.upstream.request_count() == 0);
    CHECK(with.gateway.wait_for_metric(R"(cardea_tls_handshakes_total{outcome="failed"})", 10));
}

TEST_CASE("the id is the first alternative name, the subject, or the SPIFFE id")
{
    certified subjects{core::certificate_name::subject};
    CHECK(subjects.status(subjects.client({"other"}, "alice")) == 200);
    CHECK(subjects.status(subjects.client({"alice"}, "bob")) == 403);
    CHECK(subjects.status(subjects.client({}, "alice,O=x")) == 403);
    certified spiffe{core::certificate_name::spiffe};
    CHECK(spiffe.status(spiffe.client({"URI:spiffe://corp.test/alice"})) == 200);
    CHECK(spiffe.status(spiffe.client({"dns.test", "URI:spiffe://corp.test/alice"})) == 200);
    CHECK(spiffe.status(spiffe.client({"URI:spiffe://corp.test/bob"})) == 403);
    CHECK(spiffe.status(spiffe.client({"URI:spiffe://corp.test/alice", "URI:https://other.test"})) == 401);
    CHECK(spiffe.status(spiffe.client({"URI:https://corp.test/alice"})) == 401);
    CHECK(spiffe.status(spiffe.client({"alice"})) == 401);
    certified names;
    CHECK(names.status(names.client({"URI:spiffe://corp.test/alice", "bob"})) == 200);
    CHECK(names.status(names.client({"bob", "alice"})) == 403);
    CHECK(names.status(names.client({"127.0.0.1"})) == 401);
    CHECK(names.status(names.client({}, "alice")) == 401);
}

TEST_CASE("the credential of a request decides, whatever certificate its connection has")
{
    certified with;
    const auto alice = with.client({"alice"});
    CHECK(with.status(alice, bearer("token-of-operations-1")) == 403);
    CHECK(with.status(alice, bearer("unknown-token-0123456789")) == 401);
    CHECK(with.status(alice) == 200);
}

TEST_CASE("a session that is resumed keeps the identity of its certificate, and nobody else's")
{
    certified with;
    const auto alice = with.client({"alice"});
    const auto bob = with.client({"bob"});
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        CAPTURE(version);
        http_client first{with.gateway.port(), with.caller(alice, version)};
        CHECK(certified::status(first) == 200);
        const session_pointer session{SSL_get1_session(first.tls()), SSL_SESSION_free};
        http_client again{with.gateway.port(), with.caller({}, version, session.get())};
        CHECK(certified::status(again) == 200);
        CHECK(SSL_session_reused(again.tls()) == 1);
        http_client other{with.gateway.port(), with.caller(bob, version)};
        CHECK(certified::status(other) == 403);
        http_client anonymous{with.gateway.port(), with.caller({}, version)};
        CHECK(certified::status(anonymous) == 401);
        const session_pointer their_session{SSL_get1_session(anonymous.tls()), SSL_SESSION_free};
        http_client still_nobody{with.gateway.port(), with.caller({}, version, their_session.get())};
        CHECK(certified::status(still_nobody) == 401);
        CHECK(SSL_session_reused(still_nobody.tls()) == 1);
    }
}

TEST_CASE("new authorities of clients count for new connections, and end the sessions of those that they replace")
{
    namespace fs = std::filesystem;
    test_ca before{"cardea test clients before"};
    const auto file = before.file("clients.pem");
    fs::copy_file(before.ca_file(), file);
    certified with{core::certificate_name::san, file};
    const certificate_spec spec{.names = {"alice"}, .extended_use = "clientAuth"};
    const auto old = before.issue(spec);
    const auto current = with.clients.issue(spec);
    http_client first{with.gateway.port(), with.caller(old)};
    CHECK(certified::status(first) == 200);
    const session_pointer session{SSL_get1_session(first.tls()), SSL_SESSION_free};
    http_client kept{with.gateway.port(), with.caller(old)};
    CHECK(certified::status(kept) == 200);
    http_client with_token{with.gateway.port(), with.caller({})};
    CHECK(card_status(with_token) == 200);
    CHECK_FALSE(with.is_served(current, 0));
    fs::copy_file(with.clients.ca_file(), file + ".new");
    fs::rename(file + ".new", file);
    CHECK(becomes_true([&] { return with.is_served(current, 0); }));
    CHECK(with.status(current) == 200);
    // A connection that is open is nobody's, and ends; that of a caller with another credential goes on.
    for (auto* const open : {&first, &kept}) {
        const auto next = status_or_end(*open);
        CHECK((next == 401 || next == 0));
    }
    CHECK(card_status(with_token) == 200);
    CHECK_FALSE(with.is_served(old, TLS1_2_VERSION));
    CHECK_FALSE(with.is_served(old, TLS1_3_VERSION));
    http_client resumed{with.gateway.port(), with.caller({}, 0, session.get())};
    CHECK(certified::status(resumed) == 401);
    CHECK(SSL_session_reused(resumed.tls()) == 0);
}

TEST_CASE("a certificate that has been revoked ends the handshake")
{
    test_ca clients;
    const auto good = clients.issue(certificate_spec{.names = {"alice"}, .extended_use = "clientAuth"});
    const auto revoked =
        clients.issue(certificate_spec{.names = {"alice"}, .extended_use = "clientAuth", .revoked = true});
    certified with{core::certificate_name::san, clients.ca_file_with_revocations()};
    CHECK(with.status(good) == 200);
    CHECK_FALSE(with.is_served(revoked, TLS1_2_VERSION));
    CHECK_FALSE(with.is_served(revoked, TLS1_3_VERSION));
}

TEST_SUITE_END();
