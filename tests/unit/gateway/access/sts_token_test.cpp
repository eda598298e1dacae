#include "core/base64.hpp"
#include "gateway/access/sts_verifier.hpp"
#include "tests/unit/gateway/access/key_set_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using core::errc;
using namespace gateway::access;

constexpr core::wall_time now{1'800'000'000s};  // 2027-01-15T08:00:00Z

const std::string signature(64, '5');
const std::string query =
    "Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256"
    "&X-Amz-Credential=AKIDEXAMPLE%2F20270115%2Fus-east-1%2Fsts%2Faws4_request&X-Amz-Date=20270115T075930Z"
    "&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Security-Token=IQoJb3%3D&X-Amz-Signature=" +
    signature;

std::string token_of(const std::string& url)
{
    return std::string{sts_token_prefix} + core::base64url(url);
}

std::string replaced(std::string text, std::string_view before, std::string_view after)
{
    const auto at = text.find(before);
    REQUIRE(at != std::string::npos);
    return text.replace(at, before.size(), after);
}

bool is_read(const std::string& url, const std::vector<std::string>& hosts = {})
{
    const auto got = read_sts_token(token_of(url), {hosts}, now);
    if (!got) {
        CHECK(got.error().code == errc::unauthenticated);
        CHECK(got.error().detail.find("AKID") == std::string::npos);
    }
    return got.has_value();
}

std::string identity(const std::string& arn, const std::string& account)
{
    return R"({"GetCallerIdentityResponse":{"GetCallerIdentityResult":{"Arn":")" + arn + R"(","Account":")" + account +
           R"(","UserId":"AIDA"},"ResponseMetadata":{"RequestId":"1"}}})";
}

core::result<net::fetch_response> json_answer(std::string body, unsigned status = 200)
{
    return net::fetch_response{status, {{"content-type", "application/json"}}, std::move(body)};
}

errc failure(const core::result<net::fetch_response>& answer)
{
    const auto got = read_sts_answer(answer, "aws");
    return got ? errc::internal : got.error().code;
}

