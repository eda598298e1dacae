// Errors as values: a code, the side whose fault it is, and a detail for our log. The enumerators' names are the stable
// codes that callers see (`Cardea-Error`, `error.data.code`): renaming one changes the public interface. A new code is an
// enumerator here and its row in error.cpp.
#pragma once

#include "core/grpc_code.hpp"

#include <boost/system/result.hpp>

#include <cstdint>
#include <span>
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
    chain_limited,
    not_implemented,
    http_version_not_supported,
    agent_not_found,
    agent_unnamed,
    grpc_method_unknown,
    grpc_compressed,
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
    agent_contained,
    principal_contained,
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
    card_held,
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
    store_unreachable,
    store_newer,
    write_unknown,
    config_invalid,
    internal,
};

// Metrics and the access log blame this side.
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

// How a code looks from outside. docs/answers.md is generated from these rows.
struct error_row {
    errc code;
    std::string_view name;  // the enumerator's own: the stable machine-readable code
    unsigned http_status;   // RFC 9110 section 15. 499 is for the access log: the caller has left
    int jsonrpc_code;       // JSON-RPC 2.0 section 5.1; A2A's or MCP's if it means the same, else -31000 - http_status
    unsigned jsonrpc_status;   // HTTP, of a JSON-RPC error: 200 if it is about the call, as A2A's own servers answer
    grpc_code grpc_status;     // of a call by gRPC; of A2A's own errors that of 1.0.1
    bool retryable;            // the same request may succeed later, although nobody changes anything
    std::string_view message;  // one sentence for callers; never an address, nor what a peer sent
    std::string_view cause;    // Markdown for docs/answers.md: when callers get it
};

// In the order of the codes.
std::span<const error_row> error_rows() noexcept;

const error_row& row_of(errc code) noexcept;

inline std::string_view name(errc code) noexcept
{
    return row_of(code).name;
}

inline std::string_view message(errc code) noexcept
{
    return row_of(code).message;
}

inline unsigned http_status(errc code) noexcept
{
    return row_of(code).http_status;
}

inline int jsonrpc_code(errc code) noexcept
{
    return row_of(code).jsonrpc_code;
}

inline unsigned jsonrpc_http_status(errc code) noexcept
{
    return row_of(code).jsonrpc_status;
}

// The edition of A2A 1.0 that the gateway's own errors follow: 1.0.1 changed the statuses of some.
enum class error_edition : std::uint8_t { v1_0_0, v1_0_1 };

// "1.0.0", "1.0.1".
std::string_view name(error_edition e) noexcept;

grpc_code grpc_status(errc code, error_edition edition) noexcept;

inline bool retryable(errc code) noexcept
{
    return row_of(code).retryable;
}

// Whether an agent's failure with this status passes by itself: 408, 429, 502, 503 and 504.
bool passes(unsigned status) noexcept;

std::string_view name(side from) noexcept;

// result::value() on a failure is a bug in the caller: it becomes an exception that the request boundary logs.
[[noreturn]] void throw_exception_from_error(const error& e, const boost::source_location& where);

}  // namespace core
