#include "gateway/request/cross_origin.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/cross_origin");

using gateway::request::origin_verdict;

namespace {

const std::vector<std::string> own{"https://gateway.example/base", "http://127.0.0.1:4000"};
const std::vector<std::string> listed{"https://app.example.com", "https://b.example:8443/", "vscode-webview://abc"};

origin_verdict judge(std::string_view origin, bool loopback = false, unsigned count = 1)
{
    return gateway::request::judge_origin(origin, count, {.own = own, .loopback_listener = loopback, .listed = listed});
}

}  // namespace

TEST_CASE("the gateway's own origin and the listed ones are allowed")
{
    CHECK(judge("https://gateway.example") == origin_verdict::own);
    CHECK(judge("https://GATEWAY.example:443") == origin_verdict::own);
    CHECK(judge("http://127.0.0.1:4000") == origin_verdict::own);
    CHECK(judge("https://app.example.com") == origin_verdict::listed);
    CHECK(judge("https://b.example:8443") == origin_verdict::listed);
    CHECK(judge("vscode-webview://abc") == origin_verdict::listed);
    CHECK(judge("", false, 0) == origin_verdict::none);
}

TEST_CASE("every other origin is forbidden")
{
    for (const std::string origin :
         {"null",
          "",
          "*",
          "http://evil.example.com",
          "http://gateway.example",
          "https://gateway.example:444",
          "https://gateway.example.evil.com",
          "https://evil.com#https://gateway.example",
          "https://gateway.example@evil.com",
          "https://gateway.example/",
          "https://gateway.example/base",
          "https://app.example.com evil",
          "vscode-webview://abcd",
          "gateway.example",
          "https://",
          "://"}) {
        CAPTURE(origin);
        CHECK(judge(origin) == origin_verdict::forbidden);
        CHECK(judge(origin, true) == origin_verdict::forbidden);
    }
    CHECK(judge("https://gateway.example", false, 2) == origin_verdict::forbidden);
}

TEST_CASE("null is forbidden even if it is listed")
{
    const std::vector<std::string> null{"null", ""};
    for (const auto* const origin : {"null", ""}) {
        CHECK(
            gateway::request::judge_origin(origin, 1, {.own = null, .loopback_listener = true, .listed = null}) ==
            origin_verdict::forbidden
        );
    }
}

TEST_CASE("pages of this machine are allowed on a listener of this machine only")
{
    for (const std::string origin :
         {"http://localhost",
          "http://localhost:6274",
          "https://LOCALHOST:1",
          "http://127.0.0.1:8080",
          "http://127.9.8.7",
          "http://[::1]:3000"}) {
        CAPTURE(origin);
        CHECK(judge(origin, true) == origin_verdict::loopback);
        CHECK(judge(origin) == origin_verdict::forbidden);
    }
    for (const std::string origin :
         {"http://localhost.evil.com",
          "http://127.0.0.1.evil.com",
          "http://128.0.0.1",
          "http://[::2]",
          "ftp://localhost",
          "http://localhost/",
          "http://evil@localhost"}) {
        CAPTURE(origin);
        CHECK(judge(origin, true) == origin_verdict::forbidden);
    }
}

TEST_CASE("An origin with any port fits every port of its scheme and host, and nothing else")
{
    const std::vector<std::string> any{"http://localhost:*", "https://[::1]:*"};
    const auto is_listed = [&](std::string_view origin) {
        return gateway::request::judge_origin(origin, 1, {.own = own, .listed = any}) == origin_verdict::listed;
    };
    for (const std::string origin :
         {"http://localhost", "http://localhost:80", "http://LOCALHOST:5173", "https://[::1]:8443"}) {
        CAPTURE(origin);
        CHECK(is_listed(origin));
    }
    for (const std::string origin :
         {"https://localhost:5173",
          "http://localhost.evil.com:80",
          "http://localhost:*",
          "http://xlocalhost:80",
          "https://[::2]:1",
          "null"}) {
        CAPTURE(origin);
        CHECK_FALSE(is_listed(origin));
    }
}

TEST_CASE("The previous name of the list counts too")
{
    CHECK(
        gateway::request::judge_origin("https://app.example.com", 1, {.own = own, .listed = {}, .also = listed}) ==
        origin_verdict::listed
    );
}

TEST_SUITE_END();
