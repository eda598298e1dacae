// Agents whose certificate or TLS cannot be trusted, after the names of badssl.com: each is refused before a byte of a call
// or of a card fetch goes out, and the log says why.
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <openssl/ssl.h>

#include <algorithm>

using flow::call;
using flow::call_body;
using flow::relayed;
using test_support::certificate;
using test_support::certificate_spec;
using test_support::chain_kind;
using test_support::key_kind;
using test_support::test_ca;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("flow/upstream_certificates");

namespace {

constexpr std::string_view bearer = "never-sent-to-strangers";

struct agent_tls {
    std::string what;
    certificate shown;
    std::string reason;  // a part of it; empty: it is good
    std::string trusted;
    bool by_name = true;
    int newest_tls = 0;
    std::string ciphers{};
};

relayed make_relayed(const agent_tls& each)
{
    return relayed{
        test_support::answer_json(R"({"name":"Card or answer"})"),
        [&](config::settings& s) {
            auto& agent = s.agents[0];
            agent.ca_file = each.trusted;
            agent.bearer = core::secret{std::string{bearer}};
            if (each.by_name) {
                agent.url.replace(agent.url.find("127.0.0.1"), std::string_view{"127.0.0.1"}.size(), "localhost");
            }
        },
        {.cert_file = each.shown.cert_file,
         .key_file = each.shown.key_file,
         .newest_tls = each.newest_tls,
         .ciphers = each.ciphers}
    };
}

test_support::http_response fetch_card(const relayed& x)
{
    return test_support::request(x.port(), "GET", "/agents/a/.well-known/agent-card.json");
}

// The one log line with this text, and no credential in any line.
std::string line_with(const relayed& x, std::string_view text)
{
    const auto found = x.gateway.log().wait_for([&](auto line) { return line.find(text) != line.npos; });
    for (const auto& line : x.gateway.log().all()) {
        CHECK(line.find(bearer) == line.npos);
        CHECK(line.find("PRIVATE") == line.npos);
    }
    return found.value_or("");
}

void check_refused(const agent_tls& each)
{
    CAPTURE(each.what);
    const auto x = make_relayed(each);
    flow::check_jsonrpc_error(call(x.port(), call_body("\"t\"")), flow::tls_failed, "\"t\"");
    CHECK(line_with(x, R"("route":"call")").find(each.reason) != std::string::npos);
    const auto card = fetch_card(x);
    CHECK(card.status == 502);
    CHECK(card.header("Cardea-Error") == "upstream_tls");
    CHECK(line_with(x, R"("route":"card")").find(each.reason) != std::string::npos);
    CHECK(x.agent.request_count() == 0);
    CHECK(x.gateway.metric(R"(cardea_upstream_errors_total{agent="a",reason="upstream_tls"})") == 1);
}

certificate with(test_ca& ca, certificate_spec what)
{
    if (what.names.empty()) {
        what.names = {"localhost"};
    }
    return ca.issue(what);
}

}  // namespace

