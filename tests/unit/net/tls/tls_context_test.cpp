#include "net/tls/tls_context.hpp"

#include "net/tls/tls_files.hpp"
#include "net/tls/tls_tickets.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using net::tls_context;
using test_support::certificate;
using test_support::test_ca;

TEST_SUITE_BEGIN("net/tls/tls_context");

namespace {

constexpr core::steady_time beginning{};

struct free_ssl {
    void operator()(SSL* s) const noexcept { SSL_free(s); }
};
using ssl_ptr = std::unique_ptr<SSL, free_ssl>;

// A caller and a gateway in memory, one step at a time.
struct pair {
    pair(const tls_context& server_side, const tls_context& client_side)
        : server{SSL_new(server_side.get())},
          client{SSL_new(client_side.get())}
    {
        BIO* near = nullptr;
        BIO* far = nullptr;
        REQUIRE(BIO_new_bio_pair(&near, 0, &far, 0) == 1);
        SSL_set_bio(server.get(), near, near);
        SSL_set_bio(client.get(), far, far);
        SSL_set_accept_state(server.get());
        SSL_set_connect_state(client.get());
    }

    // Empty: both sides are through.
    std::string shake_hands()
    {
        ERR_clear_error();
        for (int round = 0; round < 10; ++round) {
            for (auto* const side : {client.get(), server.get()}) {
                const auto done = SSL_do_handshake(side);
                if (done != 1 && SSL_get_error(side, done) == SSL_ERROR_SSL) {
                    return net::handshake_failure(*side, net::take_tls_error());
                }
            }
        }
        return SSL_is_init_finished(client.get()) == 1 && SSL_is_init_finished(server.get()) == 1 ? "" : "stuck";
    }

    // Whether a byte gets through; tickets, which come before it, are taken on the way.
    bool speaks() const
    {
        char byte = 0;
        return SSL_write(server.get(), "x", 1) == 1 && SSL_read(client.get(), &byte, 1) == 1 && byte == 'x';
    }

    std::string shown_name() const
    {
        auto* const shown = SSL_get0_peer_certificate(client.get());
        char name[128] = {};
        X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name, sizeof name);
        return name;
    }

    ssl_ptr server;
    ssl_ptr client;
};

std::shared_ptr<net::ticket_keys> new_tickets()
{
    return std::make_shared<net::ticket_keys>(beginning);
}

net::tls_certificate shown(const certificate& which, std::vector<std::string> names = {})
{
    return {which.cert_file, which.key_file, std::move(names)};
}

tls_context server_of(
    const std::vector<net::tls_certificate>& certificates,
    std::shared_ptr<net::ticket_keys> tickets = new_tickets()
)
{
    auto made = net::make_server_tls(certificates, std::move(tickets));
    REQUIRE(made.has_value());
    return *made;
}

tls_context client_of(const net::tls_client_files& files)
{
    auto made = net::make_client_tls(files);
    REQUIRE(made.has_value());
    return *made;
}

