#include "a2a/dialect/error_table.hpp"

#include <algorithm>
#include <array>

namespace a2a {
namespace {

struct error_row {
    int code;
    std::string_view reason;
    std::string_view message;
    error_status v1_0_0;
    error_status v1_0_1;
};

constexpr error_status invalid_argument{400, "INVALID_ARGUMENT"};
constexpr error_status failed_precondition{400, "FAILED_PRECONDITION"};
constexpr error_status unimplemented{400, "UNIMPLEMENTED"};

constexpr std::array<error_row, 14> errors{{
    {rpc_code::parse_error, "", "Invalid JSON payload", invalid_argument, invalid_argument},
    {rpc_code::invalid_request, "", "Request payload validation error", invalid_argument, invalid_argument},
    {rpc_code::method_not_found, "", "Method not found", {404, "UNIMPLEMENTED"}, {404, "UNIMPLEMENTED"}},
    {rpc_code::invalid_params, "", "Invalid parameters", invalid_argument, invalid_argument},
    {rpc_code::internal_error, "", "Internal error", {}, {}},
    {rpc_code::task_not_found, "TASK_NOT_FOUND", "Task not found", {404, "NOT_FOUND"}, {404, "NOT_FOUND"}},
    {rpc_code::task_not_cancelable,
     "TASK_NOT_CANCELABLE",
     "Task cannot be canceled",
     {409, "FAILED_PRECONDITION"},
     failed_precondition},
    {rpc_code::push_not_supported,
     "PUSH_NOTIFICATION_NOT_SUPPORTED",
     "Push notifications are not supported",
     unimplemented,
     failed_precondition},
    {rpc_code::unsupported_operation,
     "UNSUPPORTED_OPERATION",
     "This operation is not supported",
     unimplemented,
     failed_precondition},
    {rpc_code::content_type_not_supported,
     "CONTENT_TYPE_NOT_SUPPORTED",
     "Incompatible content types",
     {415, "INVALID_ARGUMENT"},
     invalid_argument},
    {rpc_code::invalid_agent_response,
     "INVALID_AGENT_RESPONSE",
     "The agent's answer is not valid",
     {502, "INTERNAL"},
     {500, "INTERNAL"}},
    {rpc_code::extended_card_not_configured,
     "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
     "The extended agent card is not configured",
     failed_precondition,
     failed_precondition},
    {rpc_code::extension_support_required,
     "EXTENSION_SUPPORT_REQUIRED",
     "A required extension is not supported by the caller",
     failed_precondition,
     failed_precondition},
    {rpc_code::version_not_supported,
     "VERSION_NOT_SUPPORTED",
     "The protocol version is not supported",
     unimplemented,
     failed_precondition},
}};

const error_row* find_row(int code) noexcept
{
    const auto* const found = std::ranges::find(errors, code, &error_row::code);
    return found == errors.end() ? nullptr : found;
}

// The gateway's own codes are -31000 minus the HTTP status.
constexpr bool holds_status(int code) noexcept
{
    return code <= -31400 && code > -31600;
}

std::string_view grpc_of(unsigned http) noexcept
{
    switch (http) {
        case 401:
            return "UNAUTHENTICATED";
        case 403:
            return "PERMISSION_DENIED";
        case 404:
            return "NOT_FOUND";
        case 429:
            return "RESOURCE_EXHAUSTED";
        case 503:
            return "UNAVAILABLE";
        case 504:
            return "DEADLINE_EXCEEDED";
        default:
            return http < 500 ? "INVALID_ARGUMENT" : "INTERNAL";
    }
}

constexpr bool is_push(operation what) noexcept
{
    return what == operation::create_push || what == operation::get_push || what == operation::list_push ||
           what == operation::delete_push;
}

constexpr bool names_no_task(operation what) noexcept
{
    return what == operation::list || what == operation::extended_card || what == operation::none;
}

}  // namespace

error_status status_of(int code, error_profile profile) noexcept
{
    if (holds_status(code)) {
        const auto http = static_cast<unsigned>(-31000 - code);
        return {http, grpc_of(http)};
    }
    const auto* const row = find_row(code);
    if (row == nullptr) {
        return {};
    }
    return profile == error_profile::v1_0_0 ? row->v1_0_0 : row->v1_0_1;
}

std::string_view reason_of(int code) noexcept
{
    const auto* const row = find_row(code);
    return row == nullptr ? std::string_view{} : row->reason;
}

std::string_view message_of(int code) noexcept
{
    const auto* const row = find_row(code);
    return row == nullptr ? std::string_view{"The agent answered with an error"} : row->message;
}

std::optional<int> code_of_reason(std::string_view reason) noexcept
{
    if (reason.empty()) {
        return std::nullopt;
    }
    const auto* const found = std::ranges::find(errors, reason, &error_row::reason);
    return found == errors.end() ? std::nullopt : std::optional{found->code};
}

int code_of_status(unsigned http, std::string_view grpc, operation what) noexcept
{
    if (grpc == "INVALID_ARGUMENT" && http != 415) {
        return rpc_code::invalid_params;
    }
    if (grpc == "UNIMPLEMENTED" || http == 501) {
        return is_push(what) ? rpc_code::push_not_supported : rpc_code::unsupported_operation;
    }
    switch (http) {
        case 400:
        case 422:
            return rpc_code::invalid_params;
        case 404:
            return names_no_task(what) ? rpc_code::method_not_found : rpc_code::task_not_found;
        case 405:
            return rpc_code::method_not_found;
        case 409:
            return what == operation::cancel ? rpc_code::task_not_cancelable : rpc_code::unsupported_operation;
        case 415:
            return rpc_code::content_type_not_supported;
        case 401:
        case 403:
        case 429:
        case 503:
        case 504:
            return -31000 - static_cast<int>(http);
        case 502:
            return rpc_code::invalid_agent_response;
        default:
            return rpc_code::internal_error;
    }
}

}  // namespace a2a
