// The gateway's own requests, and connections as those of calls, through an HTTP proxy.
#include "net/upstream/proxies.hpp"

#include "net/client/exchange.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/loop.hpp"
#include "net/upstream/own_listeners.hpp"
#include "net/upstream/upstream.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/support/test_ca.hpp"
#include "tests/support/tunnel_proxy.hpp"
#include "tests/unit/net/client/exchange_recorder.hpp"
#include "tests/unit/net/client/fetch_client.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using core::errc;
using core::secret;
using test_support::scripted_agent;
using test_support::tunnel_proxy;

TEST_SUITE_BEGIN("net/client/proxies");

namespace {

enum class client : std::uint8_t { exchanges, fetches };

// What a request came to: `200 text`, or the name and the detail of a failure.
struct asked {
    std::string url;
    secret proxy;
    std::string ca_file{};
    std::shared_ptr<const core::address_rule> addresses{};
};

std::string shown(const core::error& why)
{
    CHECK(why.from == core::side::upstream);
    return std::string{core::name(why.code)} + ": " + why.detail;
}

std::string exchanged(exchange_driver& by, const asked& what)
{
    exchange_recorder told;
    net::exchange_request request;
    request.url = what.url;
    request.proxy = what.proxy;
    request.tls.ca_file = what.ca_file;
    request.addresses = what.addresses;
    const auto running = by.client->start(std::move(request), told);
    by.run_until([&] { return !told.ends.empty(); });
    return told.ends.front() ? std::to_string(told.head.value().status) + ' ' + told.body
                             : shown(told.ends.front().error());
}

std::string fetched(const asked& what)
{
    auto request = get(what.url);
    request.proxy = what.proxy;
    request.tls.ca_file = what.ca_file;
    request.addresses = what.addresses;
    const auto got = fetch(std::move(request));
    return got ? std::to_string(got->status) + ' ' + got->body : shown(got.error());
}

std::string outcome(client by, const asked& what)
{
    if (by == client::fetches) {
        return fetched(what);
    }
    exchange_driver driver;
    return exchanged(driver, what);
}

test_support::handler saying(std::string text)
{
    return [text = std::move(text)](const auto&) { return test_support::answer(200, text); };
}

std::shared_ptr<const core::address_rule> public_only()
{
    return std::make_shared<const core::address_rule>(std::vector<std::string>{});
}

// Of the process, until the end of the test.
struct used_proxies {
    used_proxies(const std::string& url, std::vector<std::string> direct)
    {
        REQUIRE(net::use_proxies(secret{url}, std::move(direct)).has_value());
    }
    ~used_proxies() { static_cast<void>(net::use_proxies({}, {})); }
    used_proxies(const used_proxies&) = delete;
    used_proxies& operator=(const used_proxies&) = delete;
};

constexpr client both[] = {client::exchanges, client::fetches};

}  // namespace

TEST_CASE("A proxy makes a tunnel to the name of an https server, whose TLS is the server's own")
{
    test_support::test_ca ca;
    const auto certificate = ca.issue({"agent.test"});
    scripted_agent agent{saying("there"), {.cert_file = certificate.cert_file, .key_file = certificate.key_file}};
    for (const auto by : both) {
        CAPTURE(static_cast<int>(by));
        tunnel_proxy proxy{agent.port()};
        const asked what{"https://agent.test/x?y=1", secret{proxy.url("me:s3%63ret@")}, ca.ca_file(), public_only()};
        CHECK(outcome(by, what) == "200 there");
        REQUIRE(proxy.heads().size() == 1);
        const auto head = proxy.heads().front();
        CHECK(head.starts_with("CONNECT agent.test:443 HTTP/1.1\r\nHost: agent.test:443\r\n"));
        CHECK(head.find("\r\nProxy-Authorization: Basic bWU6czNjcmV0\r\n") != std::string::npos);
        const auto seen = agent.requests().back();
        CHECK(seen.target == "/x?y=1");
        CHECK(seen.header("Host") == "agent.test");
        CHECK(seen.count("Proxy-Authorization") == 0);
        agent.next(test_support::answer(407, "of the agent"));
        CHECK(outcome(by, what) == "407 of the agent");
        const asked other{"https://other.test/", secret{proxy.url()}, ca.ca_file()};
        CHECK(outcome(by, other).starts_with("upstream_tls: "));
    }
}

