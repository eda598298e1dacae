#include "a2a/dialect/request.hpp"

#include "a2a/dialect/message.hpp"
#include "a2a/dialect/push_config.hpp"
#include "a2a/dialect/request_fields.hpp"
#include "core/json/json.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace a2a {
namespace {

// The largest int32, which is what all generations have for a length.
constexpr std::string_view longest_history = "2147483647";

refusal refused(int code, std::string_view why)
{
    return {code, {}, why};
}

// Whether a history of this length asks for none. In ProtoJSON of 0.3 it means any length.
bool asks_no_history(std::string_view digits, body_shape shape) noexcept
{
    return digits == "0" && shape != body_shape::proto;
}

namespace at {
enum : std::uint8_t { modes, history_length, blocking, return_immediately, push, count };
}

constexpr std::array rows{
    member_row{"acceptedOutputModes", at::modes},
    member_row{"historyLength", at::history_length},
    member_row{"blocking", at::blocking, member_row::in_v03},
    member_row{"returnImmediately", at::return_immediately, member_row::in_v1},
    member_row{"pushNotificationConfig", at::push, member_row::in_types},
    member_row{"pushNotification", at::push, member_row::in_proto},
    member_row{"taskPushNotificationConfig", at::push, member_row::in_v1},
};

using configuration_values = std::array<std::string_view, at::count>;

std::string_view push_name(body_shape shape) noexcept
{
    switch (shape) {
        case body_shape::types:
            return "pushNotificationConfig";
        case body_shape::proto:
            return "pushNotification";
        case body_shape::v1:
            break;
    }
    return "taskPushNotificationConfig";
}

bool check(walk& w, configuration_values& values)
{
    return check_strings(w, "acceptedOutputModes", values[at::modes]) &&
           check_integer(w, "historyLength", values[at::history_length], values[at::history_length]) &&
           check_boolean(w, "blocking", values[at::blocking]) &&
           check_boolean(w, "returnImmediately", values[at::return_immediately]);
}

bool write_members(walk& w, core::json_writer& to, const configuration_values& values)
{
    to.raw_member_if_any("acceptedOutputModes", values[at::modes]);
    to.raw_member_if_any("historyLength", values[at::history_length]);
    const bool waits = values[at::blocking] != "false" && values[at::return_immediately] != "true";
    if (w.to != body_shape::v1) {
        to.raw_member("blocking", waits ? "true" : "false");
    } else if (!waits) {
        to.raw_member("returnImmediately", "true");
    }
    if (values[at::push].empty()) {
        return true;
    }
    to.name(push_name(w.to));
    const walk::step into{w, push_name(w.from)};
    return translate_push_config(w, values[at::push]);
}

bool write_configuration(walk& w, core::json_writer& to, std::string_view raw, bool& no_history)
{
    const walk::step into{w, "configuration"};
    configuration_values values;
    if (!raw.empty() && (!w.read(raw, rows, values) || !check(w, values))) {
        return false;
    }
    if (w.from == body_shape::proto && !raw.empty() && values[at::blocking].empty()) {
        values[at::blocking] = "false";  // ProtoJSON leaves out what is false
    }
    auto& length = values[at::history_length];
    no_history = asks_no_history(length, w.from) && w.to != body_shape::v1;
    if (length == "0" && (w.from == body_shape::proto || w.to == body_shape::proto)) {
        length = {};
    }
    const auto before = w.out.size();
    to.name("configuration");
    core::json_writer members{w.out, '{'};
    if (!write_members(w, members, values)) {
        return false;
    }
    if (members.empty()) {
        w.out.resize(before);
    } else {
        members.close('}');
    }
    return true;
}

}  // namespace

bool write_send_members(walk& w, core::json_writer& to, request_fields& fields, bool& no_history)
{
    const auto message = fields.take(field::message);
    if (message.empty()) {
        return w.fail("message", "is required");
    }
    to.name("message");
    if (w.same_shape()) {
        w.out += message;
        to.raw_member_if_any("configuration", fields.take(field::configuration));
    } else {
        {
            const walk::step into{w, "message"};
            if (!translate_message(w, message)) {
                return false;
            }
        }
        if (!write_configuration(w, to, fields.take(field::configuration), no_history)) {
            return false;
        }
    }
    to.raw_member_if_any("metadata", fields.take(field::metadata));
    return true;
}

