#include "gateway/admin/admin_guard.hpp"
#include "tests/unit/gateway/console/texts.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/admin/cross_site");

namespace {

bool is_refused(const std::string& line, const std::string& host, const std::string& fields)
{
    const auto text = line + " HTTP/1.1\r\nHost: " + host + "\r\n" + fields + "\r\n";
    const auto head = request_head_of(text);
    return gateway::admin::is_cross_site(head, head.target.substr(0, head.target.find('?')));
}

}  // namespace

TEST_CASE("a request without Origin and Sec-Fetch-Site is no page's, whatever it does")
{
    for (const std::string line : {"POST /rpc", "POST /reload", "DELETE /try/agents/a/mcp", "GET /events", "GET /"}) {
        CAPTURE(line);
        CHECK_FALSE(is_refused(line, "127.0.0.1:4001", ""));
    }
}

TEST_CASE("a page of the admin listener itself may act, under every name that it was asked by")
{
    for (const std::string origin : {"http://localhost:4001", "https://localhost:4001", "http://LOCALHOST:4001"}) {
        CAPTURE(origin);
        const auto fields = "Origin: " + origin + "\r\nSec-Fetch-Site: same-origin\r\n";
        CHECK_FALSE(is_refused("POST /rpc", "localhost:4001", fields));
        CHECK_FALSE(is_refused("GET /events?last=1", "localhost:4001", fields));
        CHECK_FALSE(is_refused("DELETE /try/agents/a/mcp", "localhost:4001", fields));
    }
    CHECK_FALSE(is_refused("POST /rpc", "admin.example", "Origin: https://admin.example\r\n"));
    CHECK_FALSE(is_refused("POST /rpc", "admin.example", "Origin: https://admin.example:443\r\n"));
    CHECK_FALSE(is_refused("POST /rpc", "[::1]:4001", "Origin: http://[::1]:4001\r\n"));
    CHECK_FALSE(is_refused("POST /rpc", "localhost:4001", "Sec-Fetch-Site: none\r\n"));
}

TEST_CASE("a page of any other origin may neither act nor watch")
{
    for (const std::string origin :
         {"null",
          "*",
          "",
          "http://evil.example",
          "http://127.0.0.1:4001",
          "http://localhost",
          "http://localhost:4002",
          "http://localhost:4001.evil.example",
          "http://localhost:4001/",
          "http://localhost:4001@evil.example",
          "http://evil.example#localhost:4001",
          "ftp://localhost:4001",
          "localhost:4001"}) {
        CAPTURE(origin);
        const auto fields = "Origin: " + origin + "\r\n";
        for (const std::string line :
             {"POST /rpc", "POST /reload", "POST /nothing", "DELETE /try/agents/a/mcp", "PUT /rpc", "GET /events"}) {
            CAPTURE(line);
            CHECK(is_refused(line, "localhost:4001", fields));
            CHECK(is_refused(line, "localhost:4001", fields + "Sec-Fetch-Site: same-origin\r\n"));
        }
        CHECK_FALSE(is_refused("GET /metrics", "localhost:4001", fields));
    }
}

TEST_CASE("what a browser says of the page's site counts without an origin too")
{
    for (const std::string site : {"cross-site", "same-site", "", "Same-Origin", "same-origin, none"}) {
        CAPTURE(site);
        const auto fields = "Sec-Fetch-Site: " + site + "\r\n";
        CHECK(is_refused("POST /rpc", "localhost:4001", fields));
        CHECK(is_refused("GET /events", "localhost:4001", fields));
        CHECK(is_refused("POST /rpc", "localhost:4001", "Origin: http://localhost:4001\r\n" + fields));
        CHECK_FALSE(is_refused("GET /console/", "localhost:4001", fields));
    }
}
