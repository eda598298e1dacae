#include "a2a/card/address.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using a2a::authority_of;

TEST_SUITE_BEGIN("a2a/card/address");

TEST_CASE("an address gives its host and port, however it is written")
{
    const std::pair<std::string, std::string> rows[]{
        {"http://agent", "agent:80"},
        {"https://agent/", "agent:443"},
        {"ws://agent/x", "agent:80"},
        {"wss://agent", "agent:443"},
        {"http://agent:9000/a2a?x=http://other#y", "agent:9000"},
        {"http://agent:/a2a", "agent:80"},
        {"HTTP://Agent.Example.COM:9000", "agent.example.com:9000"},
        {"http://agent.example.com.:9000/", "agent.example.com:9000"},
        {"http://user:pass@agent:9000/", "agent:9000"},
        {"http://gateway@agent:9000/", "agent:9000"},
        {"http://[::1]:9000/a2a", "[::1]:9000"},
        {"https://[2001:DB8::1]/a2a", "[2001:db8::1]:443"},
        {"grpc://agent:50051", "agent:50051"},
        {"grpc://agent", "agent"},
        {"//agent:9000/a2a", "agent:9000"},
        {"//agent/a2a", "agent"},
        {"\\\\agent:9000\\a2a", "agent:9000"},
        {"http:\\\\agent:9000\\a2a", "agent:9000"},
        {"http:/agent:9000", "agent:9000"},
        {"http:agent:9000", "agent:9000"},
        {"http:////agent:9000", "agent:9000"},
        {"  \r\n http://agent:9000 \t", "agent:9000"},
        {"ht\ntp://ag\tent:9000", "agent:9000"},
        {"agent:50051", "agent:50051"},
        {"agent:9000/path", "agent:9000"},
        {"grpc.example.com:443", "grpc.example.com:443"},
        {"127.0.0.1:9000", "127.0.0.1:9000"},
        {"[::1]:9000", "[::1]:9000"},
        {"dns:///agent:9000", "agent:9000"},
        {"http://0.0.0.0:{{PORT}}/", "0.0.0.0:{{port}}"},
    };
    for (const auto& [text, expected] : rows) {
        CAPTURE(text);
        CHECK(authority_of(text).value_or("none") == expected);
    }
}

TEST_CASE("what names no host gives nothing")
{
    for (const std::string text :
         {"",
          " ",
          "/",
          "//",
          "http://",
          "http:",
          "/api/v1/a2a",
          "agent",
          "acme",
          "JSONRPC",
          "1.0",
          "urn:a2a:binding",
          "mailto:someone@example.com",
          "a sentence: with 3 words",
          "at 12:30 or 13:00",
          "agent:",
          ":9000",
          "agent:123456",
          "key:value",
          "data:text/plain,x"}) {
        CAPTURE(text);
        CHECK_FALSE(authority_of(text).has_value());
    }
}

TEST_CASE("a URI has a scheme and something behind it, and no character that a URI cannot have")
{
    for (const auto* text :
         {"https://a.example/x?y#z", "urn:a:b", "x-y+z.1:q", "mailto:a@b", "https://[::1]/%20", "HTTPS://A"}) {
        CAPTURE(text);
        CHECK(a2a::is_uri(text));
    }
    for (const auto* text :
         {"", "u", "a/b", "/a:b", "//a", "urn:", ":a", "1a:b", "https://a b", "urn:\xC3\xA9", "urn:a\n", "urn:<a>"}) {
        CAPTURE(text);
        CHECK_FALSE(a2a::is_uri(text));
    }
}

TEST_SUITE_END();