tls_context careless_client()
{
    return {SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
}

certificate named(test_ca& ca, const std::string& name, std::vector<std::string> alternatives)
{
    return ca.issue(test_support::certificate_spec{.names = std::move(alternatives), .common_name = name});
}

std::string refusal(const core::result<tls_context>& made)
{
    REQUIRE(made.has_error());
    CHECK(made.error().code == core::errc::config_invalid);
    return made.error().detail;
}

void write_file(const std::string& path, const std::string& text)
{
    std::ofstream{path} << text;
}

std::string content(const std::string& path)
{
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE("the certificate is chosen by the name that is asked for; the first one is for the rest")
{
    test_ca ca;
    const auto context = server_of(
        {shown(named(ca, "first", {"a.test", "127.0.0.1"})),
         shown(named(ca, "second", {"B.test", "*.c.test"})),
         shown(named(ca, "third", {"a.test", "d.test"})),
         shown(named(ca, "fourth", {"x.test"}), {"Given.test", "*.wild.test"})}
    );
    struct row {
        const char* asked;
        const char* name;
    };
    const row rows[] = {
        {nullptr, "first"},
        {"a.test", "first"},
        {"b.test", "second"},
        {"B.TEST", "second"},
        {"x.c.test", "second"},
        {"c.test", "first"},
        {"x.y.c.test", "first"},
        {"d.test", "third"},
        {"given.test", "fourth"},
        {"x.wild.test", "fourth"},
        {"x.test", "first"},
        {"nobody.test", "first"},
        {"localhost", "first"},
    };
    for (const auto& row : rows) {
        CAPTURE((row.asked == nullptr ? "nothing" : row.asked));
        pair both{context, careless_client()};
        if (row.asked != nullptr) {
            SSL_set_tlsext_host_name(both.client.get(), row.asked);
        }
        CHECK(both.shake_hands() == "");
        CHECK(both.shown_name() == row.name);
        CHECK(both.speaks());
    }
}

TEST_CASE("a connection outlives the context that it was made from")
{
    test_ca ca;
    auto context = server_of({shown(named(ca, "first", {"a.test"})), shown(named(ca, "second", {"b.test"}))});
    pair both{context, careless_client()};
    SSL_set_tlsext_host_name(both.client.get(), "b.test");
    context.reset();
    CHECK(both.shake_hands() == "");
    CHECK(both.shown_name() == "second");
    CHECK(both.speaks());
}

TEST_CASE("http/1.1 is the only protocol, offered or not")
{
    test_ca ca;
    const auto context = server_of({shown(ca.issue({"a.test"}))});
    struct row {
        std::string offered;
        std::string chosen;
        std::string failure;
    };
    const row rows[] = {
        {"", "", ""},
        {"\x08http/1.1", "http/1.1", ""},
        {"\x02h2\x08http/1.1", "http/1.1", ""},
        {"\x08http/1.1\x02h2", "http/1.1", ""},
        {"\x02h2", "", "no application protocol"},
        {"\x08http/1.0\x08http/1.2", "", "no application protocol"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.offered);
        pair both{context, careless_client()};
        if (!row.offered.empty()) {
            const auto* const bytes = reinterpret_cast<const unsigned char*>(row.offered.data());
            SSL_set_alpn_protos(both.client.get(), bytes, static_cast<unsigned>(row.offered.size()));
        }
        CHECK(both.shake_hands() == row.failure);
        const unsigned char* chosen = nullptr;
        unsigned size = 0;
        SSL_get0_alpn_selected(both.client.get(), &chosen, &size);
        CHECK(std::string(reinterpret_cast<const char*>(chosen), size) == row.chosen);
    }
}

TEST_CASE("A connection that offers HTTP/2 chooses it before HTTP/1.1, whatever the caller prefers")
{
    test_ca ca;
    const auto context = server_of({shown(ca.issue({"a.test"}))});
    struct row {
        std::string offered;
        bool http2;
        std::string failure;
    };
    const row rows[] = {
        {"", false, ""},
        {"\x08http/1.1", false, ""},
        {"\x02h2\x08http/1.1", true, ""},
        {"\x08http/1.1\x02h2", true, ""},
        {"\x02h2", true, ""},
        {"\x03h2c", false, "no application protocol"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.offered);
        pair both{context, careless_client()};
        REQUIRE(net::offer_http2(*both.server));
        if (!row.offered.empty()) {
            const auto* const bytes = reinterpret_cast<const unsigned char*>(row.offered.data());
            SSL_set_alpn_protos(both.client.get(), bytes, static_cast<unsigned>(row.offered.size()));
        }
        CHECK(both.shake_hands() == row.failure);
        CHECK(net::chose_http2(*both.server) == row.http2);
    }
    pair both{context, careless_client()};
    REQUIRE(net::offer_http2(*both.server));
    REQUIRE(net::offer_http2(*both.client));
    CHECK(both.shake_hands().empty());
    CHECK(net::chose_http2(*both.client));
}

TEST_CASE(
    "A connection is for the name that was asked for and for those of its certificate, and without a name for addresses"
)
{
    test_ca ca;
    const auto context = server_of(
        {shown(named(ca, "first", {"a.test", "*.a.test", "10.0.0.1", "2001:db8::1"})),
         shown(named(ca, "second", {"b.test"}))}
    );
    struct row {
        const char* asked;
        std::vector<std::string> hosts;
        std::vector<std::string> others;
    };
    const row rows[] = {
        {"a.test",
         {"a.test", "A.Test", "a.test.", "x.a.test", "10.0.0.1", "2001:db8::1"},
         {"b.test", "x.y.a.test", "10.0.0.2", "::1", ""}},
        {"b.test", {"b.test"}, {"a.test", "second", "10.0.0.1", "b.tes"}},
        {"own.test", {"own.test", "OWN.test", "a.test"}, {"b.test", "other.test"}},
        {nullptr, {"a.test", "10.0.0.1", "10.0.0.2", "::1"}, {"b.test", "other.test"}},
    };
    for (const int newest : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        for (const auto& row : rows) {
            CAPTURE((row.asked == nullptr ? "nothing" : row.asked));
            pair both{context, careless_client()};
            SSL_set_max_proto_version(both.client.get(), newest);
            if (row.asked != nullptr) {
                SSL_set_tlsext_host_name(both.client.get(), row.asked);
            }
            REQUIRE(both.shake_hands().empty());
            for (const auto& host : row.hosts) {
                CAPTURE(host);
                CHECK(net::is_for_host(*both.server, host));
            }
            for (const auto& host : row.others) {
                CAPTURE(host);
                CHECK_FALSE(net::is_for_host(*both.server, host));
            }
        }
    }
}

TEST_CASE("callers speak TLS 1.2 or 1.3 with forward secrecy and authenticated encryption, or not at all")
{
    test_ca ca;
    const auto context = server_of(
        {shown(ca.issue(test_support::certificate_spec{.names = {"a.test"}, .key = test_support::key_kind::rsa2048}))}
    );
    struct row {
        int version;
        const char* ciphers;
        const char* failure;
    };
    const row rows[] = {
        {TLS1_3_VERSION, "DEFAULT", ""},
        {TLS1_2_VERSION, "DEFAULT", ""},
        {TLS1_2_VERSION, "ECDHE-RSA-AES128-SHA256", "no shared cipher"},
        {TLS1_2_VERSION, "AES256-GCM-SHA384", "no shared cipher"},
        {TLS1_2_VERSION, "AES128-SHA", "no shared cipher"},
        {TLS1_1_VERSION, "ALL:@SECLEVEL=0", "unsupported protocol"},
        {TLS1_VERSION, "ALL:@SECLEVEL=0", "unsupported protocol"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.version);
        CAPTURE(row.ciphers);
        const auto caller = careless_client();
        SSL_CTX_set_min_proto_version(caller.get(), row.version);
        SSL_CTX_set_max_proto_version(caller.get(), row.version);
        SSL_CTX_set_cipher_list(caller.get(), row.ciphers);
        pair both{context, caller};
        CHECK(both.shake_hands() == row.failure);
    }
}

TEST_CASE("a caller that asks to renegotiate is refused, and goes on")
{
    test_ca ca;
    const auto caller = careless_client();
    SSL_CTX_set_max_proto_version(caller.get(), TLS1_2_VERSION);
    pair both{server_of({shown(ca.issue({"a.test"}))}), caller};
    REQUIRE(both.shake_hands() == "");
    REQUIRE(SSL_renegotiate(both.client.get()) == 1);
    SSL_do_handshake(both.client.get());
    char byte = 0;
    CHECK(SSL_read(both.server.get(), &byte, 1) <= 0);
    CHECK(SSL_is_init_finished(both.server.get()) == 1);
    CHECK(SSL_do_handshake(both.client.get()) != 1);
    CHECK(net::take_tls_error().find("no renegotiation") != std::string::npos);
    CHECK(SSL_get_current_compression(both.server.get()) == nullptr);
}

TEST_CASE("sessions are resumed by ticket, in another context too, until their key is forgotten")
{
    test_ca ca;
    const auto certificate = shown(ca.issue({"a.test"}));
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        CAPTURE(version);
        const auto tickets = new_tickets();
        const auto caller = careless_client();
        SSL_CTX_set_max_proto_version(caller.get(), version);
        // A session that may have been renewed meanwhile is looked at by hand, not by the caller's cache.
        const auto resumed = [&](SSL_SESSION* session, const tls_context& context) {
            pair both{context, caller};
            SSL_set_session(both.client.get(), session);
            REQUIRE(both.shake_hands() == "");
            REQUIRE(both.speaks());
            SSL_shutdown(both.client.get());  // else the session counts as broken
            return SSL_session_reused(both.client.get()) == 1;
        };
        pair first{server_of({certificate}, tickets), caller};
        REQUIRE(first.shake_hands() == "");
        REQUIRE(first.speaks());
        const std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> session{
            SSL_get1_session(first.client.get()),
            SSL_SESSION_free
        };
        REQUIRE(SSL_SESSION_has_ticket(session.get()) == 1);
        SSL_shutdown(first.client.get());
        const auto again = server_of({certificate}, tickets);
        CHECK(resumed(session.get(), again));
        CHECK_FALSE(resumed(session.get(), server_of({certificate})));
        tickets->rotate(beginning + net::ticket_keys::period - 1ms);
        tickets->rotate(beginning + net::ticket_keys::period);
        tickets->rotate(beginning + net::ticket_keys::period);
        CHECK(resumed(session.get(), again));
        tickets->rotate(beginning + 2 * net::ticket_keys::period);
        CHECK(resumed(session.get(), again));
        tickets->rotate(beginning + 3 * net::ticket_keys::period);
        CHECK_FALSE(resumed(session.get(), again));
    }
}

TEST_CASE("A ticket of an earlier key is renewed when it is used, so that a caller that keeps coming always resumes")
{
    test_ca ca;
    const auto tickets = new_tickets();
    const auto context = server_of({shown(ca.issue({"a.test"}))}, tickets);
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        CAPTURE(version);
        const auto caller = careless_client();
        SSL_CTX_set_max_proto_version(caller.get(), version);
        std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> latest{nullptr, SSL_SESSION_free};
        for (int hour = 0; hour < 6; ++hour) {
            CAPTURE(hour);
            tickets->rotate(beginning + (version * 10 + hour) * net::ticket_keys::period);
            pair both{context, caller};
            SSL_set_session(both.client.get(), latest.get());
            REQUIRE(both.shake_hands() == "");
            REQUIRE(both.speaks());
            CHECK((SSL_session_reused(both.client.get()) == 1) == (hour > 0));
            latest.reset(SSL_get1_session(both.client.get()));
            SSL_shutdown(both.client.get());
        }
    }
}

