#include "a2a/dialect/push_edit.hpp"

#include "a2a/dialect/walk.hpp"
#include "core/ascii.hpp"
#include "core/json/json_cursor.hpp"
#include "core/json/jsonrpc_scan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace a2a {
namespace {

using cursor_type = core::json_cursor<core::wide_bytes>;

constexpr std::size_t longest_name = 6 * 64;  // of ours, with an escape for each letter

namespace at {
enum : std::size_t { url, token, authentication, count };
}
constexpr std::array<std::string_view, at::count> config_names{"url", "token", "authentication"};

// The names of a configuration within another object, in the shapes and in other versions.
constexpr std::array<std::string_view, 3> holder_names{
    "pushNotificationConfig",
    "pushNotification",
    "taskPushNotificationConfig"
};

constexpr std::string_view configuration_name = "configuration";
constexpr std::string_view nested_name = "config";  // of the protocol buffers of 0.3

std::string plain_name(std::string_view raw, bool escaped)
{
    return escaped ? core::unescape_json(raw) : std::string{raw};
}

// The name as the most careless reader compares it: without case and without underscores.
std::string careless(std::string_view name)
{
    auto out = core::folded(name);
    std::erase(out, '_');
    return out;
}

std::string_view trimmed(std::string_view text) noexcept
{
    return core::trim(text, " \t\r\n");
}

class request_search {
public:
    request_search(body_shape shape, operation what) noexcept
        : shape_{shape},
          what_{what}
    {
    }

    translation<std::vector<placed_push_config>> find(std::string_view payload)
    {
        const auto object = trimmed(payload);
        bool good = true;
        if (is_object(object) && (what_ == operation::send || what_ == operation::stream)) {
            good = find_in_send(object);
        } else if (is_object(object) && what_ == operation::create_push) {
            good = find_in_create(object);
        } else if (is_object(object) && what_ == operation::none) {
            good = take_from(object, holder_names.size());  // `tasks/send` of 0.1 has one
        }
        if (!good) {
            return std::move(failure_);
        }
        return std::move(found_);
    }

private:
    // The values of members by their names, raw; empty: absent or null. False: a member stands twice, or in a spelling that
    // only some readers take for ours.
    bool read(std::string_view object, std::span<const std::string_view> names, std::span<std::string_view> values)
    {
        cursor_type cursor{object, cursor_type::deepest};
        bool good = true;
        cursor.object([&](std::string_view raw, bool escaped, std::string_view value) {
            if (raw.size() > longest_name) {
                return true;
            }
            const auto name = plain_name(raw, escaped);
            const auto plain = careless(name);
            for (std::size_t i = 0; good && i < names.size(); ++i) {
                if (plain != careless(names[i])) {
                    continue;
                }
                if (name != names[i]) {
                    good = fail(names[i], "is spelled in another way");
                } else if (!values[i].empty()) {
                    good = fail(names[i], "is given twice");
                } else {
                    values[i] = value;
                }
            }
            return good;
        });
        for (auto& value : values) {
            value = value == "null" ? std::string_view{} : value;
        }
        return good;
    }

    bool fail(std::string_view member, std::string_view why)
    {
        failure_.code = rpc_code::invalid_params;
        failure_.member = path_;
        failure_.member += path_.empty() || member.empty() ? "" : ".";
        failure_.member += member;
        failure_.why = why;
        return false;
    }

    std::size_t own_name() const noexcept
    {
        switch (shape_) {
            case body_shape::types:
                return 0;
            case body_shape::proto:
                return what_ == operation::create_push ? 0 : 1;
            case body_shape::v1:
                break;
        }
        return 2;
    }

    // `holder`: an object with a configuration as a member.
    bool take_from(std::string_view holder, std::size_t own)
    {
        std::array<std::string_view, holder_names.size()> values;
        if (!read(holder, holder_names, values)) {
            return false;
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (i != own && !values[i].empty()) {
                return fail(holder_names[i], "is a member of another version of A2A");
            }
        }
        if (own >= values.size() || values[own].empty()) {
            return true;
        }
        descend(holder_names[own]);
        return take(values[own]);
    }

