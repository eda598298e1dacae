#include "gateway/relay/forwarded.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

using gateway::relay::client_address;
using gateway::relay::forwarding_hop;
using gateway::relay::proxy_trust;
using net::http1::field_list;

TEST_SUITE_BEGIN("gateway/forwarded");

namespace {

using lines = std::vector<std::pair<std::string, std::string>>;

const proxy_trust& proxies()
{
    static const proxy_trust some{{"10.0.0.0/8", "fd00::/8", "192.0.2.7"}};
    return some;
}

field_list fields_of(const lines& written)
{
    field_list fields;
    for (const auto& [name, value] : written) {
        fields.push_back({net::http1::lookup_field(name), name, value});
    }
    return fields;
}

std::string client(const lines& written, std::string_view peer = "10.0.0.1")
{
    return std::string{client_address(peer, fields_of(written), proxies())};
}

std::string client_of(const std::string& list)
{
    return client({{"X-Forwarded-For", list}});
}

std::string client_of_forwarded(const std::string& list)
{
    return client({{"Forwarded", list}});
}

std::string told(const lines& written, const forwarding_hop& hop)
{
    std::string text;
    gateway::relay::write_forwarding_fields(text, fields_of(written), hop);
    return text;
}

constexpr forwarding_hop stranger{"203.0.113.9", "gw.test:4000", "http", false};
constexpr forwarding_hop proxy{"10.0.0.1", "gw.test", "https", true};

}  // namespace

