#include "gateway/tokens/token_request.hpp"

#include "tests/unit/gateway/tokens/token_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("gateway/token_request");

namespace {

using namespace tokens_test;
using gateway::tokens::read_token;
using gateway::tokens::renewal_after;

std::string header(const net::fetch_request& request, std::string_view name)
{
    for (const auto& [each, value] : request.headers) {
        if (each == name) {
            return value;
        }
    }
    return {};
}

core::result<gateway::tokens::granted_token> read(const std::string& body, unsigned status = 200)
{
    return read_token({.status = status, .headers = {}, .body = body});
}

// Of an answer with these members beside a good token.
core::result<gateway::tokens::granted_token> with(const std::string& members)
{
    return read(R"({"access_token":"t","token_type":"bearer")" + members + "}");
}

}  // namespace

TEST_CASE("a token is asked for by a form, and the client shows who it is in a header field")
{
    auto client = client_named("me:1");
    client.client_secret = core::secret{"a b%"};
    client.scopes = {"words:call", "words:read"};
    client.audience = "https://words.test";
    client.resource = "urn:r";
    const auto request = gateway::tokens::token_request(client);
    CHECK(request.url == "https://as.test/token");
    CHECK(
        request.body ==
        "grant_type=client_credentials&scope=words%3Acall%20words%3Aread&"
        "audience=https%3A%2F%2Fwords.test&resource=urn%3Ar"
    );
    CHECK(header(request, "Content-Type") == "application/x-www-form-urlencoded");
    // base64 of "me%3A1:a%20b%25".
    CHECK(header(request, "Authorization") == "Basic bWUlM0ExOmElMjBiJTI1");
}

TEST_CASE("a client that says so shows who it is in the form instead")
{
    auto client = client_named("me");
    client.authentication = core::client_authentication::post;
    const auto request = gateway::tokens::token_request(client);
    CHECK(request.body == "grant_type=client_credentials&client_id=me&client_secret=planted-secret");
    CHECK(header(request, "Authorization").empty());
}

TEST_CASE("a caller's token is exchanged by a form that says what it is and what is wanted")
{
    auto client = client_named("me");
    client.scopes = {"words:call"};
    client.audience = "words";
    client.resource = "urn:r";
    client.grant = core::oauth_grant::token_exchange;
    const auto request = gateway::tokens::exchange_request(
        client,
        {"a", client, core::secret{"of alice&"}, "urn:ietf:params:oauth:token-type:jwt", {}}
    );
    CHECK(
        request.body ==
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=of%20alice%26&"
        "subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Ajwt&"
        "requested_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token&"
        "scope=words%3Acall&audience=words&resource=urn%3Ar"
    );
    CHECK(request.url == "https://as.test/token");
    CHECK(header(request, "Authorization") == "Basic bWU6cGxhbnRlZC1zZWNyZXQ=");
    CHECK(gateway::tokens::token_request(client).body->starts_with("grant_type=client_credentials&"));
}

TEST_CASE("what a caller's token is exchanged for is a bearer token, issued as an access token or a JWT")
{
    const auto read_exchanged = [](const std::string& members, unsigned status = 200) {
        const auto read = gateway::tokens::read_exchanged_token(
            {.status = status, .headers = {}, .body = R"({"access_token":"t")" + members + "}"}
        );
        return read ? read->text.reveal() : std::string{core::name(read.error().code)};
    };
    const std::string issued = R"(,"issued_token_type":"urn:ietf:params:oauth:token-type:)";
    const std::string bearer = R"(,"token_type":"Bearer")";
    CHECK(read_exchanged(issued + "access_token\"" + bearer) == "t");
    CHECK(read_exchanged(issued + "jwt\"" + bearer) == "t");
    for (const auto& members :
         {bearer,
          issued + "refresh_token\"" + bearer,
          issued + "id_token\"" + bearer,
          issued + "saml2\"" + bearer,
          R"(,"issued_token_type":7)" + bearer,
          issued + "jwt\"",
          issued + R"(jwt","token_type":"N_A")"}) {
        CAPTURE(members);
        CHECK(read_exchanged(members) == "upstream_credentials");
    }
    const std::pair<std::string, bool> codes[] = {
        {"invalid_request", true},
        {"invalid_grant", true},
        {"invalid_scope", true},
        {"invalid_target", true},
        {"invalid_token", true},
        {"access_denied", true},
        {"invalid_client", false},
        {"unauthorized_client", false},
        {"unsupported_grant_type", false},
        {"planted", false},
    };
    for (const auto& [code, forbids] : codes) {
        CAPTURE(code);
        const auto error = R"(,"error":")" + code + "\"";
        CHECK(read_exchanged(error, 400) == (forbids ? "forbidden" : "upstream_credentials"));
        CHECK(read_exchanged(error, 403) == (forbids ? "forbidden" : "upstream_credentials"));
        CHECK(read_exchanged(error, 500) == "upstream_credentials");
        // A token of the gateway's own is no matter of a caller.
        CHECK(read(R"({"error":")" + code + "\"}", 400).error().code == core::errc::upstream_credentials);
    }
}

