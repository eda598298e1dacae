#include "core/error.hpp"

#include "core/status.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using core::errc;

TEST_SUITE_BEGIN("core/error");

namespace {

constexpr auto first = static_cast<int>(errc::bad_request);
constexpr auto last = static_cast<int>(errc::internal);

}  // namespace

TEST_CASE("every code has its own name, a sentence and an error status")
{
    std::set<std::string> names;
    for (int value = first; value <= last; ++value) {
        const auto code = static_cast<errc>(value);
        CAPTURE(core::name(code));
        CHECK(names.insert(std::string(core::name(code))).second);
        CHECK(core::message(code).ends_with('.'));
        CHECK(core::http_status(code) >= 400);
        CHECK(core::http_status(code) <= 507);
    }
}

TEST_CASE("no JSON-RPC code is taken from the range that A2A and MCP reserve")
{
    for (int value = first; value <= last; ++value) {
        const auto number = core::jsonrpc_code(static_cast<errc>(value));
        CAPTURE(number);
        CHECK_FALSE((number >= -32099 && number <= -32000));
    }
}

TEST_CASE("only what a later attempt can change is retryable")
{
    CHECK(core::retryable(errc::upstream_refused));
    CHECK(core::retryable(errc::upstream_timeout));
    CHECK(core::retryable(errc::draining));
    CHECK_FALSE(core::retryable(errc::agent_not_found));
    CHECK_FALSE(core::retryable(errc::bad_request));
    CHECK_FALSE(core::retryable(errc::internal));
}

TEST_CASE("taking the value of a failure is a bug that says what failed")
{
    core::result<int> failed = core::upstream_error(errc::upstream_tls, "expired");
    CHECK_THROWS_WITH(failed.value(), doctest::Contains("upstream_tls: expired"));
}

TEST_SUITE_END();
