// What callers of HTTP+JSON are told before their call is read: in the words of their binding, as they are told of any other error.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/relay_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

TEST_SUITE_BEGIN("flow/rest_refusals");

namespace {

using namespace flow;

constexpr error_answer no_credential{401, -31401, "unauthenticated", "This needs a valid credential.", false};
constexpr error_answer not_allowed{403, -31403, "forbidden", "This credential does not allow it.", false};
constexpr error_answer too_many{429, -31429, "rate_limited", "Too many requests; try again later.", true};

// The path of an operation in both generations, and the field that says which one it is.
struct place {
    std::string below;
    field_list version;
    bool of_1;
};

const place places[] = {
    {"/rest/tasks/t", {}, true},
    {"/rest/v1/tasks/t", {}, false},
    {"/rest/v1/tasks/t", {{"A2A-Version", "1.0"}}, true},
    {"/rest/tasks/t", {{"A2A-Version", "0.3"}}, false},
    {"/rest/nothing", {}, true},
    {"/rest/extendedAgentCard", {}, true},
    {"/rest/v1/card", {}, false},
};

http_response get(std::uint16_t port, const std::string& agent, const place& at, field_list who)
{
    who.insert(who.end(), at.version.begin(), at.version.end());
    return request(port, "GET", "/agents/" + agent + at.below, who);
}

}  // namespace

TEST_CASE("a caller of HTTP+JSON is told in its words that it needs a credential, whether or not there is such an agent"
)
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    for (const auto& at : places) {
        CAPTURE(at.below);
        for (const std::string agent : {"seen", "secret", "none"}) {
            for (const auto& who : {nobody, unknown}) {
                const auto got = get(port, agent, at, who);
                check_rest_error(got, no_credential, at.of_1, {});
                CHECK(got.count("WWW-Authenticate") > 0);
            }
        }
    }
    const auto plain = request(port, "GET", "/agents/seen/restless/tasks/t", nobody);
    check_plain_error(plain, no_credential);
}

TEST_CASE("a caller of HTTP+JSON is told in its words that there is no such agent, and what it may not call")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    for (const auto& at : places) {
        CAPTURE(at.below);
        check_rest_error(get(port, "none", at, ci), no_agent, at.of_1, "none");
        // What is no path of the generation is told before what the caller may not do.
        const bool of_neither = at.below == "/rest/tasks/t" && !at.of_1;
        if (at.below != "/rest/nothing" && !of_neither) {
            check_rest_error(get(port, "seen", at, mallory), not_allowed, at.of_1, "seen");
        }
    }
}

TEST_CASE("a caller of HTTP+JSON over a limit of rate is told in its words, with the limit")
{
    constexpr core::rate_limit burst{.rate = 1, .burst = 1};
    for (const auto& limits :
         {core::rate_limits{.principal = burst, .agent = {}, .address = {}},
          core::rate_limits{.principal = {}, .agent = burst, .address = {}},
          core::rate_limits{.principal = {}, .agent = {}, .address = burst}}) {
        for (const auto& at : places) {
            CAPTURE(at.below);
            test_support::scripted_agent agent{answer_of_agent};
            auto settings = guarded(agent.url("/rpc"));
            settings.rate_limits = limits;
            running_gateway gateway{std::move(settings)};
            auto got = get(gateway.port(), "seen", at, ci);
            for (int i = 0; i < 100 && got.status != 429; ++i) {
                got = get(gateway.port(), "seen", at, ci);
            }
            check_rest_error(got, too_many, at.of_1, limits.agent == burst ? "seen" : "");
            CHECK(got.header("Retry-After") == "1");
            CHECK(got.header("RateLimit-Policy").find(";q=1;w=1") != std::string::npos);
        }
    }
}

TEST_SUITE_END();
