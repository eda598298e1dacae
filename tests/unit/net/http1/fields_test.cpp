#include "net/http1/fields.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

using namespace net::http1;

namespace {

struct known {
    std::string_view text;
    field_name id;
};

constexpr std::array names{
    known{"Accept-Encoding", field_name::accept_encoding},
    known{"Access-Control-Allow-Origin", field_name::of_origin},
    known{"Access-Control-", field_name::of_origin},
    known{"Accept-CH", field_name::of_origin},
    known{"Alt-Svc", field_name::of_origin},
    known{"API-Key", field_name::api_key},
    known{"Authorization", field_name::authorization},
    known{"Clear-Site-Data", field_name::of_origin},
    known{"NEL", field_name::of_origin},
    known{"Public-Key-Pins-Report-Only", field_name::of_origin},
    known{"Report-To", field_name::of_origin},
    known{"Reporting-Endpoints", field_name::of_origin},
    known{"Service-Worker-Allowed", field_name::of_origin},
    known{"Set-Cookie2", field_name::of_origin},
    known{"Strict-Transport-Security", field_name::of_origin},
    known{"X-Accel-Redirect", field_name::of_origin},
    known{"X-API-Key", field_name::api_key},
    known{"X-LiteSpeed-Purge", field_name::of_origin},
    known{"X-Reproxy-URL", field_name::of_origin},
    known{"X-Sendfile", field_name::of_origin},
    known{"Cardea-Error", field_name::cardea},
    known{"Cardea-", field_name::cardea},
    known{"Connection", field_name::connection},
    known{"Content-Encoding", field_name::content_encoding},
    known{"Content-Length", field_name::content_length},
    known{"Content-Type", field_name::content_type},
    known{"Cookie", field_name::cookie},
    known{"Date", field_name::date},
    known{"Expect", field_name::expect},
    known{"Forwarded", field_name::forwarded},
    known{"Host", field_name::host},
    known{"HTTP2-Settings", field_name::http2_settings},
    known{"If-Modified-Since", field_name::if_modified_since},
    known{"If-None-Match", field_name::if_none_match},
    known{"Keep-Alive", field_name::keep_alive},
    known{"Origin", field_name::origin},
    known{"Proxy-Authenticate", field_name::proxy_authenticate},
    known{"Proxy-Authorization", field_name::proxy_authorization},
    known{"Proxy-Connection", field_name::proxy_connection},
    known{"Server", field_name::server},
    known{"Set-Cookie", field_name::set_cookie},
    known{"TE", field_name::te},
    known{"Traceparent", field_name::traceparent},
    known{"Tracestate", field_name::tracestate},
    known{"Trailer", field_name::trailer},
    known{"Transfer-Encoding", field_name::transfer_encoding},
    known{"Upgrade", field_name::upgrade},
    known{"Via", field_name::via},
    known{"X-Forwarded-", field_name::x_forwarded},
    known{"X-Forwarded-For", field_name::x_forwarded},
    known{"X-Forwarded-Proto", field_name::x_forwarded},
    known{"X-Forwarded-Some-Later-Invention", field_name::x_forwarded},
    known{"X-Real-IP", field_name::x_forwarded},
};

// How many bytes of the name matter.
std::size_t prefix_of(std::string_view text)
{
    for (const std::string_view prefix :
         {"Cardea-", "X-Forwarded-", "Access-Control-", "X-Accel-", "X-LiteSpeed-", "X-Reproxy-", "X-Sendfile"}) {
        if (text.starts_with(prefix)) {
            return prefix.size();
        }
    }
    return text.size();
}

std::string cased(std::string_view text, int (*to)(int))
{
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(), [to](unsigned char byte) {
        return static_cast<char>(to(byte));
    });
    return out;
}

}  // namespace

TEST_SUITE_BEGIN("net/http1/fields");

TEST_CASE("a known name is found in any case")
{
    for (const auto& [text, id] : names) {
        CAPTURE(text);
        CHECK(lookup_field(text) == id);
        CHECK(lookup_field(cased(text, std::tolower)) == id);
        CHECK(lookup_field(cased(text, std::toupper)) == id);
    }
}

TEST_CASE("a name that differs from a known one in any byte is another")
{
    for (const auto& [text, id] : names) {
        const std::size_t prefix = prefix_of(text);
        for (std::size_t at = 0; at < prefix; ++at) {
            std::string other{text};
            other[at] = '_';
            CAPTURE(other);
            CHECK(lookup_field(other) == field_name::other);
            if (std::isalpha(static_cast<unsigned char>(text[at])) == 0) {
                // 0x20 apart is another case for letters only.
                other[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ 0x20U);
                CHECK(lookup_field(other) == field_name::other);
            }
        }
        if (text != "X-API-Key") {
            CHECK(lookup_field(text.substr(1)) == field_name::other);
        }
    }
    for (const std::string_view text :
         {"", "X", "Cardea", "X-Forwarded", "Content-Lengths", "Hosts", "XHost", "Alt-Svcs", "Accept"}) {
        CHECK(lookup_field(text) == field_name::other);
    }
}

TEST_CASE("the first field of a name is found, by number and by name")
{
    const field_list fields{
        {field_name::other, "X-A", "1"},
        {field_name::host, "Host", "gw.test"},
        {field_name::other, "x-a", "2"},
    };
    REQUIRE(find(fields, field_name::host) != nullptr);
    CHECK(*find(fields, field_name::host) == "gw.test");
    CHECK(find(fields, field_name::via) == nullptr);
    REQUIRE(find(fields, "x-A") != nullptr);
    CHECK(*find(fields, "x-A") == "1");
    CHECK(find(fields, "x-b") == nullptr);
}

TEST_CASE("what frames a message or a connection ends at this hop, and nothing else does")
{
    const std::array ending{
        field_name::connection,
        field_name::content_length,
        field_name::http2_settings,
        field_name::keep_alive,
        field_name::proxy_authenticate,
        field_name::proxy_authorization,
        field_name::proxy_connection,
        field_name::te,
        field_name::trailer,
        field_name::transfer_encoding,
        field_name::upgrade,
    };
    for (const auto& [text, id] : names) {
        CAPTURE(text);
        CHECK(hop_by_hop(id) == (std::find(ending.begin(), ending.end(), id) != ending.end()));
    }
    CHECK_FALSE(hop_by_hop(field_name::other));
}

TEST_CASE("every Connection field is searched for a name, element by element")
{
    const field_list fields{
        {field_name::connection, "Connection", "close, X-One,\tx-two ,,X-Five"},
        {field_name::other, "X-Other", "X-Four"},
        {field_name::connection, "connection", "X-Three"},
    };
    for (const std::string_view name : {"close", "x-one", "X-TWO", "x-five", "x-three"}) {
        CAPTURE(name);
        CHECK(named_by_connection(fields, name));
    }
    for (const std::string_view name : {"x-on", "one", "x-four", "x-one,", "close, X-One", "x-three "}) {
        CAPTURE(name);
        CHECK_FALSE(named_by_connection(fields, name));
    }
    CHECK_FALSE(named_by_connection({}, "close"));
    CHECK_FALSE(named_by_connection({{field_name::connection, "Connection", ""}}, "close"));
}

TEST_SUITE_END();