TEST_CASE("an answer with a bearer token is one, with its life")
{
    const auto granted = with(R"(,"expires_in":3600)");
    REQUIRE(granted.has_value());
    CHECK(granted->text.reveal() == "t");
    CHECK(granted->life == 3600s);
    CHECK(with(R"(,"expires_in":"3600")")->life == 3600s);
    CHECK(with("")->life == 300s);
    CHECK(with(R"(,"expires_in":null)")->life == 300s);
    CHECK(with(R"(,"expires_in":86399)")->life == 86'399s);
    CHECK(with(R"(,"expires_in":86400)")->life == 86'400s);
    CHECK(with(R"(,"expires_in":86401)")->life == 86'400s);
    CHECK(with(R"(,"expires_in":"99999999999999999999999")")->life == 86'400s);
}

TEST_CASE("any other answer is no token, and its words stay out of the log but for known codes")
{
    const std::pair<std::string, unsigned> rows[] = {
        {R"({"error":"planted"})", 400},
        {R"({"access_token":"t","token_type":"bearer"})", 201},
        {R"({"access_token":"t","token_type":"bearer"})", 302},
        {"planted", 200},
        {"[]", 200},
        {"", 200},
        {R"({"access_token":"t"})", 200},
        {R"({"access_token":"t","token_type":"mac"})", 200},
        {R"({"token_type":"bearer"})", 200},
        {R"({"access_token":"","token_type":"bearer"})", 200},
        {R"({"access_token":7,"token_type":"bearer"})", 200},
        {R"({"access_token":"a b","token_type":"bearer"})", 200},
        {R"({"access_token":"a\r\nX: planted","token_type":"bearer"})", 200},
        {R"({"access_token":"t","token_type":"bearer","expires_in":0})", 200},
        {R"({"access_token":"t","token_type":"bearer","expires_in":-1})", 200},
        {R"({"access_token":"t","token_type":"bearer","expires_in":1.5})", 200},
        {R"({"access_token":"t","token_type":"bearer","expires_in":"1h"})", 200},
        {R"({"access_token":"t","token_type":"bearer","expires_in":{}})", 200},
    };
    for (const auto& [body, status] : rows) {
        CAPTURE(body);
        const auto refused = read(body, status);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().code == core::errc::upstream_credentials);
        CHECK(refused.error().detail.find("planted") == std::string::npos);
    }
    CHECK(read(R"({"error":"invalid_client"})", 401).error().detail == "token endpoint: status 401, invalid_client");
}

TEST_CASE("a token has at most 16 KiB")
{
    const auto sized = [](std::size_t n) {
        return read(R"({"token_type":"bearer","access_token":")" + std::string(n, 't') + "\"}").has_value();
    };
    CHECK(sized(16'383));
    CHECK(sized(16'384));
    CHECK_FALSE(sized(16'385));
}

TEST_CASE("a token is renewed after 80 % of its life or 30 s before its end, but not before half of it")
{
    CHECK(renewal_after(1000s) == 800s);
    CHECK(renewal_after(150s) == 120s);
    CHECK(renewal_after(149s) == 119s);
    CHECK(renewal_after(100s) == 70s);
    CHECK(renewal_after(60s) == 30s);
    CHECK(renewal_after(50s) == 25s);
    CHECK(renewal_after(1s) == 500ms);
}

TEST_SUITE_END();
