#include "a2a/dialect/event.hpp"

#include "a2a/dialect/message.hpp"
#include "a2a/dialect/timestamp.hpp"

#include <array>
#include <cstddef>
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

// Appends the members `taskId` under `name` and `contextId` of a task or event. Fails without a task id. 0.3 requires a contextId where
// 1.0 does not: the id of the task stands in for one that is missing.
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

// Appends one status; an absent one (empty) has no state that any version knows.
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

// Appends one task, without history if the walk says so. `state` gets that of its status.
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

struct kind_row {
    std::string_view kind;     // of 0.3 JSON-RPC
    std::string_view wrapper;  // of all others
};

constexpr std::array<kind_row, 4> kinds{{
    {"task", "task"},
    {"message", "message"},
    {"status-update", "statusUpdate"},
    {"artifact-update", "artifactUpdate"},
}};

constexpr std::array wrapper_rows{
    member_row{"task", 0},
    member_row{"message", 1},
    member_row{"msg", 1, member_row::in_proto},  // its name in the protocol buffers
    member_row{"statusUpdate", 2},
    member_row{"artifactUpdate", 3},
};

namespace update_at {
enum : std::uint8_t { task_id, context_id, status, artifact, append, last_chunk, metadata, count };
}

constexpr std::array status_update_rows{
    member_row{"kind"},
    member_row{"final"},
    member_row{"taskId", update_at::task_id},
    member_row{"contextId", update_at::context_id},
    member_row{"status", update_at::status},
    member_row{"metadata", update_at::metadata},
};

constexpr std::array artifact_update_rows{
    member_row{"kind"},
    member_row{"taskId", update_at::task_id},
    member_row{"contextId", update_at::context_id},
    member_row{"artifact", update_at::artifact},
    member_row{"append", update_at::append},
    member_row{"lastChunk", update_at::last_chunk},
    member_row{"metadata", update_at::metadata},
};

using update_values = std::array<std::string_view, update_at::count>;

event_kind kind_called(std::string_view raw)
{
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (says(raw, kinds[i].kind)) {
            return static_cast<event_kind>(i);
        }
    }
    return event_kind::unknown;
}

// `kind`, or for servers that forget it what only objects of this kind have.
event_kind kind_of(std::string_view raw)
{
    std::string_view kind;
    bool status = false;
    bool artifact = false;
    bool task_id = false;
    bool message_id = false;
    trusted_cursor cursor{raw, trusted_cursor::deepest};
    const bool whole = is_object(raw) && cursor.object([&](std::string_view name, bool, std::string_view value) {
        kind = name == "kind" ? value : kind;
        status = status || name == "status";
        artifact = artifact || name == "artifact";
        task_id = task_id || name == "taskId";
        message_id = message_id || name == "messageId" || name == "parts";
        return true;
    });
    if (!whole || !kind.empty()) {
        return kind_called(kind);
    }
    if (artifact || message_id) {
        return artifact ? event_kind::artifact_update : event_kind::message;
    }
    if (status) {
        return task_id ? event_kind::status_update : event_kind::task;
    }
    return event_kind::unknown;
}

bool write_status_update(walk& w, core::json_writer& to, const update_values& values, task_state& state)
{
    to.name("status");
    if (!translate_status(w, values[update_at::status], state)) {
        return false;
    }
    if (w.to != body_shape::v1) {
        to.raw_member("final", is_final(state) ? "true" : "false");
    }
    return true;
}

bool write_artifact_update(walk& w, core::json_writer& to, const update_values& values)
{
    if (!check_boolean(w, "append", values[update_at::append]) ||
        !check_boolean(w, "lastChunk", values[update_at::last_chunk])) {
        return false;
    }
    to.name("artifact");
    const walk::step into{w, "artifact"};
    if (!translate_artifact(w, values[update_at::artifact])) {
        return false;
    }
    to.raw_member_if_any("append", values[update_at::append]);
    to.raw_member_if_any("lastChunk", values[update_at::last_chunk]);
    return true;
}

bool translate_update(walk& w, std::string_view raw, event_facts& facts)
{
    const bool status = facts.kind == event_kind::status_update;
    update_values values;
    const bool read = status ? w.read(raw, status_update_rows, values) : w.read(raw, artifact_update_rows, values);
    if (!read || !check_object(w, "metadata", values[update_at::metadata])) {
        return false;
    }
    core::json_writer to{w.out, '{'};
    if (w.to == body_shape::types) {
        to.raw_member("kind", status ? "\"status-update\"" : "\"artifact-update\"");
    }
    if (!write_ids(w, to, "taskId", values[update_at::task_id], values[update_at::context_id]) ||
        !(status ? write_status_update(w, to, values, facts.state) : write_artifact_update(w, to, values))) {
        return false;
    }
    to.raw_member_if_any("metadata", values[update_at::metadata]);
    to.close('}');
    return true;
}

