#include "config/access_providers.hpp"
#include "tests/unit/config/access_rows.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace config::testing;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("config/access_api_keys");

TEST_CASE("An API key is in a header field, a cookie or the query")
{
    const auto place = [](const std::string& more) {
        return type_of<core::api_key_provider>(api_keys(more + "keys: []"));
    };
    CHECK(place("").field == "X-API-Key");
    CHECK(place("").place == core::credential_place::header);
    CHECK(place("header: x!key, ").field == "x!key");
    CHECK(place("in: query, parameter: api_key~1, ").field == "api_key~1");
    const std::string header = "; expected the name of a header field of its own, such as X-API-Key\n";
    check_providers({
        {api_keys("header: \"X Key\", keys: []"),
         "40: access.providers[0].header: \"X Key\" is not the name of a header field" + header},
        {api_keys("header: \"\", keys: []"), "40: access.providers[0].header: is empty" + header},
        {api_keys("cookie: \"a=b\", keys: []"),
         "40: access.providers[0].cookie: \"a=b\" is not the name of a cookie; expected the name of a cookie\n"},
        {api_keys("header: A, cookie: b, keys: []"),
         "51: access.providers[0].cookie: stands beside access.providers[0].header; expected one of the two\n"},
        {api_keys("cookie: b, in: query, parameter: c, keys: []"),
         "47: access.providers[0].in: stands beside access.providers[0].cookie; expected one of the two\n"},
        {api_keys("in: header, keys: []"),
         "36: access.providers[0].in: \"header\" is not a place for keys; expected query, or the key `header` or "
         "`cookie`\n"},
        {api_keys("in: query, keys: []"),
         "7: access.providers[0].parameter: is missing; expected the name of a query parameter\n"},
        {api_keys("in: query, parameter: \"a&b\", keys: []"),
         "54: access.providers[0].parameter: \"a&b\" is not the name of a parameter; expected letters, digits, '.', "
         "'_', '-' and '~'\n"},
        {api_keys("parameter: a, keys: []"),
         "43: access.providers[0].parameter: stands without `in: query`; expected both\n"},
        {"api_key, name: a", "7: access.providers[0].keys: is missing; expected a list of keys\n"},
        {api_keys("keys: {}"), "38: access.providers[0].keys: is a map; expected a list of keys\n"},
    });
    for (const std::string name :
         {"Authorization",
          "cookie",
          "Set-Cookie",
          "HOST",
          "Content-Length",
          "Connection",
          "Keep-Alive",
          "Proxy-Connection",
          "Proxy-Authenticate",
          "Proxy-Authorization",
          "TE",
          "Trailer",
          "Transfer-Encoding",
          "Upgrade",
          "Accept",
          "Content-Type",
          "User-Agent",
          "X-Forwarded-For",
          "X-Goog-IAP-JWT-Assertion"}) {
        CHECK(
            provider_problem(api_keys("header: " + name + ", keys: []")) ==
            "c.yml:3:40: access.providers[0].header: \"" + name + "\" is a header field with another meaning" + header
        );
    }
}

TEST_CASE("A key has a name and a hash, and may expire")
{
    const std::string good = "sha256: " + std::string{hash};
    const std::string at = "access.providers[0].keys[0].";
    const std::string expected = "; expected 64 hexadecimal digits, the SHA-256 of the key\n";
    const std::string time = "; expected a date such as 2027-01-01, or a time in UTC such as 2027-01-01T12:00:00Z\n";
    const auto expires = [&](const std::string& text) { return key(good + ", expires: " + text); };
    check_providers({
        {key(good), ""},
        {key("sha256: s3cr3t"), "57: " + at + "sha256: is not a SHA-256" + expected},
        {key("sha256: " + std::string{hash}.substr(1)), "57: " + at + "sha256: is not a SHA-256" + expected},
        {key("sha256: " + std::string{hash} + "0"), "57: " + at + "sha256: is not a SHA-256" + expected},
        {key("sha256: \"\""), "57: " + at + "sha256: is empty" + expected},
        {key("scopes: a"), "39: " + at + "sha256: is missing" + expected},
        {api_keys("keys: [{" + good + "}]"), "39: " + at + "name: is missing; expected the id of the key's principal\n"
        },
        {api_keys("keys: [a]"),
         "39: access.providers[0].keys[0]: is a single value; expected a map with name and sha256\n"},
        {key(good + ", disabled: no"), "133: " + at + "disabled: \"no\" is not a switch; expected true or false\n"},
        {key(good + ", key: a"),
         "123: " + at +
             "key: is not a known key; known here: name, sha256, scopes, groups, tenant, claims, expires, "
             "disabled\n"},
        {expires("2027-13-01"), "132: " + at + "expires: \"2027-13-01\" is not in the calendar" + time},
        {expires("soon"), "132: " + at + "expires: \"soon\" is not a date, and not a time in UTC" + time},
    });
    const auto until = [&](const std::string& text) {
        return type_of<core::api_key_provider>(expires(text)).keys.at(0).expires;
    };
    CHECK(until("2028-02-29") == core::wall_time{std::chrono::sys_days{2028y / 2 / 29}});
    CHECK(until("2027-01-02T03:04:05Z") == core::wall_time{std::chrono::sys_days{2027y / 1 / 2} + 3h + 4min + 5s});
}

TEST_CASE("A key of an earlier version with a scrypt hash is refused, and its successor named")
{
    const auto refused = "is not a known key; `cardea key new` makes a key that needs only `sha256`\n";
    check_providers({
        {key("scrypt: \"$scrypt$ln=15,r=8,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA\""),
         std::string{"49: access.providers[0].keys[0].scrypt: "} + refused},
    });
}

TEST_SUITE_END();
