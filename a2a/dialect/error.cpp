#include "a2a/dialect/error.hpp"

#include "a2a/dialect/error_table.hpp"
#include "a2a/dialect/walk.hpp"
#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "core/json/json_cursor.hpp"

#include <array>
#include <charconv>
#include <cstdint>

namespace a2a {
namespace {

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

void append_details(std::string& out, object_writer& to, std::string_view name, const agent_error& from, int code)
{
    if (!from.details.empty()) {
        to.raw(name, from.details);
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

// What 0.3 has as data of an error of 1.0.
void append_data(std::string& out, object_writer& to, const agent_error& from, std::size_t& lost)
{
    if (!from.data.empty()) {
        to.raw("data", from.data);
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
        to.raw("data", kept);
    } else if (!info[detail_at::reason].empty()) {
        to.name("data");
        object_writer data{out};
        data.raw("reason", info[detail_at::reason]);
        data.optional("metadata", info[detail_at::metadata]);
        data.close();
    }
}

void append_message(std::string& out, object_writer& to, const agent_error& from, int code)
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
    object_writer members{out};
    members.raw("code", std::to_string(code));
    append_message(out, members, from, code);
    if (to.version == generation::v1) {
        append_details(out, members, "data", from, code);
    } else {
        append_data(out, members, from, lost);
    }
    members.close();
}

void append_status(std::string& out, error_status status, const agent_error& from, int code)
{
    out += "{\"error\":";
    object_writer members{out};
    members.raw("code", std::to_string(status.http));
    members.name("status");
    out.append("\"").append(status.grpc).append("\"");
    append_message(out, members, from, code);
    append_details(out, members, "details", from, code);
    members.close();
    out += '}';
}

}  // namespace

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
