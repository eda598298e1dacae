#include "core/json/json.hpp"
#include "gateway/access/external_verifier.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using core::errc;

constexpr core::wall_time now{1'800'000'000s};

core::result<gateway::model::accepted_credential> read(const std::string& body, unsigned status = 200)
{
    const core::result<net::fetch_response> answer =
        net::fetch_response{status, {{"content-type", "application/json"}}, body};
    return gateway::access::read_verifier_answer(answer, "check", 5s, now);
}

std::string refusal(const std::string& body, unsigned status = 200)
{
    const auto got = read(body, status);
    return got ? "accepted" : std::string{core::name(got.error().code)};
}

std::string active(const std::string& more)
{
    return R"({"active":true,"principal":"alice")" + more + '}';
}

TEST_SUITE("access verifier_answer")
{
    TEST_CASE("The question is a POST with the token in JSON")
    {
        core::http_verifier_provider settings{.url = "https://check.example/v?k=1", .timeout = 700ms};
        const auto request = gateway::access::verifier_question(settings, "a\"b");
        CHECK(request.url == settings.url);
        CHECK(request.body == R"({"token":"a\"b"})");
        CHECK(request.timeout == 700ms);
        CHECK(request.connect_timeout == 700ms);
        CHECK(request.max_size == 64 * 1024);
    }

    TEST_CASE("An active token has the principal that the answer describes")
    {
        const auto got = read(active(
            R"(,"scopes":["a","b"],"groups":["g"],"tenant":"acme","claims":{"plan":"gold","level":3,"x":{"y":1}})"
        ));
        CHECK(
            *got.value().owner ==
            core::principal{
                .id = "alice",
                .provider = "check",
                .tenant = "acme",
                .scopes = {"a", "b"},
                .groups = {"g"},
                .claims = {{"plan", "gold"}, {"level", "3"}}
            }
        );
        CHECK(got.value().until == now + 5s);
        CHECK(read(active(R"(,"scopes":"a b")")).value().owner->scopes == std::vector<std::string>{"a", "b"});
    }

    TEST_CASE("An answer is believed until the token expires, and no longer than it is cached")
    {
        CHECK(read(active(R"(,"expires":1800000003)")).value().until == now + 3s);
        CHECK(read(active(R"(,"expires":1800000900)")).value().until == now + 5s);
        CHECK(read(active(R"(,"expires":1e300)")).value().until == now + 5s);
        CHECK(read(active(R"(,"expires":1800000003)")).value().ends == now + 3s);
        CHECK(read(active(R"(,"expires":1800000900)")).value().ends == now + 900s);
        CHECK(read(active("")).value().ends == core::wall_time::max());
        CHECK(refusal(active(R"(,"expires":1800000000)")) == "unauthenticated");
        CHECK(refusal(active(R"(,"expires":1800000000.001)")) == "accepted");
    }

    TEST_CASE("A clear no is a refusal")
    {
        CHECK(refusal(R"({"active":false})") == "unauthenticated");
        CHECK(refusal(R"({"active":false,"principal":"alice"})") == "unauthenticated");
        for (const unsigned status : {401U, 403U, 404U}) {
            CHECK(refusal("", status) == "unauthenticated");
            CHECK(refusal(active(""), status) == "unauthenticated");
        }
    }

    TEST_CASE("Anything else fails closed")
    {
        for (const unsigned status : {201U, 204U, 302U, 400U, 402U, 405U, 429U, 500U, 503U}) {
            CAPTURE(status);
            CHECK(refusal(active(""), status) == "access_unavailable");
        }
        for (const auto& body : std::vector<std::string>{
                 "",
                 "{}",
                 "true",
                 R"({"active":"true","principal":"alice"})",
                 R"({"active":1,"principal":"alice"})",
                 R"({"active":true})",
                 R"({"active":true,"principal":""})",
                 R"({"active":true,"principal":7})",
                 R"({"active":true,"principal":"a\u0007"})",
                 R"({"active":true,"principal":")" + std::string(257, 'a') + R"("})",
                 R"({"active":true,"active":false,"principal":"alice"})",
                 active(R"(,"scopes":{"a":1})"),
                 active(R"(,"scopes":[1])"),
                 active(R"(,"groups":"g")"),
                 active(R"(,"tenant":7)"),
                 active(R"(,"tenant":")" + std::string(257, 't') + '"'),
                 active(R"(,"claims":[])"),
                 active(R"(,"expires":"tomorrow")"),
                 active(R"(,"expires":-1)"),
             }) {
            CAPTURE(body);
            CHECK(refusal(body) == "access_unavailable");
        }
        CHECK(refusal(R"({"active":true,"principal":")" + std::string(256, 'a') + R"("})") == "accepted");
    }
}

}  // namespace
