// The events of a stream and the answers to a sent message: a task, a message, an update of a status or of an artifact
// (types.ts of 0.3.0 `SendStreamingMessageSuccessResponse`, a2a.proto of 0.3.0 and 1.0.1 `StreamResponse`). 0.3
// JSON-RPC tells them apart by `kind`, all others by the member that holds them. Tasks with their status and artifacts (types.ts of 0.3.0
// `Task`, `TaskStatus`, `Artifact`; a2a.proto of 0.3.0 and 1.0.1, the same names) are read here too. Internal to a2a/dialect/.
#pragma once

#include "a2a/dialect/enums.hpp"
#include "a2a/dialect/walk.hpp"

#include <cstdint>
#include <string_view>

namespace a2a {

enum class event_kind : std::uint8_t { task, message, status_update, artifact_update, unknown };

struct event_facts {
    event_kind kind = event_kind::unknown;
    task_state state = task_state::unspecified;  // of a task or a status update
};

// Appends one event of a stream. `final` of 0.3 is synthesized by is_final().
bool translate_stream_event(walk& w, std::string_view raw, event_facts& facts);

// Appends what sending a message answers: a task or a message.
bool translate_send_result(walk& w, std::string_view raw, event_facts& facts);

// Appends the task that a call for one has been answered with.
bool translate_task_result(walk& w, std::string_view raw, event_facts& facts);

// Reads the kind of an event and its task state without a translation. Anything else is unknown.
event_facts facts_of(std::string_view raw, body_shape shape);

}  // namespace a2a
