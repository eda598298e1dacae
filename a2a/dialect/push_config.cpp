#include "a2a/dialect/push_config.hpp"

#include "core/json/json.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <array>
#include <cstdint>

namespace a2a {
namespace {

namespace at {
enum : std::uint8_t { id, task_id, url, token, authentication, nested, name, tenant, count };
}

constexpr std::array rows{
    member_row{"id", at::id},
    member_row{"url", at::url},
    member_row{"token", at::token},
    member_row{"authentication", at::authentication},
    member_row{"taskId", at::task_id, member_row::in_v1},
    member_row{"tenant", at::tenant, member_row::in_v1},
};

constexpr std::array task_rows{
    member_row{"taskId", at::task_id, member_row::in_types},
    member_row{"name", at::name, member_row::in_proto},
    member_row{"pushNotificationConfig", at::nested, member_row::in_v03},
};

using config_values = std::array<std::string_view, at::count>;

namespace auth_at {
enum : std::uint8_t { schemes, scheme, credentials, count };
}

constexpr std::array auth_rows{
    member_row{"schemes", auth_at::schemes, member_row::in_v03},
    member_row{"scheme", auth_at::scheme, member_row::in_v1},
    member_row{"credentials", auth_at::credentials},
};

namespace list_at {
enum : std::uint8_t { configs, next_page, count };
}

constexpr std::array list_rows{
    member_row{"configs", list_at::configs},
    member_row{"nextPageToken", list_at::next_page},
};

constexpr std::string_view collection = "/pushNotificationConfigs";

bool read_first_scheme(walk& w, std::string_view raw, push_config& found)
{
    return w.elements("schemes", raw, [&w, &found](std::string_view scheme) {
        if (found.scheme.empty()) {
            found.scheme = scheme;
        } else {
            ++w.lost;
        }
        return is_string(scheme) || w.fail("must be a string");
    });
}

bool read_authentication(walk& w, std::string_view raw, push_config& found)
{
    if (raw.empty()) {
        return true;
    }
    const walk::step into{w, "authentication"};
    std::array<std::string_view, auth_at::count> values;
    if (!w.read(raw, auth_rows, values)) {
        return false;
    }
    found.scheme = values[auth_at::scheme];
    found.credentials = values[auth_at::credentials];
    if (!values[auth_at::schemes].empty() && !read_first_scheme(w, values[auth_at::schemes], found)) {
        return false;
    }
    if (!check_filled_string(w, "scheme", found.scheme) || !check_filled_string(w, "credentials", found.credentials)) {
        return false;
    }
    const bool nameless = found.scheme.empty() && !found.credentials.empty();
    return !nameless || w.fail(w.from == body_shape::v1 ? "scheme" : "schemes", "is required");
}

bool take_config(walk& w, const config_values& values, push_config& found)
{
    found.id = values[at::id];
    found.url = values[at::url];
    found.token = values[at::token];
    return check_filled_string(w, "id", found.id) && check_string(w, "url", found.url) &&
           check_filled_string(w, "token", found.token) && read_authentication(w, values[at::authentication], found);
}

bool translate_flat(walk& w, std::string_view raw)
{
    config_values values;
    push_config found;
    if (!w.read(raw, rows, values) || !take_config(w, values, found)) {
        return false;
    }
    const auto task = values[at::task_id];
    w.lose(values[at::tenant]);
    if (!is_string(task)) {
        return w.fail("taskId", "must be a string");
    }
    core::json_writer to{w.out, '{'};
    if (w.to == body_shape::types) {
        to.raw_member("taskId", task);
    } else {
        write_resource_name(to, w.out, task, found.id);
    }
    to.name("pushNotificationConfig");
    core::json_writer nested{w.out, '{'};
    write_push_config(w, nested, found);
    nested.close('}');
    to.close('}');
    return true;
}

bool translate_nested(walk& w, std::string_view raw)
{
    config_values values;
    push_config found;
    if (!w.read(raw, task_rows, values)) {
        return false;
    }
    resource_ids ids;
    if (w.from == body_shape::proto) {
        if (!read_resource_name(values[at::name], ids)) {
            return w.fail("name", "must be tasks/{task}/pushNotificationConfigs/{config}");
        }
        values[at::task_id] = ids.task;
    }
    if (!is_string(values[at::task_id])) {
        return w.fail("taskId", "must be a string");
    }
    {
        const walk::step into{w, "pushNotificationConfig"};
        if (!read_push_config(w, values[at::nested], found)) {
            return false;
        }
    }
    if (found.id.empty()) {
        found.id = ids.config;
    }
    core::json_writer to{w.out, '{'};
    if (w.to == body_shape::proto) {
        write_resource_name(to, w.out, values[at::task_id], found.id);
    } else {
        to.raw_member("taskId", values[at::task_id]);
    }
    if (w.to == body_shape::v1) {
        write_push_config(w, to, found);
    } else {
        to.name("pushNotificationConfig");
        core::json_writer nested{w.out, '{'};
        write_push_config(w, nested, found);
        nested.close('}');
    }
    to.close('}');
    return true;
}

// The array of configurations in what answers a list.
bool read_list(walk& w, std::string_view raw, std::string_view& configs, std::string_view& next_page)
{
    if (w.from == body_shape::types) {
        configs = raw;
        return is_array(raw) || w.fail("must be an array");
    }
    std::array<std::string_view, list_at::count> values;
    if (!w.read(raw, list_rows, values) || !check_array(w, "configs", values[list_at::configs]) ||
        !check_filled_string(w, "nextPageToken", values[list_at::next_page])) {
        return false;
    }
    configs = values[list_at::configs].empty() ? std::string_view{"[]"} : values[list_at::configs];
    next_page = values[list_at::next_page];
    return true;
}

}  // namespace

bool read_push_config(walk& w, std::string_view raw, push_config& found)
{
    config_values values;
    return w.read(raw, rows, values) && take_config(w, values, found);
}

void write_push_config(walk& w, core::json_writer& to, const push_config& from)
{
    to.raw_member_if_any("id", from.id);
    to.raw_member_if_any("url", from.url);
    to.raw_member_if_any("token", from.token);
    if (from.scheme.empty()) {
        return;
    }
    to.name("authentication");
    core::json_writer authentication{w.out, '{'};
    if (w.to == body_shape::v1) {
        authentication.raw_member("scheme", from.scheme);
    } else {
        authentication.name("schemes");
        w.out.append("[").append(from.scheme).append("]");
    }
    authentication.raw_member_if_any("credentials", from.credentials);
    authentication.close('}');
}

bool translate_push_config(walk& w, std::string_view raw)
{
    push_config found;
    if (!read_push_config(w, raw, found)) {
        return false;
    }
    core::json_writer to{w.out, '{'};
    write_push_config(w, to, found);
    to.close('}');
    return true;
}

bool translate_task_push_config(walk& w, std::string_view raw)
{
    if (w.same_shape()) {
        w.out += raw;
        return true;
    }
    return w.from == body_shape::v1 ? translate_flat(w, raw) : translate_nested(w, raw);
}

bool translate_push_configs(walk& w, std::string_view raw, bool first_only, std::string_view& next_page)
{
    std::string_view configs;
    if (!read_list(w, raw, configs, next_page)) {
        return false;
    }
    const auto name = w.from == body_shape::types ? std::string_view{} : std::string_view{"configs"};
    const bool array = w.to == body_shape::types;
    if (first_only) {
        array_walker at{configs};
        std::string_view first;
        if (!at.next(first)) {
            return w.fail_with(
                rpc_code::task_not_found,
                "asks for a push notification configuration that the task does not have"
            );
        }
        const walk::step into{w, name};
        return translate_task_push_config(w, first);
    }
    w.out += array ? "[" : "{\"configs\":[";
    bool first = true;
    const bool good = w.elements(name, configs, [&w, &first](std::string_view element) {
        w.out += first ? "" : ",";
        first = false;
        return translate_task_push_config(w, element);
    });
    w.out += ']';
    if (!array) {
        if (!next_page.empty()) {
            w.out.append(",\"nextPageToken\":").append(next_page);
        }
        w.out += '}';
        next_page = {};
    }
    return good;
}

bool read_resource_name(std::string_view raw, resource_ids& ids)
{
    if (!is_string(raw)) {
        return false;
    }
    const auto name = core::unescape_json(unquoted(raw));
    constexpr std::string_view tasks = "tasks/";
    const auto behind = name.find(collection, tasks.size());
    if (!name.starts_with(tasks) || behind == std::string::npos || behind == tasks.size()) {
        return false;
    }
    const auto tail = std::string_view{name}.substr(behind + collection.size());
    if (!tail.empty() && tail.front() != '/') {
        return false;
    }
    core::append_json_string(ids.task, std::string_view{name}.substr(tasks.size(), behind - tasks.size()));
    if (tail.size() > 1) {
        core::append_json_string(ids.config, tail.substr(1));
    }
    return true;
}

void write_resource_name(core::json_writer& to, std::string& out, std::string_view task, std::string_view config)
{
    to.name("name");
    out.append("\"tasks/").append(unquoted(task)).append(collection).append("/");
    out.append(unquoted(config.empty() ? task : config)).append("\"");
}

}  // namespace a2a