TEST_SUITE("access sts_token")
{
    TEST_CASE("A token is a presigned request to an allowed host")
    {
        const auto url = "https://sts.amazonaws.com/?" + query;
        const auto read = read_sts_token(token_of(url), {}, now);
        REQUIRE(read.has_value());
        CHECK(read->request.url == url);
        CHECK_FALSE(read->request.body.has_value());
        CHECK(read->expires == now + 30s);
        CHECK(is_read("https://sts.eu-west-1.amazonaws.com/?" + query));
        CHECK(is_read("https://sts.us-gov-west-1.amazonaws.com/?" + query));
        // What else Amazon serves there may be a customer's.
        for (const auto* const host :
             {"s3", "s3-us-west-2", "eu-west", "-west-1", "eu-west-", "eu--1", "eu-west-1.s3"}) {
            CAPTURE(host);
            CHECK_FALSE(is_read("https://sts." + std::string{host} + ".amazonaws.com/?" + query));
        }
        CHECK(is_read("https://sts.example:8443/?" + query, {"sts.example:8443"}));
        CHECK(is_read("http://127.0.0.1:4566/?" + query, {"127.0.0.1:4566"}));
        CHECK(is_read("http://localhost:4566/?" + query, {"localhost:4566"}));
    }

    TEST_CASE("A request to another place is not sent")
    {
        for (const auto& begin : std::vector<std::string>{
                 "http://sts.amazonaws.com/?",
                 "HTTPS://sts.amazonaws.com/?",
                 "https://STS.amazonaws.com/?",
                 "https://sts.amazonaws.com:443/?",
                 "https://sts.amazonaws.com./?",
                 "https://sts.evilamazonaws.com/?",
                 "https://sts..amazonaws.com/?",
                 "https://sts.a.b.amazonaws.com/?",
                 "https://sts.EU.amazonaws.com/?",
                 "https://sts.amazonaws.com.evil.example/?",
                 "https://stsamazonaws.com/?",
                 "https://iam.amazonaws.com/?",
                 "https://evil.example/?",
                 "https://127.0.0.1/?",
                 "https://169.254.169.254/?",
                 "https://evil.example@sts.amazonaws.com/?",
                 "https://sts.amazonaws.com@evil.example/?",
                 "https://evil.example#@sts.amazonaws.com/?",
                 "https://evil.example\\sts.amazonaws.com/?",
                 "https://sts.amazonaws.com\\@evil.example/?",
                 "https://sts.amazonaws.com\t/?",
                 "https://sts.amazonaws.com%00.evil.example/?",
                 "https://sts.amazonaws.com/x?",
                 "https://sts.amazonaws.com//?",
                 "https://sts.amazonaws.com?",
                 "https:/sts.amazonaws.com/?",
                 "https:sts.amazonaws.com/?",
                 "//sts.amazonaws.com/?",
                 " https://sts.amazonaws.com/?",
                 "https:///?",
                 "ftp://sts.amazonaws.com/?",
                 "",
             }) {
            CAPTURE(begin);
            CHECK_FALSE(is_read(begin + query));
        }
        CHECK_FALSE(is_read("https://sts.amazonaws.com/?" + query, {"sts.example"}));
        CHECK_FALSE(is_read("http://sts.example/?" + query, {"sts.example"}));
    }

    TEST_CASE("Only GetCallerIdentity that signs no header but Host is sent, and only in its time")
    {
        const std::string begin = "https://sts.amazonaws.com/?";
        for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{
                 {"Action=GetCallerIdentity", "Action=AssumeRole"},
                 {"Action=GetCallerIdentity", "action=GetCallerIdentity"},
                 {"Action=GetCallerIdentity&", ""},
                 {"Action=GetCallerIdentity", "Action=GetCallerIdentity&Action=AssumeRole"},
                 {"Action=", "%41ction="},
                 {"Version=2011-06-15", "Version=2012-06-15"},
                 {"AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"},
                 {"&X-Amz-Signature=" + signature, ""},
                 {signature, signature.substr(1)},
                 {signature, signature + '5'},
                 {signature, std::string(64, 'A')},
                 {signature, std::string(64, 'g')},
                 {"SignedHeaders=host", "SignedHeaders=host%3Bx-k8s-aws-id"},
                 {"SignedHeaders=host", "SignedHeaders="},
                 {"X-Amz-Expires=60", "X-Amz-Expires=0"},
                 {"X-Amz-Expires=60", "X-Amz-Expires=-60"},
                 {"X-Amz-Expires=60", "X-Amz-Expires=604801"},
                 {"X-Amz-Expires=60", "X-Amz-Expires=30"},
                 {"X-Amz-Expires=60", "X-Amz-Expires=6e1"},
                 {"20270115T075930Z", "20270115T080501Z"},
                 {"20270115T075930Z", "2027-01-15T07:59:30Z"},
                 {"20270115T075930Z", "20271315T075930Z"},
                 {signature, signature + "&RoleArn=a"},
                 {signature, signature + "#a"},
                 {signature, signature + "&a"},
                 {signature, signature.substr(1) + ' '},
                 {"AKIDEXAMPLE%2F20270115%2Fus-east-1%2Fsts%2Faws4_request", "AKIDEXAMPLE"},
                 {"AKIDEXAMPLE", ""},
                 {"AKIDEXAMPLE", "AKID%2FEXAMPLE"},
                 {"AKIDEXAMPLE", "AKID%41"},
                 {"%2F20270115", "%2F20270114"},
                 {"us-east-1%2F", "%2F"},
                 {"us-east-1%2F", ""},
                 {"%2Fsts%2F", "%2Fs3%2F"},
                 {"aws4_request", "aws4_request%2F"},
                 {"aws4_request", "aws4"},
                 {"20270115T075930Z", "20270114T075930Z"},
             }) {
            CAPTURE(after);
            CHECK_FALSE(is_read(begin + replaced(query, before, after)));
        }
        CHECK(is_read(begin + replaced(query, "X-Amz-Expires=60", "X-Amz-Expires=31")));
        CHECK(is_read(begin + replaced(query, "20270115T075930Z", "20270115T080500Z")));
        CHECK(is_read(begin + replaced(query, "%2Fsts%2F", "%2fsts%2f")));
        CHECK(is_read(begin + replaced(query, "&X-Amz-Security-Token=IQoJb3%3D", "")));
    }

    TEST_CASE("What is no such token is refused")
    {
        const auto good = token_of("https://sts.amazonaws.com/?" + query);
        for (const auto& token :
             {std::string{}, std::string{sts_token_prefix}, good + "=", good + "*", good.substr(1), "x" + good}) {
            CHECK_FALSE(read_sts_token(token, {}, now).has_value());
        }
    }

    TEST_CASE("The answer says who signed")
    {
        const auto owner =
            read_sts_answer(json_answer(identity("arn:aws:iam::123456789012:user/alice", "123456789012")), "aws");
        CHECK(
            owner.value() ==
            core::principal{
                .id = "arn:aws:iam::123456789012:user/alice",
                .provider = "aws",
                .tenant = "123456789012",
                .scopes = {},
                .groups = {},
                .claims = {{"user_id", "AIDA"}}
            }
        );
        CHECK(failure(json_answer("{}", 403)) == errc::unauthenticated);
        CHECK(failure(json_answer("{}", 401)) == errc::unauthenticated);
        for (const unsigned status : {302U, 400U, 404U, 429U, 500U, 503U}) {
            CHECK(failure(json_answer(identity("arn:aws:x", "123456789012"), status)) == errc::access_unavailable);
        }
        for (const auto& body : std::vector<std::string>{
                 "",
                 "<GetCallerIdentityResponse/>",
                 "{}",
                 R"({"GetCallerIdentityResponse":[]})",
                 identity("", "123456789012"),
                 identity("alice", "123456789012"),
                 identity("arn:aws:x", "12345678901"),
                 identity("arn:aws:x", "12345678901x"),
                 identity("arn:aws:" + std::string(256, 'x'), "123456789012"),
             }) {
            CAPTURE(body);
            CHECK(failure(json_answer(body)) == errc::access_unavailable);
        }
    }

    TEST_CASE("A token is asked about once at a time, and its principal is known until its request expires")
    {
        access_test::key_set_rig x;
        sts_verifier verifier{x.fetcher, [] { return now; }};
        CHECK_FALSE(verifier.recognises(token_of("a")));
        verifier.set_providers({{"aws", core::aws_sigv4_provider{}}});
        CHECK(verifier.recognises(token_of("a")));
        CHECK_FALSE(verifier.recognises("forge-aws-v2.a"));
        x.fetcher.answer = json_answer(identity("arn:aws:x", "123456789012"));
        x.fetcher.silent = true;
        const auto url = "https://sts.amazonaws.com/?" + query;
        const auto first = x.begin(verifier.verify(token_of(url)));
        const auto second = x.begin(verifier.verify(token_of(url)));
        x.fetcher.release();
        x.run_until([&] { return first->has_value() && second->has_value(); });
        CHECK(x.fetcher.fetches == 1);
        CHECK((**first).value().owner->id == "arn:aws:x");
        CHECK((**second).value().until == now + 30s);
        const auto longer = replaced(url, "X-Amz-Expires=60", "X-Amz-Expires=900");
        CHECK(x.run(verifier.verify(token_of(longer))).value().until == now + 60s);
        CHECK(x.run(verifier.verify(token_of("https://evil.example/?" + query))).error().code == errc::unauthenticated);
        CHECK(x.fetcher.fetches == 2);
        verifier.stop();
        CHECK(x.run(verifier.verify(token_of(url))).error().code == errc::access_unavailable);
        CHECK(x.fetcher.fetches == 2);
    }
}

}  // namespace
