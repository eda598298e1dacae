#include "config/url.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

TEST_SUITE_BEGIN("config/url");

namespace {

std::string shown(const core::result<std::string>& url)
{
    return url ? *url : "failed: " + url.error().detail;
}

}  // namespace

TEST_CASE("an agent's URL stays as it was written, but for the case of scheme and host")
{
    const std::pair<const char*, const char*> rows[] = {
        {"http://h", "http://h"},
        {"http://h/", "http://h/"},
        {"https://agents.example.com:8443/a2a/", "https://agents.example.com:8443/a2a/"},
        {"HTTPS://Agents.Example.COM/A2A/X", "https://agents.example.com/A2A/X"},
        {"http://10.0.0.7:1", "http://10.0.0.7:1"},
        {"http://10.0.0.7:65535/a", "http://10.0.0.7:65535/a"},
        {"http://[::1]:9000/a2a", "http://[::1]:9000/a2a"},
        {"http://[FE80::A]/X", "http://[fe80::a]/X"},
        {"http://a_b-c.d/%7Euser/a;b,c", "http://a_b-c.d/%7Euser/a;b,c"},
        {"http://h//a//", "http://h//a//"},
    };
    for (const auto& [text, meant] : rows) {
        CAPTURE(text);
        CHECK(shown(config::parse_http_url(text)) == meant);
    }
}

TEST_CASE("what is no URL of an agent says why, without a word of the URL")
{
    const std::pair<std::string, const char*> rows[] = {
        {"", "is empty"},
        {"weather", "is not a URL"},
        {"/a2a", "is not a URL"},
        {"//h/a2a", "is not a URL"},
        {"http://h/a b", "is not a URL"},
        {" http://h/", "is not a URL"},
        {"http://h/\r\nX: 1", "is not a URL"},
        {"http://h/%zz", "is not a URL"},
        {"http://h/\xC3\xA9", "is not a URL"},
        {"http://\xC3\xA9/", "is not a URL"},
        {"http://h\\@i/", "is not a URL"},
        {"http://[::1/", "is not a URL"},
        {"http://[::1]x/", "is not a URL"},
        {"h:80", "is not an http or https URL"},
        {"localhost:9000/a2a", "is not an http or https URL"},
        {"ftp://h/", "is not an http or https URL"},
        {"file:///etc/passwd", "is not an http or https URL"},
        {"httpx://h/", "is not an http or https URL"},
        {"http:h", "has no host"},
        {"http:///a", "has no host"},
        {"http://:80/", "has no host"},
        {"http://?x", "has no host"},
        {"http://user@h/", "has a user name or password in it"},
        {"http://user:s3cr3t@h/", "has a user name or password in it"},
        {"http://@h/", "has a user name or password in it"},
        {"http://a%2Fb/", "has no valid host"},
        {"http://a!b/", "has no valid host"},
        {"http://1.2.3/", "has no valid host"},
        {"http://256.1.1.1/", "has no valid host"},
        {"http://2130706433/", "has no valid host"},
        {"http://[v1.x]/", "has no valid host"},
        {"http://h:/", "has no valid port (1 to 65535)"},
        {"http://h:0/", "has no valid port (1 to 65535)"},
        {"http://h:65536/", "has no valid port (1 to 65535)"},
        {"http://h:99999999999999999999/", "has no valid port (1 to 65535)"},
        {"http://h/#", "has a fragment (#)"},
        {"http://h/#x", "has a fragment (#)"},
        {"http://h/?", "has a query (?)"},
        {"http://h?x=1", "has a query (?)"},
    };
    for (const auto& [text, why] : rows) {
        CAPTURE(text);
        CHECK(shown(config::parse_http_url(text)) == std::string{"failed: "} + why);
    }
}

TEST_CASE("a URL has at most 8192 bytes and its host 253")
{
    const auto of_length = [](std::size_t n) { return "http://h/" + std::string(n - 9, 'a'); };
    CHECK(config::parse_http_url(of_length(8191)).has_value());
    CHECK(config::parse_http_url(of_length(8192)).has_value());
    CHECK(shown(config::parse_http_url(of_length(8193))) == "failed: is longer than 8192 bytes");
    CHECK(config::parse_http_url("http://" + std::string(252, 'a')).has_value());
    CHECK(config::parse_http_url("http://" + std::string(253, 'a')).has_value());
    CHECK(shown(config::parse_http_url("http://" + std::string(254, 'a'))) == "failed: has no valid host");
}

TEST_CASE("a card's URL may have a query, and no fragment")
{
    CHECK(shown(config::parse_http_url("http://H?A=B", config::query::allowed)) == "http://h?A=B");
    CHECK(
        shown(config::parse_http_url("http://h/c?a=b&sig=X%3D", config::query::allowed)) == "http://h/c?a=b&sig=X%3D"
    );
    CHECK(shown(config::parse_http_url("http://h/c?a#b", config::query::allowed)) == "failed: has a fragment (#)");
}

TEST_CASE("the gateway's own address has neither trailing slash nor query")
{
    CHECK(shown(config::parse_base_url("https://Agents.example.com")) == "https://agents.example.com");
    CHECK(shown(config::parse_base_url("https://agents.example.com/")) == "https://agents.example.com");
    CHECK(shown(config::parse_base_url("https://agents.example.com/base//")) == "https://agents.example.com/base");
    CHECK(shown(config::parse_base_url("https://h/?x")) == "failed: has a query (?)");
    CHECK(shown(config::parse_base_url("https://h/#x")) == "failed: has a fragment (#)");
    CHECK(shown(config::parse_base_url("h:80")) == "failed: is not an http or https URL");
}

TEST_SUITE_END();
