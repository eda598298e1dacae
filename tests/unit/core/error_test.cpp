#include "core/error.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using core::errc;

TEST_SUITE_BEGIN("core/error");

TEST_CASE("Every code has its own name, a sentence, a cause and an error status")
{
    std::set<std::string> names;
    for (const auto& row : core::error_rows()) {
        const auto code = row.code;
        CAPTURE(core::name(code));
        CHECK(names.insert(std::string(core::name(code))).second);
        CHECK(core::message(code).ends_with('.'));
        CHECK_FALSE(row.cause.empty());
        CHECK_FALSE(row.cause.ends_with('.'));
        CHECK(core::http_status(code) >= 400);
        CHECK(core::http_status(code) <= 508);
    }
}

TEST_CASE("A JSON-RPC code that A2A or MCP reserves is used only where it means the same")
{
    for (const auto& row : core::error_rows()) {
        const auto code = row.code;
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

TEST_CASE("A fault in a call is HTTP 200 as a JSON-RPC error, and a fault in its carrier keeps its status")
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
    for (const auto& row : core::error_rows()) {
        const auto code = row.code;
        CAPTURE(core::name(code));
        CHECK(core::jsonrpc_http_status(code) == (in_the_call.contains(code) ? 200 : core::http_status(code)));
    }
}

TEST_CASE("Only a failure that passes by itself is retryable")
{
    const std::set<errc> passing{
        errc::request_timeout,
        errc::rate_limited,
        errc::upstream_unresolved,
        errc::upstream_refused,
        errc::upstream_reset,
        errc::upstream_timeout,
        errc::upstream_credentials,
        errc::session_not_started,
        errc::session_not_ready,
        errc::session_failed,
        errc::session_crashed,
        errc::circuit_open,
        errc::draining,
        errc::overloaded,
        errc::session_limit,
        errc::access_unavailable,
        errc::store_unreachable
    };
    for (const auto& row : core::error_rows()) {
        const auto code = row.code;
        CAPTURE(core::name(code));
        CHECK(core::retryable(code) == passing.contains(code));
        // Clients that read the status alone try these again, and no others.
        const auto status = core::http_status(code);
        const bool may_pass = status == 408 || status == 429 || status == 502 || status == 503 || status == 504;
        CHECK((!core::retryable(code) || may_pass));
    }
    for (const unsigned status : {401U, 403U, 404U, 307U, 200U, 304U, 500U, 501U}) {
        CHECK_FALSE(core::passes(status));
    }
    for (const unsigned status : {408U, 429U, 502U, 503U, 504U}) {
        CHECK(core::passes(status));
    }
}

TEST_CASE("The sentence of a code names its thing and no other")
{
    const std::set<errc> about_http{errc::http_version_not_supported};
    for (const auto& row : core::error_rows()) {
        const auto code = row.code;
        const auto said = core::message(code);
        CAPTURE(said);
        CHECK((said.front() >= 'A' && said.front() <= 'Z'));
        CHECK_FALSE(said.starts_with("What"));
        // A program speaks no HTTP, and neither does a caller that is told of one.
        CHECK((said.find("HTTP") != std::string_view::npos) == about_http.contains(code));
        CHECK((said.find("malformed") != std::string_view::npos) == (code == errc::bad_request));
        const bool of_caller = code <= errc::too_large;
        CHECK((of_caller || said.find("The request") == std::string_view::npos));
        // What is told to try again may pass.
        CHECK((said.find("again") == std::string_view::npos || core::retryable(code) || code == errc::input_expired));
    }
}

TEST_CASE("A JSON-RPC code of the gateway's own is -31000 minus the HTTP status")
{
    for (const auto& row : core::error_rows()) {
        CAPTURE(row.name);
        CHECK((row.jsonrpc_code < -32000 || row.jsonrpc_code == -31000 - static_cast<int>(row.http_status)));
    }
    CHECK(core::name(static_cast<errc>(0)) == "internal");
    CHECK(core::name(core::side::caller) == "caller");
    CHECK(core::name(core::side::upstream) == "upstream");
    CHECK(core::name(core::side::gateway) == "gateway");
}

TEST_CASE("Reading the value of a failure is a bug that says what failed")
{
    core::result<int> failed = core::upstream_error(errc::upstream_tls, "expired");
    CHECK_THROWS_WITH(failed.value(), doctest::Contains("upstream_tls: expired"));
}

TEST_SUITE_END();