TEST_CASE("A proxy gets requests to an http server in absolute form, with its own credentials")
{
    for (const auto by : both) {
        CAPTURE(static_cast<int>(by));
        scripted_agent agent{saying("there")};
        tunnel_proxy proxy{agent.port()};
        CHECK(outcome(by, {"http://agent.test:81/x?y=1", secret{proxy.url("me:s3cret@")}}) == "200 there");
        const auto seen = agent.requests().back();
        CHECK(seen.target == "http://agent.test:81/x?y=1");
        CHECK(seen.header("Host") == "agent.test:81");
        CHECK(seen.header("Proxy-Authorization") == "Basic bWU6czNjcmV0");
        CHECK(outcome(by, {"http://agent.test/", secret{proxy.url()}}) == "200 there");
        CHECK(agent.requests().back().target == "http://agent.test/");
        CHECK(agent.requests().back().count("Proxy-Authorization") == 0);
        agent.otherwise([](const auto&) { return test_support::answer(407, "who are you?"); });
        CHECK(outcome(by, {"http://agent.test/", secret{proxy.url()}}) == "upstream_proxy: the proxy answered 407");
    }
}

TEST_CASE("Each way in which a proxy makes no tunnel is its own failure, with its status")
{
    const std::pair<std::string, std::string> rows[] = {
        {"HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic realm=x\r\nContent-Length: 5\r\n\r\nno!!!",
         "the proxy answered 407"},
        {"HTTP/1.1 403 Filtered\r\n\r\n", "the proxy answered 403"},
        {"HTTP/1.0 500 Unable to connect\r\n\r\n", "the proxy answered 500"},
        {"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "the proxy answered 502"},
        {"HTTP/1.1 302 Elsewhere\r\nLocation: http://10.0.0.1/\r\n\r\n", "the proxy answered 302"},
        {"SSH-2.0-OpenSSH\r\n\r\n", ""},
        {"", ""},
        {"HTTP/1.1 2", ""},
    };
    for (const auto by : both) {
        for (const auto& [answer, detail] : rows) {
            CAPTURE(static_cast<int>(by));
            CAPTURE(answer);
            tunnel_proxy proxy{1, answer};
            const auto got = outcome(by, {"https://agent.test/", secret{proxy.url("me:planted@")}});
            CHECK((detail.empty() ? got.starts_with("upstream_proxy: ") : got == "upstream_proxy: " + detail));
            CHECK(got.find("planted") == std::string::npos);
        }
        const auto gone = std::to_string(test_support::unused_port());
        for (const std::string scheme : {"http", "https"}) {
            const auto got = outcome(by, {scheme + "://agent.test/", secret{"http://me:planted@127.0.0.1:" + gone}});
            CAPTURE(got);
            CHECK(got.starts_with("upstream_refused: no connection to the proxy 127.0.0.1:" + gone + ": "));
            CHECK(got.find("planted") == std::string::npos);
        }
    }
}

TEST_CASE("The answer to a tunnel is read in whatever pieces it comes, interim answers before it, and not without end")
{
    test_support::test_ca ca;
    const auto certificate = ca.issue({"agent.test"});
    scripted_agent agent{saying("there"), {.cert_file = certificate.cert_file, .key_file = certificate.key_file}};
    tunnel_proxy proxy{agent.port()};
    const asked what{"https://agent.test/", secret{proxy.url()}, ca.ca_file()};
    const std::string good = "HTTP/1.1 200 OK\r\nX-A: b\r\n\r\n";
    const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
    std::string eight;
    for (int i = 0; i < 8; ++i) {
        eight += interim;
    }
    for (const bool bytewise : {false, true}) {
        CAPTURE(bytewise);
        for (const auto& answer : {good, eight + good, std::string{"HTTP/1.1 204 No\r\n\r\n"}}) {
            proxy.set_answer(answer, bytewise);
            CHECK(outcome(client::exchanges, what) == "200 there");
        }
        // A success has no body, whatever it says (RFC 9110 section 9.3.6).
        proxy.set_answer("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", bytewise);
        CHECK(outcome(client::exchanges, what) == "200 there");
        proxy.set_answer(eight + interim + good, bytewise);
        CHECK(outcome(client::exchanges, what) == "upstream_proxy: the proxy answered 100");
        proxy.set_answer("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n", bytewise);
        CHECK(outcome(client::exchanges, what).starts_with("upstream_proxy: the proxy did not answer in HTTP: "));
        proxy.set_answer(good + "HTTP/1.1 200 planted\r\n\r\n", bytewise);
        const auto more = outcome(client::exchanges, what);
        CAPTURE(more);
        CHECK((more.starts_with("upstream_proxy: bytes followed") || (bytewise && more.starts_with("upstream_tls: "))));
    }
}

TEST_CASE("Connections are kept, and shared only through the same proxy with the same credentials")
{
    scripted_agent agent{saying("there")};
    tunnel_proxy proxy{agent.port()};
    tunnel_proxy other{agent.port()};
    exchange_driver driver;
    for (const auto& [url, connections] :
         {std::pair{proxy.url("me:a@"), 1}, {proxy.url("me:a@"), 1}, {proxy.url("me:b@"), 2}, {other.url("me:a@"), 3}
         }) {
        CHECK(exchanged(driver, {"http://agent.test/", secret{url}}) == "200 there");
        CHECK(agent.accepted_connections() == static_cast<std::size_t>(connections));
    }
}

TEST_CASE(
    "Through a proxy an address that may not be connected to is refused by its spelling, before the proxy is asked"
)
{
    scripted_agent agent{saying("there")};
    tunnel_proxy proxy{agent.port()};
    for (const auto by : both) {
        CAPTURE(static_cast<int>(by));
        for (const std::string host :
             {"10.0.0.1",
              "10.1",
              "0xa000001",
              "167772161",
              "10.0.0.1.",
              "[fd00::1]",
              "[::ffff:10.0.0.1]",
              "1.2.3.4.5",
              "%31%30.0.0.1",
              "a%2fb",
              "127.0.0.1",
              "localhost",
              "2130706433",
              "[::1]",
              "0.0.0.0",
              "a.localhost"}) {
            for (const std::string scheme : {"http", "https"}) {
                CAPTURE(host);
                const auto got = outcome(by, {scheme + "://" + host + "/", secret{proxy.url()}, {}, public_only()});
                CAPTURE(got);
                // Some of these are no URLs at all.
                const bool no_url =
                    got.ends_with("not an http or https URL with a host") || got.ends_with("not an http or https URL");
                const bool no_name = host == "a.localhost" && got.starts_with("upstream_unresolved: ");
                CHECK((got.starts_with("upstream_forbidden: ") || no_url || no_name));
            }
        }
        CHECK(proxy.heads().empty());
    }
    net::add_own_listener({net::asio::ip::make_address("8.8.8.8"), 80});
    for (const auto by : both) {
        CHECK(
            outcome(by, {"http://8.8.8.8/", secret{proxy.url()}, {}, public_only()}).starts_with("upstream_forbidden: ")
        );
        CHECK(outcome(by, {"http://8.8.4.4/", secret{proxy.url()}, {}, public_only()}) == "200 there");
        CHECK(outcome(by, {"http://10.0.0.1/", secret{proxy.url()}}) == "200 there");
    }
    net::remove_own_listener({net::asio::ip::make_address("8.8.8.8"), 80});
}

TEST_CASE("The proxy of the process counts for what names none, but not for its own machine and exempt hosts")
{
    scripted_agent agent{saying("there")};
    tunnel_proxy proxy{agent.port()};
    const used_proxies used{proxy.url(), {"direct.test", "10.0.0.0/8"}};
    for (const auto by : both) {
        CAPTURE(static_cast<int>(by));
        const auto before = proxy.heads().size();
        CHECK(outcome(by, {"http://agent.test/", {}}) == "200 there");
        CHECK(proxy.heads().size() == before + 1);
        CHECK(outcome(by, {agent.url("/"), {}}) == "200 there");
        CHECK(agent.requests().back().target == "/");
        CHECK(outcome(by, {"http://a.direct.test/", {}}).starts_with("upstream_unresolved: "));
        CHECK(outcome(by, {"http://agent.test/", secret{"none"}}).starts_with("upstream_unresolved: "));
        CHECK(outcome(by, {"http://direct.test/", secret{proxy.url()}}) == "200 there");
        CHECK(proxy.heads().size() == before + 2);
    }
}

TEST_CASE("The environment counts only if it is asked for")
{
    scripted_agent agent{saying("there")};
    tunnel_proxy proxy{agent.port()};
    ::setenv("HTTP_PROXY", proxy.url().c_str(), 1);
    ::setenv("NO_PROXY", "direct.test", 1);
    for (const auto by : both) {
        CAPTURE(static_cast<int>(by));
        CHECK(outcome(by, {"http://agent.test/", {}}).starts_with("upstream_unresolved: "));
        {
            const used_proxies used{"environment", {"more.test"}};
            CHECK(outcome(by, {"http://agent.test/", {}}) == "200 there");
            CHECK(outcome(by, {"http://direct.test/", {}}).starts_with("upstream_unresolved: "));
            CHECK(outcome(by, {"http://more.test/", {}}).starts_with("upstream_unresolved: "));
        }
        const used_proxies used{"none", {}};
        CHECK(outcome(by, {"http://agent.test/", {}}).starts_with("upstream_unresolved: "));
        CHECK(outcome(by, {"http://agent.test/", secret{"environment"}}) == "200 there");
        CHECK(outcome(by, {"http://direct.test/", secret{"environment"}}).starts_with("upstream_unresolved: "));
    }
    ::setenv("HTTP_PROXY", "socks5://planted@127.0.0.1:1", 1);
    const auto refused = net::use_proxies(secret{"environment"}, {});
    REQUIRE(refused.has_error());
    CHECK(refused.error().detail == "the proxy is not an http URL");
    ::unsetenv("HTTP_PROXY");
    ::unsetenv("NO_PROXY");
}

TEST_CASE("A target through a proxy has another key, and its requests have the form that the proxy takes")
{
    net::client_contexts contexts;
    const auto target = [&](const std::string& url, const std::string& proxy) {
        return net::make_target(url, {}, contexts, nullptr, secret{proxy}).value();
    };
    const auto direct = target("http://agent.test/x", "");
    const auto plain = target("http://agent.test/x", "http://me:s3cret@proxy.test:3128");
    const auto secure = target("https://agent.test:8443/x", "http://me:s3cret@proxy.test:3128");
    CHECK(direct.through == nullptr);
    CHECK(plain.key != direct.key);
    CHECK(plain.key != target("http://agent.test/x", "http://me:other@proxy.test:3128").key);
    CHECK(plain.key == target("http://agent.test/y", "http://me:s3cret@proxy.test:3128").key);
    CHECK((plain.key + secure.key).find("s3cret") == std::string::npos);
    CHECK(secure.tunnel == "agent.test:8443");
    CHECK(direct.absolute.empty());
    CHECK(secure.absolute.empty());  // within its tunnel
    CHECK(plain.absolute == "http://agent.test");
    CHECK(plain.through->field == "Proxy-Authorization: Basic bWU6czNjcmV0\r\n");
    const auto failed = net::make_target("http://agent.test/", {}, contexts, nullptr, secret{"http://me:s3cret@"});
    REQUIRE(failed.has_error());
    CHECK(failed.error().detail.find("s3cret") == std::string::npos);
}

TEST_SUITE_END();
