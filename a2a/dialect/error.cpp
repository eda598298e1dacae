#include "a2a/dialect/error.hpp"

#include "a2a/dialect/walk.hpp"
#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "core/json/json_cursor.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

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

using cursor_type = core::json_cursor<core::wide_bytes>;

constexpr std::string_view domain = "a2a-protocol.org";
constexpr std::string_view info_type = "type.googleapis.com/google.rpc.ErrorInfo";
constexpr std::string_view struct_type = "type.googleapis.com/google.protobuf.Struct";
constexpr std::string_view value_type = "type.googleapis.com/google.protobuf.Value";

namespace at {
enum : std::uint8_t { code, message, data, details, status, error, detail, count };
}

constexpr std::array rows{
    member_row{"code", at::code},
    member_row{"message", at::message},
    member_row{"data", at::data},
    member_row{"details", at::details},
    member_row{"status", at::status},
    member_row{"error", at::error},
    member_row{"detail", at::detail},
};

namespace detail_at {
enum : std::uint8_t { type, reason, domain, metadata, value, count };
}

constexpr std::array detail_rows{
    member_row{"@type", detail_at::type},
    member_row{"reason", detail_at::reason},
    member_row{"domain", detail_at::domain},
    member_row{"metadata", detail_at::metadata},
    member_row{"value", detail_at::value, member_row::in_all, true},
};

using detail_values = std::array<std::string_view, detail_at::count>;

// Members of an error may be anything and stand anywhere: what cannot be read is absent.
template <std::size_t Count, std::size_t Rows>
std::array<std::string_view, Count> read_loosely(std::string_view raw, const std::array<member_row, Rows>& names)
{
    std::array<std::string_view, Count> values;
    std::string unused;
    walk w{body_shape::types, body_shape::types, origin_side::agent, unused};
    if (is_object(raw)) {
        w.read(raw, names, values);
    }
    return values;
}

int integer_of(std::string_view raw, int otherwise) noexcept
{
    int value = 0;
    const auto* const begin = raw.data();
    const auto* const end = begin + raw.size();
    const auto read = std::from_chars(begin, end, value);
    return !raw.empty() && read.ec == std::errc{} && read.ptr == end ? value : otherwise;
}

std::string_view text_or_nothing(std::string_view raw) noexcept
{
    return is_string(raw) ? raw : std::string_view{};
}

// Calls `each` for every detail that is an object.
template <class Each>
void for_each_detail(std::string_view details, Each&& each)
{
    if (!is_array(details)) {
        return;
    }
    array_walker all{details};
    std::string_view element;
    while (all.next(element)) {
        each(read_loosely<detail_at::count>(element, detail_rows));
    }
}

// The code that the reason of an ErrorInfo of A2A stands for.
std::optional<int> code_of_details(std::string_view details)
{
    std::optional<int> code;
    for_each_detail(details, [&code](const detail_values& values) {
        if (!code && says(values[detail_at::domain], domain) && is_string(values[detail_at::reason])) {
            code = code_of_reason(unquoted(values[detail_at::reason]));
        }
    });
    return code;
}

// Codes that 0.3 leaves to servers and 1.0 gives a meaning: a server of 0.3 cannot mean that, unless it says so in details.
int code_for(const agent_error& from, dialect to)
{
    const int code = from.code;
    const bool taken = code == rpc_code::extension_support_required || code == rpc_code::version_not_supported;
    const bool meant = from.of == generation::v1 || !from.details.empty();
    if (!taken || meant || to.version == generation::v03) {
        return code;
    }
    const bool access = core::find_ignoring_case(from.message, "auth") != std::string_view::npos;
    return access ? -31401 : rpc_code::internal_error;
}

void append_details(std::string& out, core::json_writer& to, std::string_view name, const agent_error& from, int code)
{
    if (!from.details.empty()) {
        to.raw_member(name, from.details);
        return;
    }
    const auto reason = reason_of(code);
    if (reason.empty() && from.data.empty()) {
        return;
    }
    to.name(name);
    out += '[';
    if (!reason.empty()) {
        out.append(R"({"@type":")").append(info_type).append(R"(","reason":")").append(reason);
        out.append(R"(","domain":")").append(domain).append("\"}");
    }
    if (!from.data.empty()) {
        out.append(reason.empty() ? "" : ",").append(R"({"@type":")");
        out.append(is_object(from.data) ? struct_type : value_type).append(R"(","value":)").append(from.data);
        out += '}';
    }
    out += ']';
}

