#include "core/proxy.hpp"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("core/proxy");

namespace {

std::string shown(const core::result<core::proxy_address>& read)
{
    return read ? read->user.reveal() + '@' + read->host + ' ' + read->port : read.error().detail;
}

core::http_url url(std::string_view text)
{
    const auto read = core::http_url::parse(text);
    REQUIRE(read.has_value());
    return *read;
}

}  // namespace

TEST_CASE("A proxy is an http URL of a host, with a port, a name and a password if it has them")
{
    const std::pair<std::string_view, std::string> rows[] = {
        {"http://proxy:3128", "@proxy 3128"},
        {"http://Proxy.Example.com", "@Proxy.Example.com 80"},
        {"http://[2001:db8::1]:3128/", "@2001:db8::1 3128"},
        {"http://10.0.0.1:65535", "@10.0.0.1 65535"},
        {"http://user:pa%3Ass%40@proxy:3128", "user:pa:ss@@proxy 3128"},
        {"http://user@proxy:3128", "user:@proxy 3128"},
        {"http://3proxy:3128", "@3proxy 3128"},
        {"", "is empty"},
        {"proxy:3128", "is not an http URL"},
        {"socks5://proxy:1080", "is not an http URL"},
        {"https://proxy:3128", "is an https URL, and proxies are spoken to without TLS"},
        {"http://proxy:3128/path", "has a path, a query or a fragment"},
        {"http://proxy:3128?x", "has a path, a query or a fragment"},
        {"http://proxy:3128#x", "has a path, a query or a fragment"},
        {"http://proxy:0", "has no valid port (1 to 65535)"},
        {"http://proxy:65536", "has no valid port (1 to 65535)"},
        {"http://pro%0d%0axy:1", "has no valid host"},
        {"http://u:p%0d%0aX@proxy:1", "has a control character in its name or password"},
    };
    for (const auto& [text, meant] : rows) {
        CAPTURE(text);
        CHECK(shown(core::proxy_address::parse(text)) == meant);
    }
    CHECK(shown(core::proxy_address::parse("http://u:" + std::string(8 * 1024 - 13, 'p') + "@h:1")).ends_with("@h 1"));
    CHECK(
        shown(core::proxy_address::parse("http://u:" + std::string(8 * 1024 - 12, 'p') + "@h:1")) ==
        "is longer than 8192 bytes"
    );
}

TEST_CASE("A proxy is shown without its name and password")
{
    CHECK(core::shown_proxy("http://user:s3cr3t@proxy:3128") == "http://********@proxy:3128");
    CHECK(core::shown_proxy("http://s3cr3t@proxy") == "http://********@proxy");
    CHECK(core::shown_proxy("http://proxy:3128") == "http://proxy:3128");
    CHECK(core::shown_proxy("environment") == "environment");
    CHECK(core::shown_proxy("s3cr3t@proxy") == core::masked);
    CHECK(core::shown_proxy("").empty());
}

TEST_CASE("The environment names proxies in small letters or in capitals, with and without a scheme")
{
    std::map<std::string, std::string, std::less<>> variables{
        {"HTTP_PROXY", "proxy:80"},
        {"https_proxy", "http://small:1"},
        {"HTTPS_PROXY", "http://capital:2"},
        {"NO_PROXY", " a.test ,,10.0.0.0/8, .b.test:81"},
    };
    const auto read = [&] {
        return core::proxy_rules::of_environment([&](std::string_view name) {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional{found->second};
        });
    };
    const auto rules = read();
    CHECK(rules.http.reveal() == "http://proxy:80");
    CHECK(rules.https.reveal() == "http://small:1");
    CHECK(rules.direct == std::vector<std::string>{"a.test", "10.0.0.0/8", ".b.test:81"});
    variables = {{"https_proxy", ""}, {"HTTPS_PROXY", "capital:2"}};
    CHECK(read().https.reveal() == "http://capital:2");
    CHECK(read().http.empty());
    CHECK(read().direct.empty());
}

