#include "a2a/dialect/event.hpp"

#include "a2a/dialect/message.hpp"
#include "a2a/dialect/task.hpp"
#include "core/json/json_cursor.hpp"

#include <array>
#include <cstddef>

namespace a2a {
namespace {

using cursor_type = core::json_cursor<core::wide_bytes>;

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
    cursor_type cursor{raw, cursor_type::deepest};
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
    cursor_type outer{raw, cursor_type::deepest};
    outer.object([&status](std::string_view name, bool, std::string_view value) {
        status = name == "status" ? value : status;
        return true;
    });
    cursor_type inner{status, cursor_type::deepest};
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
    cursor_type cursor{raw, cursor_type::deepest};
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
        cursor_type cursor{raw, cursor_type::deepest};
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