TEST_CASE("an address of the blocks is trusted, whichever way it is written, and nothing else is")
{
    for (const auto* address : {"10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "192.0.2.7"}) {
        CAPTURE(address);
        CHECK(proxies().trusts(address));
    }
    for (const auto* address :
         {"11.0.0.1", "192.0.2.8", "fe80::1", "::10.1.2.3", "", "10.1.2", "unknown", "[fd12::1]"}) {
        CAPTURE(address);
        CHECK_FALSE(proxies().trusts(address));
    }
    CHECK(proxy_trust{{}}.empty());
    CHECK_FALSE(proxy_trust{{}}.trusts("127.0.0.1"));
}

TEST_CASE("the caller is the first address from the right that is not trusted")
{
    CHECK(client({}) == "10.0.0.1");
    CHECK(client_of("203.0.113.1") == "203.0.113.1");
    CHECK(client_of("6.6.6.6, 203.0.113.1") == "203.0.113.1");
    CHECK(client_of("6.6.6.6,203.0.113.1 ,\t10.9.9.9, fd00::5") == "203.0.113.1");
    CHECK(client_of("10.0.0.3, 10.0.0.2") == "10.0.0.3");  // all trusted: the farthest
    CHECK(client({{"X-Forwarded-For", "6.6.6.6, 203.0.113.1"}, {"x-forwarded-for", "10.0.0.2"}}) == "203.0.113.1");
    CHECK(
        client({{"X-Forwarded-For", "10.0.0.4"}, {"Other", "1.1.1.1"}, {"X-Forwarded-For", "10.0.0.2"}}) == "10.0.0.4"
    );
}

TEST_CASE("ports and brackets around an address are no part of it")
{
    CHECK(client_of("203.0.113.1:4711") == "203.0.113.1");
    CHECK(client_of("[2001:db8::1]:443") == "2001:db8::1");
    CHECK(client_of("[2001:db8::1]") == "2001:db8::1");
    CHECK(client_of("2001:db8::1") == "2001:db8::1");
    CHECK(client_of("203.0.113.1, [fd00::9]:80, 10.0.0.2:80") == "203.0.113.1");
}

TEST_CASE("an element that is no address ends the walk in front of it")
{
    for (const std::string element :
         {"unknown",
          "_hidden",
          "",
          " ",
          "localhost",
          "203.0.113.256",
          "203.0.113.1:",
          "203.0.113.1:x",
          "203.0.113.1:123456",
          "[2001:db8::1",
          "2001:db8::1]",
          "[2001:db8::1]x",
          "[2001:db8::1]:",
          "[203.0.113.1]",
          "[]",
          "[",
          "\"203.0.113.1\"",
          "203.0.113.1 203.0.113.2",
          "::1%lo",
          "1.2.3.4:5:6"}) {
        CAPTURE(element);
        CHECK(client_of("6.6.6.6, " + element) == "10.0.0.1");
        CHECK(client_of("6.6.6.6, " + element + ", 10.0.0.2") == "10.0.0.2");
        CHECK(client_of(element + ", 203.0.113.5") == "203.0.113.5");
    }
}

TEST_CASE("Forwarded is the chain where there is no X-Forwarded-For")
{
    CHECK(client_of_forwarded("for=203.0.113.1") == "203.0.113.1");
    CHECK(client_of_forwarded("For=\"203.0.113.1:80\";proto=http, by=10.0.0.9 ; FOR=10.0.0.2") == "203.0.113.1");
    CHECK(client_of_forwarded("for=6.6.6.6, for=\"[2001:db8:cafe::17]:4711\"") == "2001:db8:cafe::17");
    CHECK(client_of_forwarded("for=6.6.6.6, for=\"a,for=1.1.1.1\", for=10.0.0.3") == "10.0.0.3");
    CHECK(client_of_forwarded("for=6.6.6.6, for=unknown, for=10.0.0.3") == "10.0.0.3");
    CHECK(client_of_forwarded("for=6.6.6.6, for=_hidden") == "10.0.0.1");
    CHECK(client_of_forwarded("for=6.6.6.6, proto=https") == "10.0.0.1");
    CHECK(client({{"Forwarded", "for=6.6.6.6"}, {"X-Forwarded-For", "203.0.113.1"}}) == "203.0.113.1");
    CHECK(client({{"Forwarded", "for=\"bad"}, {"Forwarded", "for=203.0.113.1"}}) == "203.0.113.1");
    CHECK(client({{"Forwarded", "for=\"bad"}, {"Forwarded", "for=10.0.0.2"}}) == "10.0.0.2");
}

TEST_CASE("a line of Forwarded that cannot be read ends the walk")
{
    for (const std::string line :
         {"",
          "for",
          "for=",
          "for=\"203.0.113.1",
          "for=203.0.113.1;",
          "for=203.0.113.1,",
          ",for=203.0.113.1",
          "for=203.0.113.1 x",
          "=203.0.113.1",
          "for=\"203.0.113.\\1\"",
          "for=a=b",
          "for=203.0.113.1;;proto=http",
          ";",
          "for=2001:db8::1\"",
          "for=203.0.113.1, "}) {
        CAPTURE(line);
        CHECK(client_of_forwarded(line) == "10.0.0.1");
    }
}

TEST_CASE("a chain of a thousand hops is walked for a hundred of them")
{
    std::string list = "203.0.113.1";
    std::string forwarded = "for=203.0.113.1";
    for (int i = 0; i < 1000; ++i) {
        const auto hop = "10.0." + std::to_string(i / 250) + '.' + std::to_string(i % 250);
        list += ", " + hop;
        forwarded += ", for=" + hop;
    }
    CHECK(client_of(list) == "10.0.3.150");
    CHECK(client_of_forwarded(forwarded) == "10.0.3.150");
    const auto last_hundred = list.substr(list.size() - 12 * 99);
    CHECK(client_of("203.0.113.1, " + last_hundred.substr(last_hundred.find("10."))) == "203.0.113.1");
}

TEST_CASE("A hundred elements of Forwarded are walked and not one more, on one line or on several")
{
    // The caller, then proxies; `split` of them are on a line of their own.
    const auto found = [](int elements, int split) {
        std::string first = "for=203.0.113.1";
        std::string second;
        for (int i = 1; i < elements; ++i) {
            auto& line = i < elements - split ? first : second;
            line += (line.empty() ? "for=10.0.0." : ", for=10.0.0.") + std::to_string(i);
        }
        lines written{{"Forwarded", first}};
        if (split > 0) {
            written.emplace_back("Forwarded", second);
        }
        return client(written);
    };
    for (const int split : {0, 1, 50}) {
        CAPTURE(split);
        CHECK(found(99, split) == "203.0.113.1");
        CHECK(found(100, split) == "203.0.113.1");
        CHECK(found(101, split) == "10.0.0.1");
        CHECK(found(102, split) == "10.0.0.2");
    }
    CHECK(found(202, 101) == "10.0.0.102");
}

TEST_CASE("a stranger's word about its way is replaced by ours")
{
    const lines lies{
        {"X-Forwarded-For", "6.6.6.6"},
        {"X-Forwarded-Host", "evil"},
        {"X-Forwarded-Proto", "https"},
        {"X-Forwarded-Prefix", "/x"},
        {"X-Real-IP", "6.6.6.6"},
        {"Forwarded", "for=6.6.6.6"},
        {"X_Forwarded_For", "6.6.6.6"},
    };
    const std::string wanted =
        "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Host: gw.test:4000\r\n";
    CHECK(told(lies, stranger) == wanted);
    CHECK(told({}, stranger) == wanted);
    CHECK(
        told({}, {"::ffff:203.0.113.9", "", "https", false}) ==
        "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n"
    );
    CHECK(
        told({}, {"2001:db8::9", "", "http", false}) == "X-Forwarded-For: 2001:db8::9\r\nX-Forwarded-Proto: http\r\n"
    );
}

TEST_CASE("a trusted proxy's word passes with its own address behind it")
{
    CHECK(
        told(
            {{"X-Forwarded-For", "6.6.6.6, 203.0.113.1"},
             {"X-Other", "stays out of this"},
             {"x-forwarded-proto", "https"},
             {"X-Forwarded-Host", "agents.example.com"},
             {"X-Forwarded-Prefix", "/x"},
             {"X-Real-IP", "203.0.113.1"},
             {"X_Forwarded_For", "6.6.6.6"},
             {"X-Forwarded-Client_Cert", "x"},
             {"X-Forwarded-For", "10.0.0.2"}},
            proxy
        ) ==
        "x-forwarded-proto: https\r\nX-Forwarded-Host: agents.example.com\r\nX-Forwarded-Prefix: /x\r\n"
        "X-Real-IP: 203.0.113.1\r\nX-Forwarded-For: 6.6.6.6, 203.0.113.1, 10.0.0.2, 10.0.0.1\r\n"
    );
    CHECK(told({}, proxy) == "X-Forwarded-For: 10.0.0.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: gw.test\r\n");
    CHECK(told({{"X-Forwarded-For", ""}}, proxy).starts_with("X-Forwarded-For: 10.0.0.1\r\n"));
}

TEST_CASE("Forwarded goes on with our hop if there was one that can be read")
{
    const auto forwarded = [](const lines& written, const forwarding_hop& hop) {
        const auto text = told(written, hop);
        const auto at = text.find("Forwarded: ", text.find("X-Forwarded-Host"));
        return at == std::string::npos ? std::string{} : text.substr(at);
    };
    CHECK(
        forwarded({{"Forwarded", "for=203.0.113.1;proto=https"}, {"Forwarded", "for=10.0.0.2"}}, proxy) ==
        "Forwarded: for=203.0.113.1;proto=https, for=10.0.0.2, for=10.0.0.1;host=\"gw.test\";proto=https\r\n"
    );
    CHECK(forwarded({{"X-Forwarded-Host", "h"}, {"Forwarded", "for=a"}}, {"fd00::1", "", "http", true})
              .ends_with("Forwarded: for=a, for=\"[fd00::1]\";proto=http\r\n"));
    CHECK(forwarded({{"Forwarded", "for=\"open"}, {"Forwarded", "for=203.0.113.1"}}, proxy) == "");
    CHECK(forwarded({{"Forwarded", "for=203.0.113.1"}, {"Forwarded", "for=\"open"}}, proxy) == "");
    CHECK(forwarded({{"Forwarded", "for="}, {"Forwarded", "for=203.0.113.1"}, {"Forwarded", "for=b"}}, proxy) == "");
    // Behind an open quote our element would be part of somebody's text.
    CHECK(told({{"Forwarded", "for=\"open"}}, proxy).find("\r\nForwarded") == std::string::npos);
}

TEST_CASE("One line of Forwarded that cannot be read keeps all of them back, wherever it stands")
{
    const std::pair<std::string, std::string> open{"Forwarded", "for=\"open"};
    const std::pair<std::string, std::string> good{"Forwarded", "for=203.0.113.1"};
    for (const auto& written : {lines{open, good}, lines{good, open}, lines{good, open, good}}) {
        CHECK(told(written, proxy).find("\r\nForwarded") == std::string::npos);
    }
}

TEST_SUITE_END();
