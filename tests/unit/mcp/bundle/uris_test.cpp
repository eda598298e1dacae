#include "mcp/bundle/names.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("mcp/bundle/uris");

using mcp::exposed_uri;
using mcp::may_expand_to;
using mcp::own_uri;

TEST_CASE("a URI has the scheme of the member in front, and one of an app behind its slashes")
{
    CHECK(exposed_uri("team-files", "file:///a/b?c#d") == "team-files+file:///a/b?c#d");
    CHECK(exposed_uri("a", "ui://view/x") == "ui://a+view/x");
    CHECK(exposed_uri("a", "ui:/x") == "a+ui:/x");
    CHECK(exposed_uri("a", "x://{id}{?q}") == "a+x://{id}{?q}");
    CHECK(exposed_uri("", "ui://x") == "ui://x");
    CHECK(exposed_uri("a", "") == "a+");
}

TEST_CASE("the member's URI is found behind its scheme in any case")
{
    CHECK(own_uri("a", "a+file:///x") == "file:///x");
    CHECK(own_uri("a", "A+file:///x") == "file:///x");
    CHECK(own_uri("a", "ui://A+x") == "ui://x");
    CHECK(own_uri("", "ui://x") == "ui://x");
    CHECK(own_uri("git", "git+https://h/x") == "https://h/x");
    CHECK_FALSE(own_uri("a", "ab+file:///x"));
    CHECK_FALSE(own_uri("ab", "a+file:///x"));
    CHECK_FALSE(own_uri("a", "file:///x"));
    CHECK_FALSE(own_uri("a", "ui://x"));
    // No resource is exposed like this.
    CHECK_FALSE(own_uri("a", "a+ui://x"));
    CHECK_FALSE(own_uri("a", "a"));
    CHECK_FALSE(own_uri("a", ""));
}

TEST_CASE("a template may expand to URIs with its literal parts")
{
    CHECK(may_expand_to("test://template/{id}/data", "test://template/7/data"));
    CHECK_FALSE(may_expand_to("test://template/{id}/data", "test://template/7/8/data"));
    CHECK_FALSE(may_expand_to("test://template/{id}/data", "test://template/7/date"));
    CHECK(may_expand_to("x://{a}-{b}.txt", "x://1-2-3.txt"));
    CHECK_FALSE(may_expand_to("x://{a}-{b}.txt", "x://12.txt"));
    CHECK(may_expand_to("file:///{+path}", "file:///a/b/c"));
    CHECK(may_expand_to("repo://{owner}/contents{/path*}", "repo://me/contents/a/b"));
    CHECK(may_expand_to("x://s{?q,p}", "x://s?q=1"));
    CHECK_FALSE(may_expand_to("x://s{?q}", "y://s?q=1"));
    CHECK(may_expand_to("x://plain", "x://plain"));
    CHECK_FALSE(may_expand_to("x://plain", "x://plain/"));
    CHECK(may_expand_to("x://{a}", "x://"));
    CHECK_FALSE(may_expand_to("x://{a", "x://1"));
    CHECK_FALSE(may_expand_to("ab{x}ba", "aba"));
    CHECK_FALSE(may_expand_to("{+x}", std::string(5000, 'a')));
}

TEST_SUITE_END();
