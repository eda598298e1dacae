#include "a2a/dialect/request_fields.hpp"

#include "a2a/dialect/push_config.hpp"
#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "core/url.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace a2a {
namespace {

constexpr std::uint8_t index_of(field f) noexcept
{
    return static_cast<std::uint8_t>(f);
}

// 0.3 calls the task `id` in all methods but one.
constexpr std::array v03_rows{
    member_row{"id", index_of(field::task_id)},
    member_row{"taskId", index_of(field::task_id)},
    member_row{"pushNotificationConfigId", index_of(field::config_id)},
    member_row{"pushNotificationConfig", index_of(field::push_config)},
    member_row{"historyLength", index_of(field::history_length)},
    member_row{"metadata", index_of(field::metadata)},
    member_row{"pageSize", index_of(field::page_size), member_row::in_proto},
    member_row{"pageToken", index_of(field::page_token), member_row::in_proto},
};

constexpr std::array send_rows{
    member_row{"tenant", index_of(field::tenant), member_row::in_v1},
    member_row{"message", index_of(field::message)},
    member_row{"request", index_of(field::message), member_row::in_proto},  // its name in the protocol buffers
    member_row{"configuration", index_of(field::configuration)},
    member_row{"metadata", index_of(field::metadata)},
};

constexpr std::array v1_task_rows{
    member_row{"tenant", index_of(field::tenant)},
    member_row{"id", index_of(field::task_id)},
    member_row{"historyLength", index_of(field::history_length)},
    member_row{"metadata", index_of(field::metadata)},
};

constexpr std::array v1_list_rows{
    member_row{"tenant", index_of(field::tenant)},
    member_row{"contextId", index_of(field::context_id)},
    member_row{"status", index_of(field::status)},
    member_row{"pageSize", index_of(field::page_size)},
    member_row{"pageToken", index_of(field::page_token)},
    member_row{"historyLength", index_of(field::history_length)},
    member_row{"statusTimestampAfter", index_of(field::status_timestamp_after)},
    member_row{"includeArtifacts", index_of(field::include_artifacts)},
};

constexpr std::array v1_push_rows{
    member_row{"tenant", index_of(field::tenant)},
    member_row{"taskId", index_of(field::task_id)},
    member_row{"id", index_of(field::config_id)},
    member_row{"pageSize", index_of(field::page_size)},
    member_row{"pageToken", index_of(field::page_token)},
};

// The flat object itself is the push_config: its other members are read with that.
constexpr std::array v1_create_rows{
    member_row{"tenant", index_of(field::tenant)},
    member_row{"taskId", index_of(field::task_id)},
    member_row{"id", index_of(field::config_id)},
    member_row{"url"},
    member_row{"token"},
    member_row{"authentication"},
};

constexpr std::array proto_push_rows{
    member_row{"name", 0},
    member_row{"pushNotificationConfig", 1},
    // The body, for servers that wrap it in a request object.
    member_row{"config", 2},
    member_row{"configId", 3},
    member_row{"parent"},
};

std::span<const member_row> rows_for(operation what, body_shape shape) noexcept
{
    if (what == operation::send || what == operation::stream) {
        return send_rows;
    }
    if (shape != body_shape::v1) {
        return v03_rows;
    }
    switch (what) {
        case operation::list:
            return v1_list_rows;
        case operation::create_push:
            return v1_create_rows;
        case operation::get_push:
        case operation::list_push:
        case operation::delete_push:
            return v1_push_rows;
        default:
            return v1_task_rows;
    }
}

constexpr bool is_number(field f) noexcept
{
    return f == field::history_length || f == field::page_size;
}

constexpr bool is_text(field f) noexcept
{
    return f == field::tenant || f == field::task_id || f == field::config_id || f == field::page_token ||
           f == field::context_id || f == field::status || f == field::status_timestamp_after;
}

// Fields that a query can hold (google.api.http: no objects). The text of another field would be JSON that nobody has checked.
constexpr bool fits_query(field f) noexcept
{
    return is_text(f) || is_number(f) || f == field::include_artifacts;
}

// Members that a query may have beside those of the operation: they are read elsewhere.
bool is_service_parameter(std::string_view name)
{
    return core::equal_ignoring_case(name.substr(0, 4), "a2a-");
}

std::string camel(std::string_view name)
{
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '_' && i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z') {
            out += static_cast<char>(name[++i] - ('a' - 'A'));
        } else {
            out += name[i];
        }
    }
    return out;
}

}  // namespace

std::string_view request_fields::name_of(field f, operation what, body_shape shape) noexcept
{
    const auto rows = rows_for(what, shape);
    std::string_view name;
    for (const auto& row : rows) {
        if (row.index == index_of(f)) {
            name = row.name;
            // The first name is that of all methods but this one.
            if (what != operation::create_push || shape == body_shape::v1) {
                break;
            }
        }
    }
    return name;
}