    bool take(std::string_view object)
    {
        placed_push_config found;
        found.object = object;
        std::array<std::string_view, at::count> values;
        if (!is_object(object) || !read(object, config_names, values)) {
            return failure_.why.empty() ? fail({}, "must be an object") : false;
        }
        found.url = values[at::url];
        found.token = values[at::token];
        found.authentication = values[at::authentication];
        if (!is_string(found.url)) {
            return fail("url", "must be a string");
        }
        if (!found.token.empty() && !is_string(found.token)) {
            return fail("token", "must be a string");
        }
        if (!found.authentication.empty() && !is_object(found.authentication)) {
            return fail("authentication", "must be an object");
        }
        found_.push_back(found);
        return true;
    }

    bool find_in_send(std::string_view object)
    {
        std::array<std::string_view, 1> values;
        if (!read(object, std::array{configuration_name}, values)) {
            return false;
        }
        if (values[0].empty()) {
            return true;
        }
        if (!is_object(values[0])) {
            return fail(configuration_name, "must be an object");
        }
        descend(configuration_name);
        return take_from(values[0], own_name());
    }

    bool find_in_create(std::string_view object)
    {
        if (shape_ == body_shape::v1) {
            // Nothing nested: such an object would be for another reader.
            return take_from(object, holder_names.size()) && take(object);
        }
        std::string_view holder = object;
        if (shape_ == body_shape::proto) {
            std::array<std::string_view, 1> values;
            if (!read(object, std::array{nested_name}, values)) {
                return false;
            }
            if (is_object(values[0])) {
                holder = values[0];
                descend(nested_name);
            }
        }
        return take_from(holder, own_name());
    }

    void descend(std::string_view into)
    {
        path_ += path_.empty() ? "" : ".";
        path_ += into;
    }

    body_shape shape_;
    operation what_;
    std::string path_;
    refusal failure_;
    std::vector<placed_push_config> found_;
};

// The first member of this name; empty: the object has none.
std::string_view member_of(std::string_view object, std::string_view wanted)
{
    std::string_view found;
    if (is_object(object)) {
        cursor_type cursor{object, cursor_type::deepest};
        cursor.object([&](std::string_view raw, bool escaped, std::string_view value) {
            if (raw.size() <= longest_name && plain_name(raw, escaped) == wanted) {
                found = value;
            }
            return found.empty();
        });
    }
    return found;
}

void add_answered(std::vector<placed_push_config>& to, std::string_view object)
{
    const auto url = member_of(object, config_names[at::url]);
    if (is_string(url)) {
        to.push_back(
            {object,
             url,
             member_of(object, config_names[at::token]),
             member_of(object, config_names[at::authentication])}
        );
    }
}

// `object`: what the dialect gives for one configuration of a task.
void add_of_task(std::vector<placed_push_config>& to, body_shape shape, std::string_view object)
{
    add_answered(to, shape == body_shape::v1 ? object : member_of(object, holder_names[0]));
}

void append_config(std::string& out, const push_replacement& by)
{
    core::json_writer to{out, '{'};
    std::array<bool, at::count> seen{};
    const std::array<std::string_view, at::count> values{by.url, by.token, by.authentication};
    cursor_type cursor{by.at.object, cursor_type::deepest};
    cursor.object([&](std::string_view raw, bool escaped, std::string_view value) {
        const auto name = raw.size() <= longest_name ? plain_name(raw, escaped) : std::string{};
        const auto known = static_cast<std::size_t>(std::ranges::find(config_names, name) - config_names.begin());
        if (known == config_names.size()) {
            to.raw_member(raw, value);
        } else if (!std::exchange(seen[known], true)) {
            to.raw_member_if_any(config_names[known], values[known]);
        }
        return true;
    });
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (!seen[i]) {
            to.raw_member_if_any(config_names[i], values[i]);
        }
    }
    to.close('}');
}