// Writes an error of 1.0 as data of 0.3.
void append_data(std::string& out, core::json_writer& to, const agent_error& from, std::size_t& lost)
{
    if (!from.data.empty()) {
        to.raw_member("data", from.data);
        return;
    }
    std::string_view kept;
    detail_values info;
    for_each_detail(from.details, [&](const detail_values& values) {
        const auto type = values[detail_at::type];
        if (says(type, struct_type) || says(type, value_type)) {
            kept = values[detail_at::value];
        } else if (says(type, info_type)) {
            info = values;
        } else {
            ++lost;
        }
    });
    if (!kept.empty()) {
        to.raw_member("data", kept);
    } else if (!info[detail_at::reason].empty()) {
        to.name("data");
        core::json_writer data{out, '{'};
        data.raw_member("reason", info[detail_at::reason]);
        data.raw_member_if_any("metadata", info[detail_at::metadata]);
        data.close('}');
    }
}

void append_message(std::string& out, core::json_writer& to, const agent_error& from, int code)
{
    to.name("message");
    if (from.message.empty()) {
        core::append_json_string(out, message_of(code));
    } else {
        out += from.message;
    }
}

// The error object of 0.3 in both bindings, and that of JSON-RPC of 1.0.
void append_object(std::string& out, dialect to, const agent_error& from, int code, std::size_t& lost)
{
    core::json_writer members{out, '{'};
    members.raw_member("code", std::to_string(code));
    append_message(out, members, from, code);
    if (to.version == generation::v1) {
        append_details(out, members, "data", from, code);
    } else {
        append_data(out, members, from, lost);
    }
    members.close('}');
}

void append_status(std::string& out, error_status status, const agent_error& from, int code)
{
    out += "{\"error\":";
    core::json_writer members{out, '{'};
    members.raw_member("code", std::to_string(status.http));
    members.name("status");
    out.append("\"").append(status.grpc).append("\"");
    append_message(out, members, from, code);
    append_details(out, members, "details", from, code);
    members.close('}');
    out += '}';
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

agent_error read_rpc_error(std::string_view raw, generation of)
{
    const auto values = read_loosely<at::count>(raw, rows);
    agent_error error;
    error.of = of;
    error.message = text_or_nothing(values[at::message]);
    const auto data = values[at::data];
    (of == generation::v1 && is_array(data) ? error.details : error.data) = data;
    error.code = integer_of(values[at::code], code_of_details(error.details).value_or(rpc_code::internal_error));
    return error;
}

agent_error read_rest_error(unsigned status, std::string_view body, const exchange& how)
{
    const auto what = how.asked;
    agent_error error;
    error.of = how.agent.version;
    cursor_type cursor{body, cursor_type::deepest};
    cursor.skip_space();
    const auto* const begin = cursor.position();
    const bool valid = cursor.peek() == '{' && cursor.value();
    if (!valid) {
        error.code = code_of_status(status, {}, what);
        return error;
    }
    auto values = read_loosely<at::count>({begin, static_cast<std::size_t>(cursor.position() - begin)}, rows);
    const auto outer = values;
    if (is_object(values[at::error])) {
        values = read_loosely<at::count>(values[at::error], rows);
    }
    error.message = text_or_nothing(values[at::message]);
    if (error.message.empty()) {
        const auto other = text_or_nothing(outer[at::error]);
        error.message = other.empty() ? text_or_nothing(outer[at::detail]) : other;
    }
    error.details = is_array(values[at::details]) ? values[at::details] : std::string_view{};
    error.data = values[at::data];
    const int said = integer_of(values[at::code], 0);
    if (const auto code = code_of_details(error.details)) {
        error.code = *code;
    } else if (said < 0) {
        error.code = said;
    } else {
        const auto http = status < 400 && said >= 400 && said < 600 ? static_cast<unsigned>(said) : status;
        error.code = code_of_status(http, unquoted(text_or_nothing(values[at::status])), what);
    }
    return error;
}

bool is_rest_error(std::string_view raw)
{
    // Most results begin with the object that they wrap, which no member of an error is.
    for (const std::string_view wrapped :
         {R"({"task":{)", R"({"message":{)", R"({"statusUpdate":{)", R"({"artifactUpdate":{)"}) {
        if (raw.starts_with(wrapped)) {
            return false;
        }
    }
    const auto values = read_loosely<at::count>(raw, rows);
    return !values[at::error].empty() || (!values[at::code].empty() && is_string(values[at::message]));
}

unsigned append_error(
    std::string& out,
    dialect to,
    error_profile profile,
    std::string_view id,
    const agent_error& from,
    std::size_t& lost
)
{
    const int code = code_for(from, to);
    const auto status = status_of(code, profile);
    if (to.over == binding::jsonrpc) {
        out.append("{\"jsonrpc\":\"2.0\",\"id\":").append(id.empty() ? "null" : id).append(",\"error\":");
        append_object(out, to, from, code, lost);
        out += '}';
        return 200;
    }
    if (to.version == generation::v1) {
        append_status(out, status, from, code);
    } else {
        append_object(out, to, from, code, lost);
    }
    return status.http;
}

}  // namespace a2a
