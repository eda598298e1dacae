#include "a2a/dialect/request_params.hpp"

#include "a2a/dialect/push_config.hpp"
#include "a2a/dialect/send_params.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <array>

namespace a2a {
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

// What every request must have, and what it cannot have.
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

void write_nested(walk& w, object_writer& to, const push_config& created)
{
    to.name("pushNotificationConfig");
    object_writer nested{w.out};
    write_push_config(w, nested, created);
    nested.close();
}

// The whole request, as the servers of all SDKs read it: they find nothing in a body that is only the configuration.
void write_created_request(walk& w, object_writer& to, std::string_view task, const push_config& created)
{
    to.name("parent");
    w.out.append("\"tasks/").append(unquoted(task)).append("\"");
    to.raw("configId", created.id.empty() ? task : created.id);
    to.name("config");
    object_writer config{w.out};
    write_resource_name(config, w.out, task, created.id);
    write_nested(w, config, created);
    config.close();
}

bool write_created(walk& w, object_writer& to, request_fields& fields)
{
    push_config created;
    if (!read_created(w, fields, created)) {
        return false;
    }
    const auto task = fields.take(field::task_id);
    switch (w.to) {
        case body_shape::types:
            to.raw("taskId", task);
            write_nested(w, to, created);
            break;
        case body_shape::proto:
            write_created_request(w, to, task, created);
            break;
        case body_shape::v1:
            to.raw("taskId", task);
            write_push_config(w, to, created);
            break;
    }
    return true;
}

void write_v03_members(walk& w, object_writer& to, request_fields& fields, exchange& how)
{
    if (names_task(how.sent)) {
        to.optional("id", fields.take(field::task_id));
    }
    if (names_config(how.sent)) {
        to.optional("pushNotificationConfigId", fields.take(field::config_id));
    }
    if (how.sent == operation::get) {
        to.optional("historyLength", take_history_length(w, fields, how));
    }
    to.optional("metadata", fields.take(field::metadata));
}

void write_v1_members(walk& w, object_writer& to, request_fields& fields, exchange& how)
{
    const bool push =
        how.sent == operation::get_push || how.sent == operation::list_push || how.sent == operation::delete_push;
    if (names_task(how.sent)) {
        to.optional(push ? "taskId" : "id", fields.take(field::task_id));
    }
    if (names_config(how.sent)) {
        to.optional("id", fields.take(field::config_id));
    }
    if (how.sent == operation::cancel) {
        to.optional("metadata", fields.take(field::metadata));
    }
    for_each_asked(w, fields, how, [&to](std::string_view name, std::string_view value) { to.optional(name, value); });
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
    object_writer to{w.out};
    bool good = true;
    if (how.sent == operation::send || how.sent == operation::stream) {
        good = write_send_members(w, to, fields, how.without_history);
    } else if (how.sent == operation::create_push) {
        good = write_created(w, to, fields);
    } else if (w.to == body_shape::v1) {
        to.optional("metadata", fields.take(field::metadata));
    }
    to.close();
    return good;
}

bool has_body(operation what) noexcept
{
    return what == operation::send || what == operation::stream || what == operation::cancel ||
           what == operation::create_push;
}

}  // namespace

bool write_params(walk& w, request_fields& fields, exchange& how)
{
    if (!check(w, fields, how)) {
        return false;
    }
    object_writer to{w.out};
    if (w.to == body_shape::v1) {
        to.optional("tenant", fields.take(field::tenant));
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
    to.close();
    fields.lose_rest(w);
    return true;
}

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

}  // namespace a2a