namespace {

struct query_row {
    field value;
    std::string_view name;
};

constexpr std::array query_rows{
    query_row{field::context_id, "contextId"},
    query_row{field::status, "status"},
    query_row{field::page_size, "pageSize"},
    query_row{field::page_token, "pageToken"},
    query_row{field::history_length, "historyLength"},
    query_row{field::status_timestamp_after, "statusTimestampAfter"},
    query_row{field::include_artifacts, "includeArtifacts"},
};

constexpr bool names_config(operation what) noexcept
{
    return what == operation::get_push || what == operation::delete_push;
}

constexpr bool names_task(operation what) noexcept
{
    switch (what) {
        case operation::get:
        case operation::cancel:
        case operation::subscribe:
        case operation::create_push:
        case operation::get_push:
        case operation::list_push:
        case operation::delete_push:
            return true;
        case operation::send:
        case operation::stream:
        case operation::list:
        case operation::extended_card:
        case operation::none:
            return false;
    }
    return false;
}

// Whether the request has it in any generation, beside what it is about: servers of 1.0 refuse members that they do not know.
constexpr bool asks_with(operation what, field f) noexcept
{
    switch (what) {
        case operation::list:
            return true;
        case operation::get:
            return f == field::history_length;
        case operation::list_push:
            return f == field::page_size || f == field::page_token;
        default:
            return false;
    }
}

bool require(walk& w, const request_fields& fields, field f, operation what)
{
    const auto value = fields.peek(f);
    return (!value.empty() && value != "\"\"") || w.fail(request_fields::name_of(f, what, w.from), "is required");
}

// Checks what every request must have and must not have.
bool check(walk& w, const request_fields& fields, const exchange& how)
{
    if (names_task(how.sent) && !require(w, fields, field::task_id, how.asked)) {
        return false;
    }
    if (names_config(how.sent) && !require(w, fields, field::config_id, how.asked)) {
        return false;
    }
    // 0.3 JSON-RPC has no pages: a token cannot be one that was given out.
    const bool pages = w.to != body_shape::types || how.sent != operation::list_push;
    return pages || fields.peek(field::page_token).empty() || w.fail("pageToken", "is not known");
}

// A length of 0 asks 1.0 for nothing and 0.3 HTTP+JSON for everything.
std::string_view take_history_length(walk& w, request_fields& fields, exchange& how)
{
    const auto length = fields.take(field::history_length);
    if (length != "0") {
        return length;
    }
    how.without_history = asks_no_history(length, w.from) && w.to != body_shape::v1;
    const bool means_all = w.from == body_shape::proto || w.to == body_shape::proto;
    return means_all ? std::string_view{} : length;
}

// Calls `each(name, raw value)` for what the request asks with; empty: absent.
template <class Each>
void for_each_asked(walk& w, request_fields& fields, exchange& how, Each&& each)
{
    for (const auto& row : query_rows) {
        if (asks_with(how.sent, row.value)) {
            const bool length = row.value == field::history_length;
            each(row.name, length ? take_history_length(w, fields, how) : fields.take(row.value));
        }
    }
}

bool read_created(walk& w, request_fields& fields, push_config& found)
{
    const auto raw = fields.take(field::push_config);
    const bool flat = w.from == body_shape::v1;
    if (raw.empty()) {
        return w.fail(flat ? "url" : "pushNotificationConfig", "is required");
    }
    const walk::step into{w, flat ? std::string_view{} : std::string_view{"pushNotificationConfig"}};
    if (!read_push_config(w, raw, found)) {
        return false;
    }
    const auto id = fields.take(field::config_id);
    found.id = found.id.empty() ? id : found.id;
    return true;
}

void write_nested(walk& w, core::json_writer& to, const push_config& created)
{
    to.name("pushNotificationConfig");
    core::json_writer nested{w.out, '{'};
    write_push_config(w, nested, created);
    nested.close('}');
}

bool has_slash(std::string_view raw_id)
{
    return core::unescape_json(unquoted(raw_id)).find('/') != std::string::npos;
}

// The whole request, as the servers of all SDKs read it: they find nothing in a body that is only the configuration.
void write_created_request(walk& w, core::json_writer& to, std::string_view task, const push_config& created)
{
    to.name("parent");
    w.out.append("\"tasks/").append(unquoted(task)).append("\"");
    to.raw_member("configId", created.id.empty() ? task : created.id);
    to.name("config");
    core::json_writer config{w.out, '{'};
    write_resource_name(config, w.out, task, created.id);
    write_nested(w, config, created);
    config.close('}');
}

bool write_created(walk& w, core::json_writer& to, request_fields& fields)
{
    push_config created;
    if (!read_created(w, fields, created)) {
        return false;
    }
    const auto task = fields.take(field::task_id);
    switch (w.to) {
        case body_shape::types:
            to.raw_member("taskId", task);
            write_nested(w, to, created);
            break;
        case body_shape::proto:
            if (has_slash(task) || has_slash(created.id)) {
                return w.fail("taskId", "has a slash, which a resource name cannot say");
            }
            write_created_request(w, to, task, created);
            break;
        case body_shape::v1:
            to.raw_member("taskId", task);
            write_push_config(w, to, created);
            break;
    }
    return true;
}

void write_v03_members(walk& w, core::json_writer& to, request_fields& fields, exchange& how)
{
    if (names_task(how.sent)) {
        to.raw_member_if_any("id", fields.take(field::task_id));
    }
    if (names_config(how.sent)) {
        to.raw_member_if_any("pushNotificationConfigId", fields.take(field::config_id));
    }
    if (how.sent == operation::get) {
        to.raw_member_if_any("historyLength", take_history_length(w, fields, how));
    }
    to.raw_member_if_any("metadata", fields.take(field::metadata));
}

void write_v1_members(walk& w, core::json_writer& to, request_fields& fields, exchange& how)
{
    const bool push =
        how.sent == operation::get_push || how.sent == operation::list_push || how.sent == operation::delete_push;
    if (names_task(how.sent)) {
        to.raw_member_if_any(push ? "taskId" : "id", fields.take(field::task_id));
    }
    if (names_config(how.sent)) {
        to.raw_member_if_any("id", fields.take(field::config_id));
    }
    if (how.sent == operation::cancel) {
        to.raw_member_if_any("metadata", fields.take(field::metadata));
    }
    for_each_asked(w, fields, how, [&to](std::string_view name, std::string_view value) {
        to.raw_member_if_any(name, value);
    });
}

// The text of a raw string; numbers and booleans as they stand.
std::string text_of(std::string_view raw)
{
    return is_string(raw) ? core::unescape_json(unquoted(raw)) : std::string{raw};
}

void write_query(walk& w, request_fields& fields, exchange& how, std::string& target)
{
    for_each_asked(w, fields, how, [&target](std::string_view name, std::string_view value) {
        if (!value.empty()) {
            append_query(target, 0, name, text_of(value));
        }
    });
}

bool write_body(walk& w, request_fields& fields, exchange& how)
{
    core::json_writer to{w.out, '{'};
    bool good = true;
    if (how.sent == operation::send || how.sent == operation::stream) {
        good = write_send_members(w, to, fields, how.without_history);
    } else if (how.sent == operation::create_push) {
        good = write_created(w, to, fields);
    } else if (w.to == body_shape::v1) {
        to.raw_member_if_any("metadata", fields.take(field::metadata));
    }
    to.close('}');
    return good;
}

bool has_body(operation what) noexcept
{
    return what == operation::send || what == operation::stream || what == operation::cancel ||
           what == operation::create_push;
}

// Appends the params of `how.sent`. Fails for an id that the operation needs and that is missing.
bool write_params(walk& w, request_fields& fields, exchange& how)
{
    if (!check(w, fields, how)) {
        return false;
    }
    core::json_writer to{w.out, '{'};
    if (w.to == body_shape::v1) {
        to.raw_member_if_any("tenant", fields.take(field::tenant));
    }
    if (how.sent == operation::send || how.sent == operation::stream) {
        if (!write_send_members(w, to, fields, how.without_history)) {
            return false;
        }
    } else if (how.sent == operation::create_push) {
        if (!write_created(w, to, fields)) {
            return false;
        }
    } else if (w.to == body_shape::v1) {
        write_v1_members(w, to, fields, how);
    } else {
        write_v03_members(w, to, fields, how);
    }
    to.close('}');
    fields.lose_rest(w);
    return true;
}

// Writes the target to `out`, and the body to the buffer of the walk.
bool write_rest(walk& w, request_fields& fields, exchange& how, std::string& target)
{
    if (!check(w, fields, how)) {
        return false;
    }
    rest_target path;
    path.what = how.sent;
    path.version = how.agent.version;
    if (w.to == body_shape::v1) {
        path.tenant = text_of(fields.take(field::tenant));
    }
    path.task_id = text_of(fields.peek(field::task_id));
    path.config_id = text_of(fields.peek(field::config_id));
    if (!append_rest_path(target, path)) {
        return w.fail("has an id or tenant that cannot stand in a path");
    }
    if (has_body(how.sent)) {
        if (!write_body(w, fields, how)) {
            return false;
        }
    } else {
        write_query(w, fields, how, target);
    }
    fields.drop(field::task_id);
    if (names_config(how.sent)) {
        fields.drop(field::config_id);
    }
    fields.lose_rest(w);
    return true;
}

// The operation that the agent is asked for: a configuration without its id is the first of the list.
operation sent_for(operation asked, const request_fields& fields, dialect to) noexcept
{
    const bool whole = asked != operation::get_push || !fields.peek(field::config_id).empty() ||
                       to == dialect{generation::v03, binding::jsonrpc};
    return whole ? asked : operation::list_push;
}

bool read(walk& w, const incoming_request& in, const request_options& options, request_fields& fields)
{
    if (in.from.over == binding::jsonrpc) {
        return fields.read_params(w, in.what, in.payload);
    }
    if (in.target == nullptr) {
        return w.fail("has no target");
    }
    if (!in.payload.empty() && !in.checked) {
        core::json_cursor<core::wide_bytes> cursor{in.payload, options.limits.depth};
        cursor.skip_space();
        if (cursor.peek() != '\0' && (!cursor.value() || !cursor.finish())) {
            return w.fail_with(rpc_code::parse_error, "is not JSON");
        }
    }
    const auto first = in.payload.find_first_not_of(" \t\r\n");
    const auto body = first == std::string_view::npos ? std::string_view{} : in.payload.substr(first);
    return fields.read_rest(w, *in.target, body);
}

bool write_call(walk& w, request_fields& fields, exchange& how, std::string_view id)
{
    w.out += "{\"jsonrpc\":\"2.0\",";
    if (!id.empty()) {
        w.out.append("\"id\":").append(id).append(",");
    }
    w.out.append("\"method\":\"").append(name(method_for(how.sent, how.agent.version))).append("\",\"params\":");
    const auto params = w.out.size();
    if (!write_params(w, fields, how)) {
        return false;
    }
    // The one method of 0.3 that has none (specification 0.3.0 section 7.10).
    if (how.sent == operation::extended_card && how.agent.version == generation::v03) {
        w.out.resize(params - std::string_view{",\"params\":"}.size());
    }
    w.out += '}';
    return true;
}

}  // namespace

