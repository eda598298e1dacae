// What can go wrong, whose fault it is, and the value that carries it. The enumerators' names are the stable codes
// that callers see (`Cardea-Error`, `error.data.code`): renaming one is a change of the public interface.
#pragma once

#include <boost/system/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace core {

enum class errc : std::uint8_t {
    // The caller's request.
    bad_request = 1,
    not_found,
    method_not_allowed,
    request_timeout,
    body_too_large,
    target_too_long,
    header_too_large,
    unsupported_media_type,
    expectation_failed,
    misdirected_request,
    loop_detected,
    not_implemented,
    http_version_not_supported,
    agent_not_found,
    task_not_found,
    agent_read_only,
    extension_required,
    extended_card_unsupported,
    extended_card_not_configured,
    version_not_supported,
    operation_unsupported,
    version_conflict,
    handover_failed,
    admin_only,
    unauthenticated,
    forbidden,
    rate_limited,
    not_acceptable,
    origin_forbidden,
    session_not_found,
    session_required,
    header_mismatch,
    version_unsupported,
    input_expired,
    events_gone,
    caller_gone,
    // JSON-RPC 2.0 section 5.1.
    parse_error,
    invalid_request,
    method_not_found,
    invalid_params,
    too_large,
    // The agent behind the gateway.
    upstream_unresolved,
    upstream_refused,
    upstream_forbidden,
    upstream_tls,
    upstream_proxy,
    upstream_reset,
    upstream_protocol,
    upstream_status,
    upstream_timeout,
    upstream_credentials,
    event_too_large,
    message_too_large,
    answer_untranslatable,
    card_not_json,
    card_invalid,
    card_unrewritable,
    card_too_large,
    card_signature,
    session_not_started,
    session_not_ready,
    session_failed,
    session_crashed,
    session_misconfigured,
    // The gateway itself.
    circuit_open,
    draining,
    overloaded,
    session_limit,
    access_unavailable,
    extended_card_incomplete,
    store_full,
    store_failed,
    config_invalid,
    internal,
};

// Whose fault it is. Decides who is blamed in metrics and in the access log.
enum class side : std::uint8_t { caller, upstream, gateway };

struct error {
    error() = default;
    error(errc kind, side origin, std::string reason)
        : code{kind},
          from{origin},
          detail{std::move(reason)}
    {
    }

    errc code = errc::internal;
    side from = side::gateway;
    std::string detail;  // for our log only: it may quote what a peer sent, so no caller ever sees it
};

template <class T = void>
using result = boost::system::result<T, error>;

inline error caller_error(errc code, std::string detail = {})
{
    return {code, side::caller, std::move(detail)};
}

inline error upstream_error(errc code, std::string detail = {})
{
    return {code, side::upstream, std::move(detail)};
}

inline error gateway_error(errc code, std::string detail = {})
{
    return {code, side::gateway, std::move(detail)};
}

// The stable machine-readable code: the enumerator's own name.
std::string_view name(errc code) noexcept;

// One sentence for callers. Says nothing of addresses or of what a peer sent.
std::string_view message(errc code) noexcept;

std::string_view name(side from) noexcept;

// result::value() on a failure is a bug in the caller: it becomes an exception that the request boundary logs.
[[noreturn]] void throw_exception_from_error(const error& e, const boost::source_location& where);

}  // namespace core