TEST_CASE("a session of one name is none for a name with another certificate, and one for every name of its own")
{
    test_ca ca;
    const auto context = server_of(
        {shown(named(ca, "first", {"a.test"})),
         shown(named(ca, "second", {"b.test", "*.b.test"})),
         shown(named(ca, "third", {"c.test"}))}
    );
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        CAPTURE(version);
        const auto caller = careless_client();
        SSL_CTX_set_max_proto_version(caller.get(), version);
        // What is shown under `name`, and whether the session was taken up.
        const auto visit = [&](const char* name, SSL_SESSION* session) {
            auto both = std::make_unique<pair>(context, caller);
            SSL_set_tlsext_host_name(both->client.get(), name);
            SSL_set_session(both->client.get(), session);
            REQUIRE(both->shake_hands() == "");
            REQUIRE(both->speaks());
            return both;
        };
        const auto session_of = [&](const char* name) {
            const auto both = visit(name, nullptr);
            SSL_SESSION* const session = SSL_get1_session(both->client.get());
            SSL_shutdown(both->client.get());
            return std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)>{session, SSL_SESSION_free};
        };
        struct row {
            const char* made_for;
            const char* used_for;
            bool resumed;
            const char* shown;
        };
        for (const auto& r :
             {row{"a.test", "a.test", true, "first"},
              row{"a.test", "b.test", false, "second"},
              row{"b.test", "b.test", true, "second"},
              row{"b.test", "x.b.test", true, "second"},
              row{"b.test", "a.test", false, "first"},
              row{"b.test", "c.test", false, "third"},
              row{"c.test", "nobody.test", false, "first"},
              row{"nobody.test", "a.test", true, "first"}}) {
            CAPTURE(r.made_for);
            CAPTURE(r.used_for);
            const auto session = session_of(r.made_for);
            REQUIRE(SSL_SESSION_has_ticket(session.get()) == 1);
            const auto both = visit(r.used_for, session.get());
            CHECK((SSL_session_reused(both->client.get()) == 1) == r.resumed);
            CHECK(both->shown_name() == r.shown);
        }
    }
}