TEST_CASE("A name stands for the names below it, an address for each spelling, a port for itself")
{
    const std::pair<const char*, std::vector<std::pair<const char*, bool>>> rows[] = {
        {"*", {{"http://a.test/", true}, {"http://[::1]/", true}}},
        {"example.com",
         {{"http://example.com/", true},
          {"https://EXAMPLE.com./", true},
          {"http://a.b.example.com/", true},
          {"http://notexample.com/", false},
          {"http://example.com.evil.test/", false}}},
        {".example.com", {{"http://example.com/", true}, {"http://a.example.com/", true}, {"http://xample.com", false}}
        },
        {"*.example.com", {{"http://a.example.com/", true}, {"http://badexample.com", false}}},
        {"example.com:8080", {{"http://example.com:8080/", true}, {"http://example.com/", false}}},
        {"example.com:443", {{"https://example.com/", true}, {"http://example.com/", false}}},
        {"10.0.0.0/8", {{"http://10.1.2.3/", true}, {"http://11.0.0.1/", false}, {"http://10.example/", false}}},
        {"10.0.0.1:81", {{"http://10.0.0.1:81/", true}, {"http://10.0.0.1/", false}}},
        {"2001:db8::/32", {{"http://[2001:db8::7]/", true}, {"http://[2001:db9::7]/", false}}},
        {"[2001:db8::1]:81", {{"http://[2001:db8::1]:81/", true}, {"http://[2001:db8::1]/", false}}},
        {"192.168.0.1", {{"http://3232235521/", true}, {"http://192.168.1/", true}, {"http://192.168.0.2/", false}}},
    };
    for (const auto& [host, asked] : rows) {
        CAPTURE(host);
        CHECK(core::valid_direct_host(host));
        for (const auto& [text, direct] : asked) {
            CAPTURE(text);
            CHECK(core::is_direct({host}, url(text)) == direct);
        }
    }
    for (const auto* const none : {"", "a b", "http://h", "h:", "h:x", "10.0.0.1/8", "[::1", "a/b", "*a.test", "."}) {
        CAPTURE(none);
        CHECK_FALSE(core::valid_direct_host(none));
    }
}

TEST_CASE("A host that any reader takes for an address is one, and nothing else is a plain name")
{
    for (const auto* const own :
         {"localhost",
          "LocalHost.",
          "a.localhost",
          "127.0.0.1",
          "127.1",
          "2130706433",
          "0x7f.1",
          "0177.0.0.1",
          "::1",
          "::ffff:127.0.0.1",
          "0",
          "0.0.0.0",
          "::",
          "127.0.0.1."}) {
        CAPTURE(own);
        CHECK(core::is_own_machine(own));
    }
    for (const auto* const other :
         {"10.0.0.1", "localhost.example.com", "notlocalhost", "128.0.0.1", "::2", "agent.test"}) {
        CAPTURE(other);
        CHECK_FALSE(core::is_own_machine(other));
    }
    for (const auto* const literal : {"10.0.0.1", "10.1", "0xa000001", "167772161", "10.0.0.1.", "fd00::1"}) {
        CAPTURE(literal);
        CHECK(core::address_in(literal).has_value());
        CHECK_FALSE(core::is_plain_name(literal));
    }
    for (const auto* const neither :
         {"", ".", "1.2.3.4.5", "a.0x10", "999.1.1.1", "a%b", "a b", "fe80::1%eth0", "a/b", "a@b"}) {
        CAPTURE(neither);
        CHECK_FALSE(core::address_in(neither).has_value());
        CHECK_FALSE(core::is_plain_name(neither));
    }
    for (const auto* const name : {"agent.test", "a_b", "3proxy", "10.example", "xn--abc", "agent.test."}) {
        CAPTURE(name);
        CHECK(core::is_plain_name(name));
    }
}

TEST_SUITE_END();
