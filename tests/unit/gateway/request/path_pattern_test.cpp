#include "gateway/request/path_pattern.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/path_pattern");

using gateway::request::fits;
using gateway::request::unambiguous;

TEST_CASE("a pattern fits whole paths, segment by segment")
{
    struct row {
        const char* pattern;
        const char* path;
        bool expected;
    };
    for (const auto& each : std::vector<row>{
             {"/v1", "/v1", true},
             {"/v1", "/v1/", false},
             {"/v1", "/v1x", false},
             {"/v1", "/v", false},
             {"/v1", "/V1", false},
             {"/v1/*", "/v1/a", true},
             {"/v1/*", "/v1/", true},
             {"/v1/*", "/v1", false},
             {"/v1/*", "/v1/a/b", false},
             {"/v1/*.json", "/v1/a.json", true},
             {"/v1/*.json", "/v1/a.json.x", false},
             {"/v1/a*b*c", "/v1/aXbYc", true},
             {"/v1/a*b*c", "/v1/acb", false},
             {"/**", "/", true},
             {"/**", "/a", true},
             {"/**", "/a/b/c", true},
             {"/v1/**", "/v1", true},
             {"/v1/**", "/v1/a/b", true},
             {"/v1/**", "/v2/a", false},
             {"/**/end", "/end", true},
             {"/**/end", "/a/b/end", true},
             {"/**/end", "/a/end/b", false},
             {"/a/**/b/**/c", "/a/b/c", true},
             {"/a/**/b/**/c", "/a/x/b/y/z/c", true},
             {"/a/**/b/**/c", "/a/x/c", false},
             {"/*/x", "/a/x", true},
             {"/*/x", "/a/b/x", false},
             {"/a%20b", "/a b", false},
         }) {
        CAPTURE(each.pattern);
        CAPTURE(each.path);
        CHECK(fits(each.pattern, each.path) == each.expected);
    }
}

TEST_CASE("no pattern takes long to say no")
{
    std::string pattern;
    std::string path;
    for (int i = 0; i < 200; ++i) {
        pattern += "/**/*a*a*a*";
        path += "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
    }
    CHECK_FALSE(fits(pattern + "/never", path));
}

TEST_CASE("a path is ambiguous when a segment is or decodes to a dot segment, or hides a separator")
{
    for (const auto* path :
         {"/",
          "/a",
          "/a/",
          "/a//b",
          "/.well-known/x",
          "/...",
          "/a.b/..c/d..",
          "/a;x=..",
          "/a%20b",
          "/%2ea",
          "/a/%C3%A4",
          "/;x",
          "/a%3f"}) {
        CAPTURE(path);
        CHECK(unambiguous(path));
    }
    for (const auto* path :
         {"/.",
          "/..",
          "/a/./b",
          "/a/../b",
          "/%2e",
          "/%2E%2e",
          "/.%2e/x",
          "/a/..;/b",
          "/a/.;x=1/b",
          "/a%2fb",
          "/a%2Fb",
          "/a%5cb",
          "/a\\b",
          "/a%00"}) {
        CAPTURE(path);
        CHECK_FALSE(unambiguous(path));
    }
}

TEST_SUITE_END();
