#include "gateway/responses/content_type.hpp"

#include "net/http1/head.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

TEST_SUITE_BEGIN("gateway/content_type");

namespace {

bool taken(const std::optional<std::string>& type, bool browser = false, const std::string& further = {})
{
    std::string text = "POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n";
    if (type) {
        text += "Content-Type: " + *type + "\r\n";
    }
    if (browser) {
        text += "Origin: https://elsewhere.example\r\n";
    }
    text += further + "\r\n";
    net::http1::request_parser parser{net::http1::head_limits{}};
    const auto parsed = parser.parse(text);
    REQUIRE(parsed.has_value());
    REQUIRE(*parsed == text.size());
    return gateway::responses::takes_json(parser.head());
}

}  // namespace

TEST_CASE("JSON in UTF-8 is taken under every spelling of its type")
{
    for (const auto* type : {
             "application/json",
             "Application/JSON",
             "application/json;charset=utf-8",
             "application/json; charset=UTF-8",
             "application/json; charset=\"utf-8\"",
             "application/json ; charset=utf-8; profile=x",
             "application/json; profile=x",
             "application/a2a+json",
             "application/vnd.a+json; charset=utf-8",
             "application/json-rpc",
             "Application/JSON-RPC; charset=utf-8",
             "application/jsonrequest",
         }) {
        CAPTURE(type);
        CHECK(taken(type));
        CHECK(taken(type, /*browser=*/true));
    }
}

TEST_CASE("a body in a content coding is not taken")
{
    CHECK(taken("application/json", false, "Content-Encoding: identity\r\n"));
    for (const auto* coding : {"gzip", "br", "deflate", "identity, gzip", "", "x"}) {
        CAPTURE(coding);
        const auto field = "Content-Encoding: " + std::string(coding) + "\r\n";
        CHECK_FALSE(taken("application/json", false, field));
        CHECK_FALSE(taken("application/json", false, "Content-Encoding: identity\r\n" + field));
        CHECK_FALSE(taken(std::nullopt, false, field));
    }
}

TEST_CASE("types that a page of another site may send unasked are not taken")
{
    for (const auto* type : {
             "text/plain",
             "text/plain; application/json",
             "text/json",
             "application/x-www-form-urlencoded",
             "multipart/form-data; boundary=a",
             "application/jsonx",
             "application/xjson",
             "application/+json",
             "application/json+xml",
             "application/json-patch",
             "application/json-rpc2",
             "application/json-rpc; charset=latin1",
             "application/jsonrequests",
             "x/application/json",
             "application/json; charset=latin1",
             "application/json; charset=utf-8; charset=utf-7",
             "application/json; xcharset=utf-8; charset=utf-7",
             "application/json; charset = utf-7",
             "application/json; charset*=utf-7''x",
             "application/json; charset=utf-16",
             "application/json,text/plain",
             "json",
             "",
         }) {
        CAPTURE(type);
        CHECK_FALSE(taken(type));
    }
}

TEST_CASE("a body without a type is taken from what is no browser")
{
    CHECK(taken(std::nullopt));
    CHECK_FALSE(taken(std::nullopt, /*browser=*/true));
}

TEST_SUITE_END();