bool translate_value(walk& w, std::string_view raw, event_facts& facts)
{
    switch (facts.kind) {
        case event_kind::task:
            return translate_task(w, raw, facts.state);
        case event_kind::message:
            return translate_message(w, raw);
        case event_kind::status_update:
        case event_kind::artifact_update:
            return translate_update(w, raw, facts);
        case event_kind::unknown:
            break;
    }
    return w.fail("is of a kind that A2A does not define");
}

// The value of the one wrapper that is there, and its kind.
bool unwrap(walk& w, std::string_view raw, std::string_view& value, event_kind& kind)
{
    std::array<std::string_view, kinds.size()> values;
    if (!w.read(raw, wrapper_rows, values)) {
        return false;
    }
    value = {};
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].empty()) {
            continue;
        }
        if (!value.empty()) {
            return w.fail("has two values");
        }
        value = values[i];
        kind = static_cast<event_kind>(i);
    }
    return true;
}

bool translate_any(walk& w, std::string_view raw, event_facts& facts, bool updates)
{
    std::string_view value = raw;
    const bool wrapped = w.from != body_shape::types;
    if (wrapped) {
        if (!unwrap(w, raw, value, facts.kind)) {
            return false;
        }
    } else {
        facts.kind = kind_of(raw);
    }
    const bool update = facts.kind == event_kind::status_update || facts.kind == event_kind::artifact_update;
    if (facts.kind == event_kind::unknown || (update && !updates)) {
        return w.fail("is of a kind that A2A does not define here");
    }
    const auto& row = kinds[static_cast<std::size_t>(facts.kind)];
    const walk::step into{w, wrapped ? row.wrapper : std::string_view{}};
    if (w.to == body_shape::types) {
        return translate_value(w, value, facts);
    }
    w.out.append("{\"").append(row.wrapper).append("\":");
    if (!translate_value(w, value, facts)) {
        return false;
    }
    w.out += '}';
    return true;
}

// The state in `raw`, a task or a status update.
task_state state_in(std::string_view raw)
{
    std::string_view status;
    std::string_view state;
    trusted_cursor outer{raw, trusted_cursor::deepest};
    outer.object([&status](std::string_view name, bool, std::string_view value) {
        status = name == "status" ? value : status;
        return true;
    });
    trusted_cursor inner{status, trusted_cursor::deepest};
    if (is_object(status)) {
        inner.object([&state](std::string_view name, bool, std::string_view value) {
            state = name == "state" ? value : state;
            return true;
        });
    }
    return read_state(state);
}

// Every task has these members.
bool is_task(std::string_view raw)
{
    bool id = false;
    bool status = false;
    trusted_cursor cursor{raw, trusted_cursor::deepest};
    const bool whole = is_object(raw) && cursor.object([&](std::string_view name, bool, std::string_view value) {
        id = id || (name == "id" && is_string(value));
        status = status || (name == "status" && is_object(value));
        return true;
    });
    return whole && id && status;
}

// Reads the kind of an event, and its value.
event_facts facts_in(std::string_view raw, body_shape shape, std::string_view& value)
{
    event_facts facts;
    value = raw;
    if (shape == body_shape::types) {
        facts.kind = kind_of(raw);
    } else if (is_object(raw)) {
        trusted_cursor cursor{raw, trusted_cursor::deepest};
        cursor.object([&](std::string_view name, bool, std::string_view member) {
            for (std::size_t i = 0; i < kinds.size(); ++i) {
                if (name == kinds[i].wrapper && is_object(member)) {
                    facts.kind = static_cast<event_kind>(i);
                    value = member;
                }
            }
            return true;
        });
    }
    if (facts.kind == event_kind::task || facts.kind == event_kind::status_update) {
        facts.state = is_object(value) ? state_in(value) : task_state::unspecified;
    }
    return facts;
}

// Copies a task or a message of the same shape.
bool copy_send_result(walk& w, std::string_view raw, event_facts& facts)
{
    std::string_view value;
    facts = facts_in(raw, w.from, value);
    const bool task = facts.kind == event_kind::task && is_task(value);
    if (!task && facts.kind != event_kind::message) {
        return w.fail("is neither a task nor a message");
    }
    w.out += raw;
    return true;
}

}  // namespace

bool translate_stream_event(walk& w, std::string_view raw, event_facts& facts)
{
    if (w.same_shape()) {
        facts = facts_of(raw, w.from);
        w.out += raw;
        return true;
    }
    return translate_any(w, raw, facts, true);
}

bool translate_send_result(walk& w, std::string_view raw, event_facts& facts)
{
    return w.same_shape() ? copy_send_result(w, raw, facts) : translate_any(w, raw, facts, false);
}

bool translate_task_result(walk& w, std::string_view raw, event_facts& facts)
{
    facts.kind = event_kind::task;
    if (!w.same_shape()) {
        return translate_task(w, raw, facts.state);
    }
    if (!is_task(raw)) {
        return w.fail("is not a task");
    }
    facts.state = state_in(raw);
    w.out += raw;
    return true;
}

event_facts facts_of(std::string_view raw, body_shape shape)
{
    std::string_view value;
    return facts_in(raw, shape, value);
}

}  // namespace a2a
