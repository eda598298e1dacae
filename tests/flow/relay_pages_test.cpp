// Pages for people, which agents and what stands in front of them send instead of answers.
#include "tests/flow/relay_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/relay_pages");

namespace {

using namespace flow;
using namespace test_support;

script page(unsigned status, std::string type = "text/html; charset=utf-8")
{
    return answer(
        status,
        "<html>secret words</html>",
        {{"Content-Type", std::move(type)}, {"Retry-After", "17"}, {"WWW-Authenticate", "Bearer"}}
    );
}

}  // namespace

TEST_CASE(
    "A page of HTML never reaches a caller of JSON-RPC: a refusal keeps its status and what callers need of its head"
)
{
    for (const unsigned status : {200U, 400U, 401U, 404U, 429U, 500U, 503U}) {
        for (const auto* const type : {"text/html", "TEXT/HTML;charset=utf-8", "application/xhtml+xml"}) {
            CAPTURE(status);
            CAPTURE(type);
            const relayed x{page(status, type)};
            const auto got = call(x.port(), call_body("7"));
            CHECK(got.status == (status == 200 ? 502 : status));
            CHECK(got.header("Content-Type") == "application/json");
            CHECK(got.header("Cardea-Error") == "upstream_status");
            CHECK(got.header("Retry-After") == "17");
            CHECK(got.header("WWW-Authenticate") == "Bearer");
            auto expected = bad_status;
            expected.retryable = status == 429 || status == 503;
            CHECK(got.body == jsonrpc_body(expected, "7"));
        }
    }
}

TEST_CASE("A page of HTML never reaches a caller of HTTP+JSON")
{
    const relayed x{page(503)};
    const auto got = request(x.port(), "GET", "/agents/a/rest/v1/tasks/1");
    CHECK(got.status == 503);
    CHECK(got.body.find("secret") == std::string::npos);
    CHECK(got.header("Content-Type") == "application/json");
}

TEST_CASE("Other bodies of failures pass, and so do empty ones of whatever type")
{
    const relayed x{answer(500, "own words", {{"Content-Type", "text/plain"}})};
    const auto got = call(x.port(), call_body());
    CHECK(got.status == 500);
    CHECK(got.body == "own words");
    const relayed y{answer(202, "", {{"Content-Type", "text/html"}})};
    CHECK(call(y.port(), call_body()).status == 202);
}

TEST_CASE("Pages pass where any answer does")
{
    const relayed x{page(200), [](config::settings& settings) { settings.agents[0].relay_paths = {"/ui/*"}; }};
    const auto got = request(x.port(), "GET", "/agents/a/ui/index");
    CHECK(got.status == 200);
    CHECK(got.body == "<html>secret words</html>");
}

TEST_SUITE_END();