std::string_view request_fields::take(field f) noexcept
{
    return std::exchange(values_[static_cast<std::size_t>(f)], {});
}

void request_fields::lose_rest(walk& w) const noexcept
{
    for (const auto value : values_) {
        w.lose(value);
    }
}

bool request_fields::check(walk& w, operation what)
{
    for (std::size_t i = 0; i < values_.size(); ++i) {
        const auto f = static_cast<field>(i);
        auto& value = values_[i];
        if (value.empty()) {
            continue;
        }
        const auto name = name_of(f, what, w.from);
        if (is_text(f)) {
            // Empty text is none, but for the id that a request is about.
            const bool good = f == field::task_id ? check_string(w, name, value) : check_filled_string(w, name, value);
            if (!good) {
                return false;
            }
        } else if (is_number(f)) {
            std::string_view digits;
            if (!check_integer(w, name, value, digits)) {
                return false;
            }
            value = digits;
        }
    }
    return check_object(w, "metadata", peek(field::metadata)) &&
           check_boolean(w, "includeArtifacts", peek(field::include_artifacts));
}

bool request_fields::read_params(walk& w, operation what, std::string_view params)
{
    const auto lost = w.lost;
    if (!params.empty() && !w.read(params, rows_for(what, w.from), values_)) {
        return false;
    }
    if (what == operation::create_push && w.from == body_shape::v1) {
        values_[index_of(field::push_config)] = params;
        w.lost = lost;  // who reads the configuration counts
    }
    return check(w, what);
}

void request_fields::set_text(field f, std::string_view text)
{
    if (!text.empty()) {
        std::string raw;
        core::append_json_string(raw, text);
        set(f, std::move(raw));
    }
}

bool request_fields::read_proto_push(walk& w, std::string_view body)
{
    std::array<std::string_view, 4> values;
    if (!w.read(body, proto_push_rows, values)) {
        return false;
    }
    if (!values[2].empty()) {
        const walk::step into{w, "config"};
        values_[index_of(field::config_id)] = values[3];
        std::array<std::string_view, 4> inner;
        if (!w.read(values[2], proto_push_rows, inner)) {
            return false;
        }
        values[0] = inner[0];
        values[1] = inner[1];
    }
    resource_ids ids;
    if (peek(field::config_id).empty() && read_resource_name(values[0], ids) && !ids.config.empty()) {
        values_[index_of(field::config_id)] = room_.emplace_front(std::move(ids.config));
    }
    values_[index_of(field::push_config)] = values[1];
    return true;
}

bool request_fields::read_query_member(walk& w, operation what, std::string_view name, std::string_view value)
{
    const auto rows = rows_for(what, w.from);
    const auto row = std::ranges::find(rows, name, &member_row::name);
    if (row == rows.end() || row->index == member_row::ignored) {
        w.lost += is_service_parameter(name) ? 0 : 1;
        return true;
    }
    const auto f = static_cast<field>(row->index);
    if (f == field::task_id || f == field::config_id) {
        return true;  // the path says them
    }
    if (!fits_query(f)) {
        ++w.lost;
        return true;
    }
    if (!peek(f).empty()) {
        return w.fail(row->name, "is given twice");
    }
    if (is_text(f) || is_number(f)) {
        set_text(f, value);
        return true;
    }
    values_[row->index] = room_.emplace_front(value);
    return true;
}

bool request_fields::read_query(walk& w, operation what, std::string_view query)
{
    while (!query.empty()) {
        const auto pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(pair.size() + 1, query.size()));
        const auto equals = std::min(pair.find('='), pair.size());
        const auto value = core::decoded(pair.substr(std::min(equals + 1, pair.size())));
        if (equals != 0 && !read_query_member(w, what, camel(core::decoded(pair.substr(0, equals))), value)) {
            return false;
        }
    }
    return true;
}

bool request_fields::read_rest(walk& w, const rest_target& target, std::string_view body)
{
    const auto what = target.what;
    const bool reads_body = what == operation::send || what == operation::stream || what == operation::cancel ||
                            what == operation::create_push;
    if (reads_body && !body.empty()) {
        const bool proto_push = what == operation::create_push && w.from == body_shape::proto;
        if (!(proto_push ? read_proto_push(w, body) : read_params(w, what, body))) {
            return false;
        }
    }
    // The path is what the request is about, whatever the body says.
    set_text(field::tenant, target.tenant);
    set_text(field::task_id, target.task_id);
    set_text(field::config_id, target.config_id);
    return read_query(w, what, target.query) && check(w, what);
}

}  // namespace a2a