translation<exchange>
translate_request(const incoming_request& in, dialect to, const request_options& options, outgoing_request& out)
{
    out.target.clear();
    out.body.clear();
    out.lost = 0;
    if (in.what == operation::none) {
        return refused(rpc_code::method_not_found, "names no method of A2A");
    }
    if (in.payload.size() > options.limits.bytes) {
        return refused(rpc_code::invalid_request, "is larger than the limit");
    }
    const bool old = in.from.version == generation::v03 || to.version == generation::v03;
    if (in.what == operation::list && old) {
        return refused(rpc_code::unsupported_operation, "lists tasks, which 0.3 cannot do");
    }
    out.body.reserve(in.payload.size() + in.payload.size() / 4 + 128);
    walk w{shape_of(in.from), shape_of(to), origin_side::caller, out.body};
    request_fields fields;
    exchange how{.caller = in.from, .agent = to, .asked = in.what};
    bool good = read(w, in, options, fields);
    if (good) {
        std::string tenant;
        if (!options.tenant.empty() && fields.peek(field::tenant).empty() && to.version == generation::v1) {
            core::append_json_string(tenant, options.tenant);
            fields.set(field::tenant, std::move(tenant));
        }
        if (options.whole_history && fields.peek(field::history_length).empty()) {
            fields.set(field::history_length, std::string{longest_history});
        }
        how.sent = sent_for(in.what, fields, to);
        how.first_config = how.sent != in.what;
        out.verb = to.over == binding::jsonrpc ? "POST" : route_for(how.sent, to.version).verb;
        good = to.over == binding::jsonrpc ? write_call(w, fields, how, in.id) : write_rest(w, fields, how, out.target);
    }
    out.lost = w.lost;
    if (good && out.target.size() > options.limits.target) {
        good = w.fail("makes a target of HTTP+JSON that is longer than the limit");
    }
    if (!good) {
        return w.take_failure();
    }
    return how;
}

}  // namespace a2a
