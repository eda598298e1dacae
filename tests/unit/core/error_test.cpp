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
        CHECK(core::http_status(code) <= 508);
    }
}

TEST_CASE("of the JSON-RPC codes that A2A and MCP reserve none is used but where it means the same")
{
    for (int value = first; value <= last; ++value) {
        const auto code = static_cast<errc>(value);
        const auto number = core::jsonrpc_code(code);
        CAPTURE(core::name(code));
        const bool of_a2a = code == errc::unsupported_media_type || code == errc::extended_card_not_configured ||
                            code == errc::extended_card_unsupported || code == errc::version_not_supported ||
                            code == errc::operation_unsupported || code == errc::answer_untranslatable ||
                            code == errc::extension_required || code == errc::task_not_found;
        const bool of_mcp =
            code == errc::session_not_found || code == errc::header_mismatch || code == errc::version_unsupported;
        CHECK((number >= -32099 && number <= -32000) == (of_a2a || of_mcp));
    }
    CHECK(core::jsonrpc_code(errc::unsupported_media_type) == -32005);
    CHECK(core::jsonrpc_code(errc::extension_required) == -32008);
    CHECK(core::jsonrpc_code(errc::extended_card_unsupported) == -32004);
    CHECK(core::jsonrpc_code(errc::extended_card_not_configured) == -32007);
    CHECK(core::jsonrpc_code(errc::operation_unsupported) == -32004);
    CHECK(core::jsonrpc_code(errc::answer_untranslatable) == -32006);
    CHECK(core::jsonrpc_code(errc::version_not_supported) == -32009);
    CHECK(core::jsonrpc_code(errc::session_not_found) == -32001);
    CHECK(core::jsonrpc_code(errc::task_not_found) == -32001);
    CHECK(core::http_status(errc::task_not_found) == 404);
    CHECK(core::jsonrpc_code(errc::header_mismatch) == -32020);
    CHECK(core::jsonrpc_code(errc::version_unsupported) == -32022);
}

TEST_CASE("a fault in a call is HTTP 200 as a JSON-RPC error, and a fault in what carries it keeps its status")
{
    const std::set<errc> in_the_call{
        errc::parse_error,
        errc::invalid_request,
        errc::task_not_found,
        errc::method_not_found,
        errc::invalid_params,
        errc::extension_required,
        errc::extended_card_unsupported,
        errc::extended_card_not_configured,
        errc::version_not_supported,
        errc::operation_unsupported,
        errc::answer_untranslatable
    };
    for (int value = first; value <= last; ++value) {
        const auto code = static_cast<errc>(value);
        CAPTURE(core::name(code));
        CHECK(core::jsonrpc_http_status(code) == (in_the_call.contains(code) ? 200 : core::http_status(code)));
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