TEST_CASE("an agent whose certificate does not prove who it is gets no call and no card fetch")
{
    test_ca ca;
    test_ca stranger{"another root"};
    test_ca namesake;
    const auto& root = ca.ca_file();
    const auto revoked = with(ca, {.revoked = true});
    const agent_tls rows[] = {
        {"expired", ca.issue_expired({"localhost"}), "certificate has expired", root},
        {"not yet valid", ca.issue_not_yet_valid({"localhost"}), "certificate is not yet valid", root},
        {"another name", ca.issue({"example.org"}), "hostname mismatch", root},
        {"another address", ca.issue({"127.0.0.2"}), "IP address mismatch", root, false},
        {"a name for an address", ca.issue({"localhost"}), "IP address mismatch", root, false},
        {"an address for a name", ca.issue({"127.0.0.1"}), "hostname mismatch", root},
        {"self-signed", ca.self_signed({"localhost"}), "self-signed certificate", root},
        {"untrusted root", stranger.issue({"localhost"}), "unable to get local issuer certificate", root},
        {"a root with the same name", namesake.issue({"localhost"}), "certificate signature failure", root},
        {"one the system does not know", ca.issue({"localhost"}), "unable to get local issuer certificate", ""},
        {"incomplete chain", with(ca, {.chain = chain_kind::left_out}), "unable to get local issuer certificate", root},
        {"common name only", ca.issue(certificate_spec{.common_name = "localhost"}), "hostname mismatch", root},
        {"SHA-1", with(ca, {.sha1 = true}), "CA signature digest algorithm too weak", root},
        {"RSA 1024", with(ca, {.key = key_kind::rsa1024}), "EE certificate key too weak", root},
        {"revoked", revoked, "certificate revoked", ca.ca_file_with_revocations()},
        {"for clients", with(ca, {.extended_use = "clientAuth"}), "unsuitable certificate purpose", root},
        {"for signing", with(ca, {.use = "critical,keyCertSign"}), "unsuitable certificate purpose", root},
        {"an issuer that is none", with(ca, {.chain = chain_kind::not_an_authority}), "invalid CA certificate", root},
        {"a name it may not have", with(ca, {.chain = chain_kind::constrained}), "permitted subtree violation", root},
        {"a partial wildcard", ca.issue({"local*"}), "hostname mismatch", root},
        {"a wildcard for an address", ca.issue({"*.0.0.1"}), "IP address mismatch", root, false},
    };
    for (const auto& row : rows) {
        check_refused(row);
    }
}

TEST_CASE("an agent with outdated TLS gets no call and no card fetch")
{
    test_ca ca;
    const auto rsa = with(ca, {.key = key_kind::rsa2048});
    const agent_tls rows[] = {
        {"TLS 1.1", rsa, "protocol version", ca.ca_file(), true, TLS1_1_VERSION, "ALL:@SECLEVEL=0"},
        {"no forward secrecy", rsa, "handshake failure", ca.ca_file(), true, TLS1_2_VERSION, "AES128-GCM-SHA256"},
        {"CBC", rsa, "handshake failure", ca.ca_file(), true, TLS1_2_VERSION, "ECDHE-RSA-AES128-SHA"},
    };
    for (const auto& row : rows) {
        check_refused(row);
    }
}

TEST_CASE("good certificates of every kind are accepted")
{
    test_ca ca;
    const auto& root = ca.ca_file();
    const auto unrevoked = ca.issue({"localhost"});
    static_cast<void>(with(ca, {.revoked = true}));
    const agent_tls rows[] = {
        {"of the root", ca.issue({"localhost"}), "", root},
        {"for an address", ca.issue({"127.0.0.1"}), "", root, false},
        {"with its chain", with(ca, {.chain = chain_kind::intermediate}), "", root},
        {"RSA", with(ca, {.key = key_kind::rsa2048}), "", root},
        {"TLS 1.2", with(ca, {}), "", root, true, TLS1_2_VERSION},
        {"not among the revoked", unrevoked, "", ca.ca_file_with_revocations()},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        const auto x = make_relayed(row);
        CHECK(call(x.port(), call_body()).status == 200);
        CHECK(fetch_card(x).status == 200);
    }
}

TEST_CASE("an agent that wants to know who calls is shown the agent's client certificate, by calls and card fetches")
{
    test_ca ca;
    test_ca callers;
    const auto mine = callers.issue_client();
    const auto stranger = ca.issue_client();
    const auto shown = ca.issue({"127.0.0.1"});
    const certificate* const tried[] = {&mine, &stranger, nullptr};
    for (const auto* const each : tried) {
        const bool welcome = each == &mine;
        CAPTURE(welcome);
        const relayed x{
            test_support::answer_json(R"({"name":"Card or answer"})"),
            [&](config::settings& s) {
                s.agents[0].ca_file = ca.ca_file();
                s.agents[0].cert_file = each == nullptr ? "" : each->cert_file;
                s.agents[0].key_file = each == nullptr ? "" : each->key_file;
            },
            {.cert_file = shown.cert_file, .key_file = shown.key_file, .callers_ca_file = callers.ca_file()}
        };
        CHECK(call(x.port(), call_body()).status == (welcome ? 200 : 502));
        CHECK(fetch_card(x).status == (welcome ? 200 : 502));
        CHECK(x.agent.request_count() == (welcome ? 2 : 0));
    }
}

TEST_SUITE_END();
