#include "a2a/dialect/task.hpp"

#include "a2a/dialect/message.hpp"
#include "a2a/dialect/timestamp.hpp"

#include <array>
#include <cstdint>

namespace a2a {
namespace {

namespace status_at {
enum : std::uint8_t { state, message, timestamp, count };
}

constexpr std::array status_rows{
    member_row{"state", status_at::state},
    member_row{"message", status_at::message},
    member_row{"update", status_at::message, member_row::in_proto},  // its name in the protocol buffers
    member_row{"timestamp", status_at::timestamp},
};

namespace artifact_at {
enum : std::uint8_t { id, name, description, parts, metadata, extensions, count };
}

constexpr std::array artifact_rows{
    member_row{"artifactId", artifact_at::id},
    member_row{"name", artifact_at::name},
    member_row{"description", artifact_at::description},
    member_row{"parts", artifact_at::parts},
    member_row{"metadata", artifact_at::metadata},
    member_row{"extensions", artifact_at::extensions},
};

namespace task_at {
enum : std::uint8_t { id, context_id, status, artifacts, history, metadata, count };
}

constexpr std::array task_rows{
    member_row{"kind"},
    member_row{"id", task_at::id},
    member_row{"contextId", task_at::context_id},
    member_row{"status", task_at::status},
    member_row{"artifacts", task_at::artifacts},
    member_row{"history", task_at::history},
    member_row{"metadata", task_at::metadata},
};

// The member `name` with all elements translated by `each`. ProtoJSON writes no empty array.
bool write_array(
    walk& w,
    core::json_writer& to,
    std::string_view name,
    std::string_view raw,
    bool (*each)(walk&, std::string_view)
)
{
    if (raw.empty() || is_empty_array(raw)) {
        return true;
    }
    to.name(name);
    bool first = true;
    const bool good = w.elements(name, raw, [&](std::string_view element) {
        w.out += first ? '[' : ',';
        first = false;
        return each(w, element);
    });
    w.out += ']';
    return good;
}

void write_timestamp(walk& w, core::json_writer& to, std::string_view raw)
{
    if (raw.empty()) {
        return;
    }
    if (w.to == body_shape::types && is_string(raw)) {
        to.raw_member("timestamp", raw);
        return;
    }
    // The name is removed again if it has no value.
    const auto before = w.out.size();
    to.name("timestamp");
    if (!append_timestamp(w.out, raw)) {
        w.out.resize(before);
        ++w.lost;
    }
}

}  // namespace

bool write_ids(
    walk& w,
    core::json_writer& to,
    std::string_view name,
    std::string_view task_id,
    std::string_view context_id
)
{
    if (!is_string(task_id)) {
        return w.fail(name, "must be a string");
    }
    if (!check_filled_string(w, "contextId", context_id)) {
        return false;
    }
    to.raw_member(name, task_id);
    to.raw_member_if_any("contextId", context_id.empty() && w.to != body_shape::v1 ? task_id : context_id);
    return true;
}

bool translate_status(walk& w, std::string_view raw, task_state& state)
{
    std::array<std::string_view, status_at::count> values;
    const walk::step into{w, "status"};
    if (!raw.empty() && !w.read(raw, status_rows, values)) {
        return false;
    }
    state = read_state(values[status_at::state]);
    core::json_writer to{w.out, '{'};
    to.raw_member("state", spelled(state, w.to));
    if (!values[status_at::message].empty()) {
        to.name("message");
        const walk::step into_message{w, "message"};
        if (!translate_message(w, values[status_at::message])) {
            return false;
        }
    }
    write_timestamp(w, to, values[status_at::timestamp]);
    to.close('}');
    return true;
}

bool translate_artifact(walk& w, std::string_view raw)
{
    std::array<std::string_view, artifact_at::count> values;
    if (!w.read(raw, artifact_rows, values) || !check_string(w, "artifactId", values[artifact_at::id]) ||
        !check_filled_string(w, "name", values[artifact_at::name]) ||
        !check_filled_string(w, "description", values[artifact_at::description]) ||
        !check_object(w, "metadata", values[artifact_at::metadata]) ||
        !check_strings(w, "extensions", values[artifact_at::extensions])) {
        return false;
    }
    core::json_writer to{w.out, '{'};
    to.raw_member_if_any("artifactId", values[artifact_at::id]);
    to.raw_member_if_any("name", values[artifact_at::name]);
    to.raw_member_if_any("description", values[artifact_at::description]);
    to.name("parts");
    if (!translate_parts(w, "parts", values[artifact_at::parts])) {
        return false;
    }
    to.raw_member_if_any("metadata", values[artifact_at::metadata]);
    to.raw_member_if_any("extensions", values[artifact_at::extensions]);
    to.close('}');
    return true;
}

bool translate_task(walk& w, std::string_view raw, task_state& state)
{
    std::array<std::string_view, task_at::count> values;
    if (!w.read(raw, task_rows, values) || !check_object(w, "metadata", values[task_at::metadata])) {
        return false;
    }
    core::json_writer to{w.out, '{'};
    if (w.to == body_shape::types) {
        to.raw_member("kind", "\"task\"");
    }
    if (!write_ids(w, to, "id", values[task_at::id], values[task_at::context_id])) {
        return false;
    }
    to.name("status");
    if (!translate_status(w, values[task_at::status], state) ||
        !write_array(w, to, "artifacts", values[task_at::artifacts], translate_artifact)) {
        return false;
    }
    if (!w.without_history && !write_array(w, to, "history", values[task_at::history], translate_message)) {
        return false;
    }
    to.raw_member_if_any("metadata", values[task_at::metadata]);
    to.close('}');
    return true;
}

}  // namespace a2a
