// Tasks with their status and artifacts (types.ts of 0.3.0 `Task`, `TaskStatus`, `Artifact`; a2a.proto of 0.3.0 and
// 1.0.1, the same names). Internal to a2a/dialect/.
//
// 0.3 requires a contextId where 1.0 does not: the id of the task stands in for one that is missing.
#pragma once

#include "a2a/dialect/enums.hpp"
#include "a2a/dialect/walk.hpp"

#include <string_view>

namespace a2a {

// Appends one task, without history if the walk says so. `state` gets that of its status.
bool translate_task(walk& w, std::string_view raw, task_state& state);

// Appends one status; an absent one (empty) has no state that any version knows.
bool translate_status(walk& w, std::string_view raw, task_state& state);

bool translate_artifact(walk& w, std::string_view raw);

// Appends the members `taskId` under `name` and `contextId` of a task or event. Fails without a task id.
bool write_ids(
    walk& w,
    core::json_writer& to,
    std::string_view name,
    std::string_view task_id,
    std::string_view context_id
);

}  // namespace a2a