TEST_CASE("a file that cannot be used is named, with the reason and without its content")
{
    test_ca ca;
    const auto good = ca.issue({"a.test"});
    const auto other = ca.issue({"b.test"});
    const auto addressed = ca.issue({"127.0.0.1"});
    const auto weak =
        ca.issue(test_support::certificate_spec{.names = {"a.test"}, .key = test_support::key_kind::rsa1024});
    const auto empty = ca.file("empty");
    const auto half = ca.file("half");
    const auto garbled_chain = ca.file("garbled");
    write_file(empty, "");
    write_file(half, content(good.cert_file).substr(0, 200));
    write_file(
        garbled_chain,
        content(good.cert_file) + content(good.cert_file).substr(0, 200) + "\n-----END CERTIFICATE-----\n"
    );
    const auto tickets = new_tickets();
    const auto why = [&](const std::string& cert, const std::string& key) {
        return refusal(net::make_server_tls({{cert, key, {}}}, tickets));
    };
    CHECK(why("/none.pem", good.key_file) == "/none.pem cannot be opened: No such file or directory");
    CHECK(why("/tmp", good.key_file) == "/tmp cannot be read: Is a directory");
    CHECK(why(empty, good.key_file) == empty + " has no certificate in PEM");
    CHECK(why(half, good.key_file) == half + " has no certificate in PEM");
    CHECK(why(garbled_chain, good.key_file) == garbled_chain + " has a certificate in its chain that cannot be read");
    CHECK(why(weak.cert_file, weak.key_file) == weak.cert_file + " cannot be used: ee key too small");
    CHECK(why(good.cert_file, "/none.key") == "/none.key cannot be opened: No such file or directory");
    CHECK(why(good.cert_file, good.cert_file) == good.cert_file + " has no private key in PEM");
    CHECK(why(good.cert_file, other.key_file) == other.key_file + " is not the key of the certificate");
    CHECK(why(good.cert_file, weak.key_file) == weak.key_file + " is not the key of the certificate");
    CHECK(refusal(net::make_server_tls({}, tickets)) == "TLS without a certificate");
    CHECK(
        refusal(net::make_server_tls({shown(good), shown(addressed)}, tickets)) ==
        addressed.cert_file + " has no DNS name that it could be chosen by"
    );
    CHECK(refusal(net::make_client_tls({.ca_file = empty})) == empty + " has no certificate in PEM");
    CHECK(
        refusal(net::make_client_tls({.ca_file = ca.ca_file(), .cert_file = good.cert_file, .key_file = other.key_file})
        ) == other.key_file + " is not the key of the certificate"
    );
}

