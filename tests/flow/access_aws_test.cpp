#include "core/base64.hpp"
#include "tests/flow/access_fixture.hpp"

#include <doctest/doctest.h>

#include <array>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/access aws");

namespace {

using namespace flow;

constexpr const char* identity =
    R"({"GetCallerIdentityResponse":{"GetCallerIdentityResult":{"Arn":"arn:aws:iam::123456789012:user/alice",)"
    R"("Account":"123456789012","UserId":"AIDA"}}})";

std::string presigned(const std::string& host)
{
    const auto now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::array<char, 32> date{};
    std::strftime(date.data(), date.size(), "%Y%m%dT%H%M%SZ", &parts);
    return "http://" + host + "/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256" +
           "&X-Amz-Credential=AKIDEXAMPLE%2F" + std::string{date.data(), 8} +
           "%2Fus-east-1%2Fsts%2Faws4_request&X-Amz-Date=" + date.data() +
           "&X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Signature=5ec4e7" + std::string(58, '0');
}

std::string token_for(const std::string& host)
{
    return "forge-aws-v1." + core::base64url(presigned(host));
}

struct aws_gateway {
    config::settings settings() const
    {
        auto made = quick_settings();
        made.limits.failed_credentials = 100'000;
        made.access.providers = {
            {"aws", core::aws_sigv4_provider{.hosts = {host()}}},
            {"check", core::http_verifier_provider{.url = other.url("/")}},
        };
        made.agents = {
            agent("a", upstream.url("/rpc"), everybody_known, only({.tenants = {"123456789012"}})),
            agent("open", upstream.url("/rpc"), anyone, anyone),
        };
        return made;
    }

    std::string host() const { return "127.0.0.1:" + std::to_string(sts.port()); }

    unsigned status(const std::string& text, std::string_view id = "a") const
    {
        return call(gateway.port(), id, bearer(text)).status;
    }

    test_support::scripted_agent upstream{answer_of_agent};
    test_support::scripted_agent sts{[](const auto&) { return test_support::answer_json(identity); }};
    test_support::scripted_agent other;
    running_gateway gateway{settings()};
};

}  // namespace

TEST_CASE("whoever signed a request to AWS calls as the identity that AWS answers, and is asked about once")
{
    aws_gateway with;
    const auto text = token_for(with.host());
    for (int i = 0; i < 3; ++i) {
        CHECK(with.status(text) == 200);
    }
    REQUIRE(with.sts.request_count() == 1);
    CHECK(with.sts.request(0).method == "GET");
    CHECK(with.sts.request(0).header("Accept") == "application/json");
    CHECK(with.sts.request(0).header("Host") == with.host());
    CHECK(with.other.request_count() == 0);
    const auto line = with.gateway.log().wait_for([](std::string_view each) {
        return each.find("\"principal\":\"arn:aws:iam::123456789012:user/alice\",\"provider\":\"aws\"") != each.npos;
    });
    CHECK(line.has_value());
    for (const auto& each : with.gateway.log().all()) {
        CHECK(each.find("5ec4e7") == std::string::npos);
        CHECK(each.find("forge-aws") == std::string::npos);
    }
}

TEST_CASE("a token for another host is refused, and nobody is asked")
{
    aws_gateway with;
    const test_support::scripted_agent stranger;
    CHECK(with.status(token_for("127.0.0.1:" + std::to_string(stranger.port()))) == 401);
    CHECK(with.status("forge-aws-v1.", "open") == 401);
    CHECK(with.status("forge-aws-v1.abc", "open") == 401);
    CHECK(stranger.request_count() == 0);
    CHECK(with.sts.request_count() == 0);
    CHECK(with.other.request_count() == 0);
}

TEST_CASE("AWS refuses, or its tokens get 503")
{
    aws_gateway with;
    const auto text = token_for(with.host());
    with.sts.next(test_support::answer(403, "{}"));
    CHECK(with.status(text, "open") == 401);
    for (const auto& [name, script] : std::vector<std::pair<const char*, test_support::script>>{
             {"500", test_support::answer(500, identity)},
             {"302", test_support::redirect("http://" + with.host() + "/elsewhere")},
             {"html", test_support::html()},
             {"garbage", test_support::answer_json("Arn")},
             {"another type", test_support::answer(200, identity, {{"Content-Type", "text/xml"}})},
             {"an end", test_support::close_unanswered()},
             {"a reset", test_support::reset()},
             {"half a body", test_support::half_body()},
             {"too much", test_support::huge(1 << 20, true)},
         }) {
        CAPTURE(name);
        with.sts.otherwise([script](const auto&) { return script; });
        const auto got = call(with.gateway.port(), "open", bearer(text));
        CHECK(got.status == 503);
        CHECK(got.header("Cardea-Error") == "access_unavailable");
    }
    CHECK(with.upstream.request_count() == 0);
    with.sts.otherwise([](const auto&) { return test_support::answer_json(identity); });
    CHECK(with.status(text, "open") == 200);
}

TEST_SUITE_END();
