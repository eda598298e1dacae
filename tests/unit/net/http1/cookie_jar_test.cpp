#include "net/http1/cookie_jar.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

using namespace net::http1;
using namespace std::chrono_literals;

namespace {

constexpr core::wall_time now{std::chrono::seconds{1'795'000'000}};  // 18 November 2026

constexpr cookie_source from{.host = "mcp.example.com", .path = "/a/b?key=1", .secure = true};

bool take(cookie_jar& jar, std::string_view field, core::wall_time at = now)
{
    return jar.take(field, from, at);
}

// What one field leaves for a request to the path that it came from.
std::string sent_after(std::string_view field)
{
    cookie_jar jar;
    take(jar, field);
    return jar.line("/a/b", now);
}

}  // namespace

TEST_SUITE_BEGIN("net/http1/cookie_jar");

TEST_CASE("A jar sends back what a server has set, and nothing of its attributes")
{
    CHECK(sent_after("AWSALB=x1/y+z==; Path=/; HttpOnly; SameSite=None; Secure; Partitioned") == "AWSALB=x1/y+z==");
    CHECK(sent_after(R"( name = "a value" )") == R"(name="a value")");
    CHECK(sent_after("empty=;Path=/") == "empty=");
    for (const auto* const ignored : {"", "no-name", "=value", ";a=b", "a=b\r\nX: y", "a=b\x7f", "a=\xc3\xa4"}) {
        CAPTURE(ignored);
        CHECK(sent_after(ignored).empty());
    }
}

TEST_CASE("A cookie goes to its path and below, and the longest path comes first")
{
    cookie_jar jar;
    CHECK(take(jar, "root=1; Path=/"));
    CHECK(take(jar, "own=2"));  // of /a, where the request went
    CHECK(take(jar, "deep=3; Path=/a/b"));
    CHECK(take(jar, "odd=4; Path=elsewhere"));
    CHECK(jar.line("/a/b?q=/", now) == "deep=3; own=2; odd=4; root=1");
    CHECK(jar.line("/a/b/c", now) == "deep=3; own=2; odd=4; root=1");
    CHECK(jar.line("/a/bc", now) == "own=2; odd=4; root=1");
    CHECK(jar.line("/ab", now) == "root=1");
    CHECK(jar.line("/", now) == "root=1");
}

TEST_CASE("A cookie of a domain above the host stays with the host, and one of another domain is ignored")
{
    for (const auto* const taken : {"mcp.example.com", ".MCP.example.com", "example.com", ".example.com", "com", ""}) {
        CAPTURE(taken);
        CHECK(sent_after("a=b; Domain=" + std::string{taken}) == "a=b");
    }
    for (const auto* const other : {"example.org", "ample.com", "x.mcp.example.com", "..example.com"}) {
        CAPTURE(other);
        CHECK(sent_after("a=b; Domain=" + std::string{other}).empty());
    }
}

TEST_CASE("A Secure cookie is ignored unless it came over https")
{
    cookie_jar jar;
    CHECK_FALSE(jar.take("a=b; Secure", {.host = "h", .path = "/", .secure = false}, now));
    CHECK(jar.take("c=d", {.host = "h", .path = "/", .secure = false}, now));
    CHECK(jar.line("/", now) == "c=d");
}

TEST_CASE("A cookie ends with its Max-Age, else with its Expires, else with its session")
{
    cookie_jar jar;
    take(jar, "aged=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
    take(jar, "dated=2; Expires=Wed, 18 Nov 2026 11:06:41 GMT");  // a second after now
    take(jar, "odd=3; Max-Age=soon; Expires=never");
    CHECK(jar.line("/a", now) == "aged=1; dated=2; odd=3");
    CHECK(jar.line("/a", now + 2s) == "aged=1; odd=3");
    CHECK(jar.line("/a", now + 60s) == "odd=3");
    CHECK(jar.line("/a", now + 24h * 3000) == "odd=3");
}

TEST_CASE("A jar reads dates as browsers do, and keeps no cookie for more than 400 days")
{
    for (const auto* const later :
         {"Thu, 19-Nov-26 00:00:00 GMT",
          "Thu Nov 19 00:00:00 2026",
          "19 november 2026 0:0:0",
          "Fri, 31 Dec 9999 23:59:59 GMT"}) {
        CAPTURE(later);
        cookie_jar jar;
        CHECK(take(jar, "a=b; Expires=" + std::string{later}));
        CHECK(jar.line("/a", now) == "a=b");
        CHECK(jar.line("/a", now + 24h * 400).empty());
    }
    for (const auto* const never :
         {"31 Feb 2026 00:00:00", "19 Nov 1600 00:00:00", "19 Nov 2026 24:00:00", "19 Nov 2026"}) {
        CAPTURE(never);
        cookie_jar jar;
        CHECK(take(jar, "a=b; Expires=" + std::string{never}));
        CHECK(jar.line("/a", now + 24h * 4000) == "a=b");
    }
    CHECK(sent_after("a=b; Expires=Sun, 01 Jan 1601 00:00:00 GMT").empty());
    cookie_jar jar;
    take(jar, "a=b; Max-Age=99999999999999999999999");
    CHECK(jar.line("/a", now + 24h * 399) == "a=b");
    CHECK(jar.line("/a", now + 24h * 400).empty());
}

TEST_CASE("A server replaces and deletes its own cookies, and only a change counts as one")
{
    cookie_jar jar;
    CHECK(take(jar, "a=1"));
    CHECK(take(jar, "b=2"));
    CHECK_FALSE(take(jar, "a=1"));
    CHECK(take(jar, "a=3"));
    CHECK(take(jar, "a=4; Path=/"));
    CHECK(jar.line("/a", now) == "a=3; b=2; a=4");
    CHECK_FALSE(take(jar, "c=; Max-Age=0"));
    CHECK(take(jar, "a=; Max-Age=-1"));
    CHECK(take(jar, "b=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT"));
    CHECK(jar.line("/a", now) == "a=4");
}

TEST_CASE("A cookie that is repeated to live longer is a change once half of its time is over")
{
    cookie_jar jar;
    CHECK(take(jar, "a=1; Max-Age=100"));
    CHECK_FALSE(take(jar, "a=1; Max-Age=100", now + 49s));
    CHECK(take(jar, "a=1; Max-Age=100", now + 50s));
    CHECK(jar.line("/a", now + 149s) == "a=1");
    CHECK(take(jar, "a=1; Max-Age=40", now + 51s) == false);  // it ends sooner, and is repeated in time
    CHECK(take(jar, "a=2; Max-Age=100", now + 51s));
    CHECK(take(jar, "a=2", now + 51s));
}

TEST_CASE("A jar holds at most 16 cookies, and an expired one makes room")
{
    cookie_jar jar;
    CHECK(take(jar, "c0=x; Max-Age=10"));
    for (std::size_t i = 1; i + 1 < cookie_jar::most; ++i) {
        CHECK(take(jar, "c" + std::to_string(i) + "=x"));
    }
    CHECK(take(jar, "last=x"));
    CHECK_FALSE(take(jar, "over=x"));
    CHECK(take(jar, "last=y"));
    CHECK(take(jar, "over=x", now + 10s));
    CHECK(jar.line("/a", now).find("over=x") != std::string::npos);
}

TEST_CASE("A jar holds at most 4096 bytes of names, values and paths")
{
    const std::string most(cookie_jar::most_bytes - std::string_view{"a/a"}.size(), 'v');
    for (const std::size_t less : {1U, 0U}) {
        cookie_jar jar;
        CHECK(take(jar, "a=" + most.substr(less)));
        CHECK(take(jar, "b=") == false);
    }
    cookie_jar jar;
    CHECK_FALSE(take(jar, "a=" + most + "v"));
    CHECK(take(jar, "a=1"));
    CHECK_FALSE(take(jar, "a=" + most + "v"));
    CHECK(jar.line("/a", now) == "a=1");
}

TEST_CASE("A jar is the same after it was written and read")
{
    cookie_jar jar;
    CHECK(jar.to_text().empty());
    take(jar, "a=1=2; Max-Age=100");
    take(jar, "b=\"x y\"; Path=/; Expires=Thu, 19 Nov 2026 00:00:00 GMT");
    take(jar, "c=; Path=/a/b/");
    CHECK(cookie_jar::of_text(jar.to_text()) == jar);
    for (const auto* const odd :
         {"x", "\t\t=v", "y\t\ta=b", "99999999999999999999\t\ta=b", "\t\ta=\x01", "-1\t\ta=b"}) {
        CAPTURE(odd);
        CHECK(cookie_jar::of_text(odd).empty());
    }
}

TEST_SUITE_END();
