#include "gateway/access/credential_reader.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

namespace {

using core::credential_place;
using gateway::access::credential_reader;

// What the reader makes of a request: "none", "bearer:TEXT", "NAME:TEXT", or the code of the failure.
std::string found_in(const credential_reader& reader, const std::string& target, const std::string& lines)
{
    const std::string text = "GET " + target + " HTTP/1.1\r\nHost: gw.test\r\n" + lines + "\r\n";
    net::http1::request_parser parser{{}};
    const auto parsed = parser.parse(text);
    REQUIRE(parsed.has_value());
    const auto found = reader.read(parser.head());
    if (!found) {
        return std::string{core::name(found.error().code)};
    }
    if (!*found) {
        return "none";
    }
    return ((*found)->field == nullptr ? "bearer" : (*found)->field->name) + ":" + std::string{(*found)->text()};
}

credential_reader header_and_cookie()
{
    return credential_reader{{{credential_place::header, "X-API-Key"}, {credential_place::cookie, "session"}}};
}

TEST_SUITE("credential reader")
{
    TEST_CASE("A request without a credential has none")
    {
        CHECK(found_in(header_and_cookie(), "/agents/a", "") == "none");
        CHECK(found_in(header_and_cookie(), "/agents/a?x=1&y", "X-Other: 1\r\nCookie: theme=dark\r\n") == "none");
    }

    TEST_CASE("A bearer token is found whatever the case of its scheme")
    {
        for (const auto* scheme : {"Bearer", "bearer", "BEARER"}) {
            CAPTURE(scheme);
            CHECK(
                found_in(header_and_cookie(), "/", "Authorization: " + std::string{scheme} + " abc\r\n") == "bearer:abc"
            );
        }
        CHECK(found_in(header_and_cookie(), "/", "Authorization: Bearer   abc\r\n") == "bearer:abc");
    }

    TEST_CASE("Another scheme, and a credential without text, is refused as no credential that is known")
    {
        for (const auto* value : {"Basic YTpi", "Bearer", "Bearer ", "Bearerabc", "abc", "", "Digest username=\"a\""}) {
            CAPTURE(value);
            CHECK(
                found_in(header_and_cookie(), "/", "Authorization: " + std::string{value} + "\r\n") == "unauthenticated"
            );
        }
        CHECK(found_in(header_and_cookie(), "/", "X-API-Key:\r\n") == "unauthenticated");
        CHECK(found_in(header_and_cookie(), "/", "Cookie: session=\r\n") == "unauthenticated");
    }

    TEST_CASE("A key is found in its header, in any case of the name, and in its cookie")
    {
        CHECK(found_in(header_and_cookie(), "/", "x-api-key: k1\r\n") == "X-API-Key:k1");
        CHECK(found_in(header_and_cookie(), "/", "Cookie: a=b; session=k2; c=d\r\n") == "session:k2");
        CHECK(found_in(header_and_cookie(), "/", "Cookie: Session=k2\r\n") == "none");
    }

    TEST_CASE("A cookie is not read where no provider reads one")
    {
        const credential_reader reader{{{credential_place::header, "X-API-Key"}}};
        CHECK(found_in(reader, "/", "Cookie: session=k2\r\n") == "none");
    }

    TEST_CASE("Two credentials are refused as a bad request, of one kind or of two")
    {
        for (const auto* lines :
             {"Authorization: Bearer a\r\nX-API-Key: b\r\n",
              "X-API-Key: a\r\nx-api-key: a\r\n",
              "X-API-Key: a\r\nX-API-Key:\r\n",
              "Cookie: session=a; session=a\r\n",
              "Cookie: session=a\r\nCookie: session=b\r\n",
              "Cookie: session=a\r\nX-API-Key: a\r\n",
              "Authorization: Bearer\r\nX-API-Key: b\r\n",
              "X-API-Key: b\r\nAuthorization: BEARER  \r\n"}) {
            CAPTURE(lines);
            CHECK(found_in(header_and_cookie(), "/", lines) == "bad_request");
        }
    }

    TEST_CASE("A credential in the query is refused where no provider reads it, however its name is written")
    {
        for (const auto* target :
             {"/?access_token=a",
              "/?x=1&access_token=a",
              "/?%61ccess_token=a",
              "/?access%5ftoken=a",
              "/?access_token",
              "/?X-API-Key=a",
              "/?x-api-key=a"}) {
            CAPTURE(target);
            CHECK(found_in(header_and_cookie(), target, "") == "bad_request");
        }
        CHECK(found_in(header_and_cookie(), "/?access_tokens=a&xaccess_token=b", "") == "none");
    }

    TEST_CASE("A key in the query is found where a provider reads it there")
    {
        const credential_reader reader{{{credential_place::query, "key"}}};
        CHECK(found_in(reader, "/a?x=1&key=k3&y=2", "") == "key:k3");
        CHECK(found_in(reader, "/a?%6Bey=k3", "") == "key:k3");
        CHECK(found_in(reader, "/a?key=a&key=a", "") == "bad_request");
        CHECK(found_in(reader, "/a?key=a", "Authorization: Bearer b\r\n") == "bad_request");
        CHECK(found_in(reader, "/a?key=", "") == "unauthenticated");
    }

    TEST_CASE("A credential may be as long as the head of a request lets it be")
    {
        const std::string text =
            "GET / HTTP/1.1\r\nHost: gw.test\r\nX-API-Key: " + std::string(16 * 1024, 'k') + "\r\n\r\n";
        net::http1::request_parser parser{{.bytes = 32 * 1024, .fields = 10, .target = 100, .value = 16 * 1024}};
        REQUIRE(parser.parse(text).has_value());
        CHECK(header_and_cookie().read(parser.head()).has_value());
    }

    TEST_CASE("An Authorization that no provider reads is not a credential")
    {
        const credential_reader keys{{{credential_place::header, "X-API-Key"}}, {}, /*reads_bearer=*/false};
        CHECK(found_in(keys, "/", "Authorization: Bearer a\r\nX-API-Key: b\r\n") == "X-API-Key:b");
        CHECK(found_in(keys, "/", "X-API-Key: b\r\nAuthorization: Basic a\r\n") == "X-API-Key:b");
        CHECK(found_in(keys, "/", "Authorization: Bearer a\r\n") == "none");
        CHECK(found_in(keys, "/", "X-API-Key: a\r\nx-api-key: b\r\n") == "bad_request");
    }

    TEST_CASE("An Authorization of a scheme that no provider reads is not a credential beside a key")
    {
        for (const auto* value : {"Basic dTpw", "Negotiate abc", "", "Bearerabc", "Digest username=\"a\""}) {
            CAPTURE(value);
            const auto field = "Authorization: " + std::string{value} + "\r\n";
            CHECK(found_in(header_and_cookie(), "/", field + "X-API-Key: b\r\n") == "X-API-Key:b");
            CHECK(found_in(header_and_cookie(), "/", "Cookie: session=c\r\n" + field) == "session:c");
            CHECK(found_in(header_and_cookie(), "/", field + "X-API-Key:\r\n") == "unauthenticated");
            CHECK(found_in(header_and_cookie(), "/", field + "X-API-Key: b\r\nCookie: session=c\r\n") == "bad_request");
        }
    }

    TEST_CASE("The sentence about one credential that comes twice names its place once")
    {
        const credential_reader all{
            {{credential_place::header, "X-API-Key"},
             {credential_place::cookie, "session"},
             {credential_place::query, "key"}}
        };
        const std::pair<std::string, std::string> rows[] = {
            {"/ HTTP/1.1\r\nHost: gw.test\r\nX-API-Key: s3cret\r\nx-api-key: s3cret", "X-API-Key"},
            {"/ HTTP/1.1\r\nHost: gw.test\r\nCookie: session=s3cret; session=s3cret", "the cookie session"},
            {"/?key=s3cret&key=s3cret HTTP/1.1\r\nHost: gw.test", "the query parameter key"},
        };
        for (const auto& [request, place] : rows) {
            const auto text = "GET " + request + "\r\n\r\n";
            net::http1::request_parser parser{{}};
            REQUIRE(parser.parse(text).has_value());
            const auto found = all.read(parser.head());
            REQUIRE_FALSE(found.has_value());
            CHECK(found.error().detail == "The request has " + place + " twice; send it once.");
        }
    }

    TEST_CASE("An Authorization that is for the agent is not a credential, and a key beside it is")
    {
        const std::string text =
            "GET / HTTP/1.1\r\nHost: gw.test\r\nAuthorization: Bearer t\r\nX-API-Key: key-of-ci\r\n\r\n";
        net::http1::request_parser parser{{}};
        REQUIRE(parser.parse(text).has_value());
        CHECK(header_and_cookie().read(parser.head()).has_error());
        const auto found = header_and_cookie().read(parser.head(), /*for_agent=*/true);
        REQUIRE(found.has_value());
        REQUIRE(found->has_value());
        CHECK((*found)->text() == "key-of-ci");
    }

    TEST_CASE("The sentence about two credentials names the places of both and no credential")
    {
        const std::string text =
            "GET /?key=s3cret HTTP/1.1\r\nHost: gw.test\r\nCookie: session=s3cret\r\nAuthorization: Bearer "
            "s3cret\r\n\r\n";
        net::http1::request_parser parser{{}};
        REQUIRE(parser.parse(text).has_value());
        const credential_reader all{{{credential_place::cookie, "session"}, {credential_place::query, "key"}}};
        const auto found = all.read(parser.head());
        REQUIRE_FALSE(found.has_value());
        CHECK(
            found.error().detail ==
            "The request has two credentials, in the cookie session and in Authorization; send one."
        );
    }

    TEST_CASE("A key in the query is read decoded")
    {
        const credential_reader reader{{{credential_place::query, "key"}}};
        CHECK(found_in(reader, "/a?key=a%2Bb%3D", "") == "key:a+b=");
    }

    TEST_CASE("The query that agents get is without the keys in it")
    {
        const credential_reader reader{{{credential_place::query, "key"}}};
        CHECK(reader.without_keys("").empty());
        CHECK(reader.without_keys("?key=a").empty());
        CHECK(reader.without_keys("?x=1&key=a&y=%20&z") == "?x=1&y=%20&z");
        CHECK(reader.without_keys("?k%65y=a&x=1") == "?x=1");
        CHECK(header_and_cookie().without_keys("?x=1&key=a") == "?x=1&key=a");
    }

    TEST_CASE("Headers that hold keys are known by their names in any case")
    {
        CHECK(header_and_cookie().is_key_header("x-api-KEY"));
        CHECK_FALSE(header_and_cookie().is_key_header("session"));
        CHECK_FALSE(header_and_cookie().is_key_header("X-API-Keys"));
        const credential_reader with_identity{{}, {"X-User"}};
        CHECK(with_identity.is_key_header("x-user"));
        CHECK_FALSE(with_identity.is_key_header("X-API-Key"));
    }
}

}  // namespace
