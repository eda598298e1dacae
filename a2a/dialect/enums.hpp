// Roles and task states, as each shape spells them. Liberal in: the names of all shapes in any case, with `_` or `-`,
// and ProtoJSON's numbers (ProtoJSON, "Enums"). Strict out. Pure; any thread.
#pragma once

#include "a2a/dialect/walk.hpp"

#include <cstdint>
#include <string_view>

namespace a2a {

// The numbers are those of the protocol buffers of 0.3.0 and 1.0.
enum class task_state : std::uint8_t {
    unspecified,
    submitted,
    working,
    completed,
    failed,
    canceled,
    input_required,
    rejected,
    auth_required,
};

enum class role : std::uint8_t { unspecified, user, agent };

// `unspecified` for a state that is absent or of no version.
task_state read_state(std::string_view raw);

// Whether 0.3 calls a status update with this state the last one of its stream: what ends a task, and a question for
// the caller. 1.0 ends its stream there as well (specification 1.0.1 section 11.7).
bool is_final(task_state state) noexcept;

// Whether nothing follows for the task.
bool has_ended(task_state state) noexcept;

role read_role(std::string_view raw);

// With quotes.
std::string_view spelled(task_state state, body_shape shape) noexcept;
std::string_view spelled(role who, body_shape shape) noexcept;

}  // namespace a2a