TEST_CASE("a key and its certificate may share a file; an encrypted key asks nobody for its passphrase")
{
    test_ca ca;
    const auto good = ca.issue({"a.test"});
    const auto both = ca.file("both");
    write_file(both, content(good.key_file) + content(good.cert_file));
    CHECK(net::make_server_tls({{both, both, {}}}, new_tickets()).has_value());

    const auto sealed = ca.file("sealed");
    const std::unique_ptr<BIO, decltype(&BIO_free)> in{BIO_new_file(good.key_file.c_str(), "r"), BIO_free};
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key{
        PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr),
        EVP_PKEY_free
    };
    const std::unique_ptr<BIO, decltype(&BIO_free)> out{BIO_new_file(sealed.c_str(), "w"), BIO_free};
    const auto* const phrase = reinterpret_cast<const unsigned char*>("secret");
    REQUIRE(PEM_write_bio_PrivateKey(out.get(), key.get(), EVP_aes_256_cbc(), phrase, 6, nullptr, nullptr) == 1);
    REQUIRE(BIO_flush(out.get()) == 1);
    CHECK(
        refusal(net::make_server_tls({{good.cert_file, sealed, {}}}, new_tickets())) ==
        sealed + " has a key that is encrypted"
    );
}

TEST_CASE("an agent is believed by its certificate's names only, whole labels at a time")
{
    test_ca ca;
    struct row {
        std::vector<std::string> names;
        const char* host;
        const char* failure;
    };
    const row rows[] = {
        {{"a.test"}, "a.test", ""},
        {{"a.test"}, "A.test.", ""},
        {{"*.test.example"}, "a.test.example", ""},
        {{"127.0.0.1"}, "127.0.0.1", ""},
        {{"::1"}, "::1", ""},
        {{"b.test"}, "a.test", "hostname mismatch"},
        {{"*.test.example"}, "a.b.test.example", "hostname mismatch"},
        {{"*.test.example"}, "test.example", "hostname mismatch"},
        {{"a*.test.example"}, "a1.test.example", "hostname mismatch"},
        {{"127.0.0.2"}, "127.0.0.1", "IP address mismatch"},
        {{"*.0.0.1"}, "127.0.0.1", "IP address mismatch"},
        {{}, "a.test", "hostname mismatch"},
    };
    const auto client = client_of({.ca_file = ca.ca_file()});
    for (const auto& row : rows) {
        CAPTURE(row.host);
        CAPTURE(row.failure);
        const auto agent = ca.issue(test_support::certificate_spec{.names = row.names, .common_name = "a.test"});
        pair both{server_of({shown(agent)}), client};
        REQUIRE(net::expect_peer(*both.client, row.host));
        const std::string failure = row.failure;
        CHECK(both.shake_hands() == (failure.empty() ? "" : "certificate verify failed: " + failure));
    }
    pair both{server_of({shown(ca.issue({"a.test"}))}), client};
    CHECK_FALSE(net::expect_peer(*both.client, ""));
}

TEST_CASE("an agent that asks is shown the client certificate, and only then")
{
    test_ca ca;
    const auto agent = server_of({shown(ca.issue({"a.test"}))});
    REQUIRE(net::use_trust(*agent, ca.ca_file()).has_value());
    const auto mine = ca.issue_client();
    for (const bool asks : {false, true}) {
        CAPTURE(asks);
        SSL_CTX_set_verify(
            agent.get(),
            asks ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_NONE,
            nullptr
        );
        pair with{agent, client_of({.ca_file = ca.ca_file(), .cert_file = mine.cert_file, .key_file = mine.key_file})};
        REQUIRE(net::expect_peer(*with.client, "a.test"));
        CHECK(with.shake_hands() == "");
        CHECK((SSL_get0_peer_certificate(with.server.get()) != nullptr) == asks);
        pair without{agent, client_of({.ca_file = ca.ca_file()})};
        REQUIRE(net::expect_peer(*without.client, "a.test"));
        CHECK(without.shake_hands() == (asks ? "peer did not return a certificate" : ""));
    }
}

TEST_SUITE_END();
