#include "core/url.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("core/url");

TEST_CASE("a URL is taken apart, and the port and the path are always there")
{
    const auto plain = core::http_url::parse("http://Agent?x=1#y");
    REQUIRE(plain.has_value());
    CHECK_FALSE(plain->secure);
    CHECK(plain->host == "Agent");
    CHECK(plain->port == "80");
    CHECK(plain->path == "/?x=1");
    CHECK(plain->authority() == "Agent");
    CHECK(plain->origin() == "http://agent:80");

    const auto secure = core::http_url::parse("https://[::1]:8443/a%20b?");
    REQUIRE(secure.has_value());
    CHECK(secure->secure);
    CHECK(secure->host == "::1");
    CHECK(secure->encoded_host == "[::1]");
    CHECK(secure->port == "8443");
    CHECK(secure->path == "/a%20b?");
    CHECK(secure->authority() == "[::1]:8443");
    CHECK(secure->origin() == "https://[::1]:8443");
}

TEST_CASE("an empty port is the scheme's own")
{
    CHECK(core::http_url::parse("https://agent:/")->port == "443");
    CHECK(core::http_url::parse("https://agent:/")->authority() == "agent");
}

TEST_CASE("what is not an http or https URL with a host is none")
{
    for (const auto* url : {"", "agent", "ftp://agent/", "http://", "http:///x", "unix:/tmp/x", "http://a b/"}) {
        CAPTURE(url);
        CHECK_FALSE(core::http_url::parse(url).has_value());
        CHECK(core::origin_of(url).empty());
    }
}

TEST_CASE("a host name that begins like an IPv4 address is not taken for that address")
{
    for (const std::string text :
         {"http://127.0.0.1.example.com", "http://127.0.0.1example.com/", "http://1.2.3.4.5:80/x"}) {
        CAPTURE(text);
        CHECK_FALSE(core::http_url::parse(text).has_value());
        CHECK(core::origin_of(text).empty());
    }
    CHECK(core::http_url::parse("http://127.0.0.1:80/x")->host == "127.0.0.1");
    CHECK(core::http_url::parse("http://a127.0.0.1.example.com")->host == "a127.0.0.1.example.com");
}

TEST_CASE("A URL of gRPC has the address of the http or https URL that it stands for, and is none itself")
{
    CHECK(core::is_grpc_url("grpc://agent:1"));
    CHECK(core::is_grpc_url("GRPCS://agent:1"));
    for (const std::string text : {"grpc:agent", "grpcx://agent", "http://agent", "grpc", "", "://", "xgrpc://a"}) {
        CAPTURE(text);
        CHECK_FALSE(core::is_grpc_url(text));
        CHECK(core::http_form(text) == text);
    }
    CHECK(core::http_form("grpc://agent:1") == "http://agent:1");
    CHECK(core::http_form("grpcs://[::1]:1") == "https://[::1]:1");
    CHECK_FALSE(core::http_url::parse("grpc://agent:1").has_value());
}

TEST_CASE("an origin is normalised")
{
    CHECK(core::origin_of("HTTP://Agent.Example/x") == "http://agent.example:80");
    CHECK(core::origin_of("https://agent") == "https://agent:443");
    CHECK(core::origin_of("https://agent:443/y?z") == "https://agent:443");
    CHECK(core::origin_of("http://agent:8080") == "http://agent:8080");
    CHECK(core::origin_of("http://[::1]:8080/") == "http://[::1]:8080");
}

TEST_CASE("a reference is resolved without its fragment")
{
    CHECK(core::resolved("http://agent/a/b", "c?d#e") == "http://agent/a/c?d");
    CHECK(core::resolved("http://agent/a/b", "//other/c") == "http://other/c");
    CHECK(core::resolved("http://agent/a/b", "https://other") == "https://other");
    CHECK(core::resolved("agent", "c").empty());
    CHECK(core::resolved("http://agent/", "a b").empty());
}

TEST_CASE("Parameters take the place of those of their names, however they are written")
{
    CHECK(core::without_parameters("http://a/p?key=1&x=2&%6Bey=3&keys=4&key", "key=9") == "http://a/p?x=2&keys=4");
    CHECK(core::without_parameters("http://a/p?key=1", "key") == "http://a/p");
    CHECK(core::without_parameters("http://a/p", "key") == "http://a/p");
    CHECK(core::without_parameters("http://a/p?a=1&b=2&c=3", "c=&%61=7") == "http://a/p?b=2");
    CHECK(core::without_parameters("http://a/p?a=1&&b=2", "b") == "http://a/p?a=1&");
    CHECK(core::without_parameters("http://a/p?a=1", "") == "http://a/p?a=1");
    CHECK(core::with_parameters("http://a/p?key=1&x=2", "key=n") == "http://a/p?x=2&key=n");
    CHECK(core::with_parameters("http://a/p", "k%20y=n") == "http://a/p?k%20y=n");
    CHECK(core::with_parameters("http://a/p?k%20y=1", "k%20y=n") == "http://a/p?k%20y=n");
    CHECK(core::with_parameters("http://a/p?key=1", "") == "http://a/p?key=1");
    CHECK(core::with_parameters("/p?b=1&x=2&a=3&b=4", "a=n&b=m&b=o") == "/p?x=2&a=n&b=m&b=o");
    CHECK(core::with_parameters("/p?b=1", "flag&code=a%3D") == "/p?b=1&flag&code=a%3D");
    CHECK(core::decoded("%6b%2") == "k%2");
}

TEST_SUITE_END();
