#include "config/access_values.hpp"

#include "tests/unit/config/access_rows.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace config::testing;

TEST_SUITE_BEGIN("config/access_values");

TEST_CASE("A principal is described by scopes, groups, a tenant and claims")
{
    const auto with = [](const std::string& more) { return static_token(std::string{token} + ", " + more); };
    const auto bearer = [&](const std::string& more) {
        return type_of<core::static_token_provider>(with(more)).bearer;
    };
    CHECK(bearer("scopes: []").scopes.empty());
    CHECK(bearer("scopes:").scopes.empty());
    CHECK(bearer("scopes: a:b").scopes == std::vector<std::string>{"a:b"});
    CHECK(bearer("groups: [a, 1]").groups == std::vector<std::string>{"a", "1"});
    CHECK(bearer("claims: {}").claims.empty());
    CHECK(
        bearer("claims: {a: [1.0, 007, 0x10, 1e3], b: \"${TTL}\", c: [True, \"true\"]}").claims ==
        std::vector<core::claim>{
            {"a", "1.0"},
            {"a", "007"},
            {"a", "0x10"},
            {"a", "1e3"},
            {"b", "7m"},
            {"c", "true"},
            {"c", "true"}
        }
    );
    CHECK(bearer("principal: " + std::string(256, 'a')).id.size() == 256);
    const std::string at = "62: access.providers[0].";
    check_providers({
        {with("principal: " + std::string(257, 'a')),
         "73: access.providers[0].principal: \"" + std::string(40, 'a') +
             "...\" is longer than 256 bytes; expected the id of a principal\n"},
        {with("principal: \"\""), "73: access.providers[0].principal: is empty; expected the id of a principal\n"},
        {with("tenant: [a]"), "70: access.providers[0].tenant: is a list; expected the name of a tenant\n"},
        {with("scopes: a b"),
         "70: access.providers[0].scopes: \"a b\" has a blank; expected a scope such as cardea:read, or a list of "
         "scopes\n"},
        {with("scopes: [\"\"]"),
         "71: access.providers[0].scopes[0]: is empty; expected a scope such as cardea:read, or a list of scopes\n"},
        {with("groups: {a: b}"), "70: access.providers[0].groups: is a map; expected text, or a list of texts\n"},
        {with("groups: [\"a\\nb\"]"),
         "71: access.providers[0].groups[0]: \"a?b\" has a control character; expected text\n"},
        {with("groups: " + repeated(64, "g", "")), ""},
        {with("groups: " + repeated(65, "g", "")), "70: access.providers[0].groups: has more than 64 elements\n"},
        {with("claims: [a]"),
         "70: access.providers[0].claims: is a list; expected a map from names of claims to values\n"},
        {with("claims: {a: {b: c}}"),
         "74: access.providers[0].claims.a: is a map; expected a value, or a list of values\n"},
        {with("claims: {a: [[b]]}"),
         "75: access.providers[0].claims.a[0]: is a list; expected a value, or a list of values\n"},
        {with("claims: {a: }"),
         "71: access.providers[0].claims.a: has no value; expected a value, or a list of values\n"},
        {with("claims: {a: []}"), "74: access.providers[0].claims.a: is empty; expected a value, or a list of values\n"
        },
        {with("claims: {\"\": b}"),
         "71: access.providers[0].claims.: is not the name of a claim; expected 1 to 256 bytes\n"},
    });
    const auto claims = [](int count) {
        auto map = repeated(count, "c", ": 1");
        map.front() = '{';
        map.back() = '}';
        return "claims: " + map;
    };
    CHECK(bearer(claims(64)).claims.size() == 64);
    CHECK(provider_problem(with(claims(65))) == "c.yml:3:70: access.providers[0].claims: has more than 64 claims\n");
}

TEST_CASE("A time is a date or a time in UTC that is in the calendar")
{
    using config::parse_time;
    for (const auto* text : {"1970-01-01", "2200-12-31", "2027-06-30T23:59:59Z", "2000-02-29T00:00:00Z"}) {
        CAPTURE(text);
        const auto time = parse_time(text);
        REQUIRE(time.has_value());
        CHECK(config::time_text(*time).starts_with(std::string{text}.substr(0, 10)));
        CHECK(parse_time(config::time_text(*time)).value() == *time);
    }
    for (const auto* text :
         {"",
          "2027",
          "2027-1-1",
          "27-01-01",
          "2027-01-01T12:00Z",
          "2027-01-01T12:00:00",
          "2027-01-01t12:00:00z",
          "2027-01-01T12:00:00+01:00",
          "2027-01-01T12:00:00.5Z",
          "2027-01-01 ",
          "+027-01-01"}) {
        CAPTURE(text);
        CHECK(parse_time(text).error().detail == "is not a date, and not a time in UTC");
    }
    for (const auto* text :
         {"2027-00-01",
          "2027-01-00",
          "2027-02-29",
          "2027-04-31",
          "2027-01-01T24:00:00Z",
          "2027-01-01T12:60:00Z",
          "2027-01-01T12:00:60Z"}) {
        CAPTURE(text);
        CHECK(parse_time(text).error().detail == "is not in the calendar");
    }
    for (const auto* text : {"1969-12-31", "2201-01-01", "0000-01-01", "9999-12-31"}) {
        CAPTURE(text);
        CHECK(parse_time(text).error().detail == "is not between 1970 and 2200");
    }
}

TEST_SUITE_END();