std::string string_in(std::string_view raw)
{
    return is_string(raw) ? core::unescape_json(unquoted(raw)) : std::string{};
}

constexpr std::array<std::string_view, 4> wrappers{"task", "message", "statusUpdate", "artifactUpdate"};

}  // namespace

translation<std::vector<placed_push_config>> find_requested_push(dialect from, operation what, std::string_view payload)
{
    return request_search{shape_of(from), what}.find(payload);
}

std::vector<placed_push_config> find_answered_push(dialect from, operation what, std::string_view result)
{
    std::vector<placed_push_config> found;
    const auto shape = shape_of(from);
    const auto text = trimmed(result);
    if (what == operation::create_push || what == operation::get_push) {
        add_of_task(found, shape, text);
    } else if (what == operation::list_push) {
        const auto list = is_array(text) ? text : member_of(text, "configs");
        if (is_array(list)) {
            array_walker walker{list};
            for (std::string_view each; walker.next(each);) {
                add_of_task(found, shape, each);
            }
        }
    }
    return found;
}

std::string with_push_configs(std::string_view text, std::span<const push_replacement> replaced)
{
    std::string out;
    out.reserve(text.size() + 1024 * replaced.size());
    const char* from = text.data();
    for (const auto& each : replaced) {
        const auto object = each.at.object;
        out.append(from, static_cast<std::size_t>(object.data() - from));
        append_config(out, each);
        from = object.data() + object.size();
    }
    out.append(from, static_cast<std::size_t>(text.data() + text.size() - from));
    return out;
}

std::string push_authorization(std::string_view authentication)
{
    auto scheme = string_in(member_of(authentication, "scheme"));
    const auto schemes = member_of(authentication, "schemes");
    if (scheme.empty() && is_array(schemes)) {
        array_walker walker{schemes};
        std::string_view first;
        scheme = walker.next(first) ? string_in(first) : std::string{};
    }
    const auto credentials = string_in(member_of(authentication, "credentials"));
    return scheme.empty() || credentials.empty() ? std::string{} : scheme + ' ' + credentials;
}

std::string bearer_push_authentication(generation of, std::string_view token)
{
    std::string text =
        of == generation::v1 ? R"({"scheme":"Bearer","credentials":")" : R"({"schemes":["Bearer"],"credentials":")";
    text.append(token).append("\"}");
    return text;
}

translation<push_notification> read_notification(std::string_view body, const translation_limits& limits)
{
    const refusal refused{rpc_code::invalid_agent_response, {}, "is no push notification"};
    const auto text = trimmed(body);
    cursor_type cursor{text, limits.depth};
    if (body.size() > limits.bytes || !is_object(text) || !cursor.value() || !cursor.finish()) {
        return refused;
    }
    push_notification found;
    auto value = text;
    found.kind = facts_of(text, body_shape::v1).kind;
    if (found.kind != event_kind::unknown) {
        found.version = generation::v1;
        value = member_of(text, wrappers[static_cast<std::size_t>(found.kind)]);
    } else {
        found.kind = facts_of(text, body_shape::types).kind;
    }
    if (found.kind == event_kind::unknown || !is_object(value)) {
        return refused;
    }
    found.task = string_in(member_of(value, found.kind == event_kind::task ? "id" : "taskId"));
    return found;
}

translation<> translate_notification(std::string_view body, generation from, generation to, std::string& out)
{
    const auto text = trimmed(body);
    if (from == to) {
        out += text;
        return {};
    }
    const auto shape = [](generation of) { return of == generation::v1 ? body_shape::v1 : body_shape::types; };
    walk w{shape(from), shape(to), origin_side::agent, out};
    event_facts facts;
    if (!translate_stream_event(w, text, facts)) {
        return w.take_failure();
    }
    return {};
}

}  // namespace a2a
