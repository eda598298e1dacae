#include "net/upstream/upstream.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("net/target");

namespace {

core::result<net::upstream_target> make(const std::string& url, const std::string& ca_file = "")
{
    net::client_contexts contexts;
    return net::make_target(url, {.ca_file = ca_file, .cert_file = "", .key_file = ""}, contexts);
}

}  // namespace

TEST_CASE("a URL is taken apart into where to connect and what to ask for")
{
    struct row {
        const char* url;
        const char* host;
        const char* port;
        const char* authority;
        const char* path;
    };
    const row rows[] = {
        {"http://agent", "agent", "80", "agent", "/"},
        {"http://agent/", "agent", "80", "agent", "/"},
        {"http://agent:80/rpc", "agent", "80", "agent", "/rpc"},
        {"http://agent:8080/a/b/", "agent", "8080", "agent:8080", "/a/b/"},
        {"http://agent:8080/a%20b?x=1&y=%2f", "agent", "8080", "agent:8080", "/a%20b?x=1&y=%2f"},
        {"http://[::1]:9/x", "::1", "9", "[::1]:9", "/x"},
        {"http://127.0.0.1:1", "127.0.0.1", "1", "127.0.0.1:1", "/"},
    };
    for (const auto& each : rows) {
        CAPTURE(each.url);
        const auto target = make(each.url);
        REQUIRE(target.has_value());
        CHECK(target->host == each.host);
        CHECK(target->port == each.port);
        CHECK(target->authority == each.authority);
        CHECK(target->path == each.path);
        CHECK(target->tls == nullptr);
    }
}

TEST_CASE("connections are shared by scheme, host, port and trust store, not by path")
{
    const test_support::test_ca ca;
    const auto key = [](const char* url, const std::string& ca_file) {
        const auto target = make(url, ca_file);
        REQUIRE(target.has_value());
        return target->key;
    };
    CHECK(key("http://agent/a", "") == key("http://agent:80/b?c", ""));
    CHECK(key("http://agent/a", "") != key("http://agent:81/a", ""));
    CHECK(key("https://agent", "") == key("https://agent:443/x", ""));
    CHECK(key("https://agent", "") != key("http://agent:443", ""));
    CHECK(key("https://agent", "") != key("https://agent", ca.ca_file()));
}

TEST_CASE("https comes with a TLS context, and a trust store that cannot be used is refused")
{
    const auto target = make("https://agent:8443/x");
    REQUIRE(target.has_value());
    CHECK(target->tls != nullptr);
    CHECK(target->authority == "agent:8443");

    const auto refused = make("https://agent", "/nonexistent/ca.pem");
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == core::errc::config_invalid);
    CHECK(refused.error().detail.find("/nonexistent/ca.pem") != std::string::npos);
}

TEST_CASE("what is not an http or https URL is refused")
{
    for (const auto* url : {"", "agent", "ftp://agent/", "http://", "http:///x", "unix:/tmp/x", "http://a b/"}) {
        CAPTURE(url);
        CHECK(make(url).has_error());
    }
}

TEST_SUITE_END();
