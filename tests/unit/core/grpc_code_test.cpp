#include "core/grpc_code.hpp"

#include "core/error.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

using core::errc;
using core::grpc_code;

TEST_SUITE_BEGIN("core/grpc_code");

namespace {

// One row for each outcome.
const std::map<grpc_code, std::set<errc>>& expected()
{
    using enum errc;
    static const std::map<grpc_code, std::set<errc>> table{
        {grpc_code::cancelled, {caller_gone}},
        {grpc_code::invalid_argument,
         {bad_request,
          agent_unnamed,
          unsupported_media_type,
          expectation_failed,
          not_acceptable,
          header_mismatch,
          version_unsupported,
          parse_error,
          invalid_request,
          invalid_params,
          config_invalid}},
        {grpc_code::deadline_exceeded, {request_timeout, upstream_timeout}},
        {grpc_code::not_found, {task_not_found, session_not_found}},
        {grpc_code::permission_denied,
         {forbidden, agent_contained, principal_contained, origin_forbidden, admin_only, agent_read_only}},
        {grpc_code::resource_exhausted,
         {body_too_large,
          message_too_large,
          event_too_large,
          header_too_large,
          target_too_long,
          too_large,
          rate_limited,
          chain_limited,
          loop_detected,
          store_full}},
        {grpc_code::failed_precondition,
         {extension_required,
          extended_card_unsupported,
          extended_card_not_configured,
          version_not_supported,
          operation_unsupported,
          session_required,
          input_expired,
          events_gone,
          handover_failed}},
        {grpc_code::aborted, {version_conflict}},
        {grpc_code::unimplemented,
         {agent_not_found,
          grpc_method_unknown,
          grpc_compressed,
          not_found,
          method_not_found,
          method_not_allowed,
          not_implemented,
          http_version_not_supported,
          misdirected_request}},
        {grpc_code::internal,
         {upstream_protocol,
          upstream_status,
          answer_untranslatable,
          card_not_json,
          card_invalid,
          card_unrewritable,
          card_too_large,
          card_signature,
          extended_card_incomplete,
          store_failed,
          internal}},
        {grpc_code::unavailable, {upstream_unresolved,
                                  upstream_refused,
                                  upstream_forbidden,
                                  upstream_tls,
                                  upstream_proxy,
                                  upstream_reset,
                                  upstream_credentials,
                                  card_held,
                                  session_not_started,
                                  session_not_ready,
                                  session_failed,
                                  session_crashed,
                                  session_misconfigured,
                                  session_limit,
                                  circuit_open,
                                  draining,
                                  overloaded,
                                  access_unavailable,
                                  store_unreachable,
                                  store_newer,
                                  write_unknown}},
        {grpc_code::unauthenticated, {unauthenticated}},
    };
    return table;
}

}  // namespace

TEST_CASE("Every error code has the gRPC status of its outcome")
{
    std::map<errc, grpc_code> all;
    for (const auto& [status, codes] : expected()) {
        for (const auto code : codes) {
            CHECK(all.emplace(code, status).second);
        }
    }
    for (const auto& row : core::error_rows()) {
        CAPTURE(row.name);
        REQUIRE(all.contains(row.code));
        CHECK(core::grpc_status(row.code, core::error_edition::v1_0_1) == all.at(row.code));
    }
    CHECK(all.size() == core::error_rows().size());
}

TEST_CASE("Errors of A2A that 1.0.1 changed have the status of 1.0.0 in that edition, and no others")
{
    const std::set<errc> changed{
        errc::operation_unsupported,
        errc::extended_card_unsupported,
        errc::version_not_supported
    };
    for (const auto& row : core::error_rows()) {
        CAPTURE(row.name);
        const auto status = core::grpc_status(row.code, core::error_edition::v1_0_0);
        CHECK(status == (changed.contains(row.code) ? grpc_code::unimplemented : row.grpc_status));
    }
}

TEST_CASE("An HTTP status stands for the gRPC status that gRPC prescribes")
{
    const std::map<unsigned, grpc_code> prescribed{
        {400, grpc_code::internal},
        {401, grpc_code::unauthenticated},
        {403, grpc_code::permission_denied},
        {404, grpc_code::unimplemented},
        {429, grpc_code::unavailable},
        {502, grpc_code::unavailable},
        {503, grpc_code::unavailable},
        {504, grpc_code::unavailable},
    };
    for (unsigned status = 100; status < 600; ++status) {
        CAPTURE(status);
        const auto found = prescribed.find(status);
        CHECK(core::grpc_code_of_http(status) == (found == prescribed.end() ? grpc_code::unknown : found->second));
    }
}

TEST_CASE("Every gRPC status has a number and a name that finds it")
{
    std::set<std::string> names;
    for (unsigned number = 0; number <= 16; ++number) {
        const auto code = static_cast<grpc_code>(number);
        CAPTURE(number);
        CHECK(names.emplace(core::name(code)).second);
        CHECK(core::grpc_code_named(core::name(code)) == code);
    }
    CHECK(core::name(grpc_code::deadline_exceeded) == "DEADLINE_EXCEEDED");
    CHECK(static_cast<unsigned>(grpc_code::unimplemented) == 12);
    CHECK(static_cast<unsigned>(grpc_code::unauthenticated) == 16);
    CHECK_FALSE(core::grpc_code_named("NO_SUCH_STATUS").has_value());
    CHECK_FALSE(core::grpc_code_named("").has_value());
}
