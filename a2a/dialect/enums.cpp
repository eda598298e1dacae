#include "a2a/dialect/enums.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace a2a {
namespace {

struct state_row {
    std::string_view types;
    std::string_view v1;
};

constexpr std::array<state_row, 9> states{{
    {"\"unknown\"", "\"TASK_STATE_UNSPECIFIED\""},
    {"\"submitted\"", "\"TASK_STATE_SUBMITTED\""},
    {"\"working\"", "\"TASK_STATE_WORKING\""},
    {"\"completed\"", "\"TASK_STATE_COMPLETED\""},
    {"\"failed\"", "\"TASK_STATE_FAILED\""},
    {"\"canceled\"", "\"TASK_STATE_CANCELED\""},
    {"\"input-required\"", "\"TASK_STATE_INPUT_REQUIRED\""},
    {"\"rejected\"", "\"TASK_STATE_REJECTED\""},
    {"\"auth-required\"", "\"TASK_STATE_AUTH_REQUIRED\""},
}};

constexpr std::string_view cancelled_of_proto = "\"TASK_STATE_CANCELLED\"";

constexpr std::array<state_row, 3> roles{{
    {"\"agent\"", "\"ROLE_UNSPECIFIED\""},
    {"\"user\"", "\"ROLE_USER\""},
    {"\"agent\"", "\"ROLE_AGENT\""},
}};

constexpr char folded(char c) noexcept
{
    return c == '_' ? '-' : core::lower(c);
}

bool same_word(std::string_view one, std::string_view other) noexcept
{
    if (one.size() != other.size()) {
        return false;
    }
    for (std::size_t i = 0; i < one.size(); ++i) {
        if (folded(one[i]) != folded(other[i])) {
            return false;
        }
    }
    return true;
}

std::string_view without_prefix(std::string_view word, std::string_view prefix) noexcept
{
    return word.size() > prefix.size() && same_word(word.substr(0, prefix.size()), prefix) ? word.substr(prefix.size())
                                                                                           : word;
}

// The index of a number of one digit below `count`, or `count`.
std::size_t number_of(std::string_view raw, std::size_t count) noexcept
{
    if (raw.size() != 1 || !core::is_digit(raw.front())) {
        return count;
    }
    return std::min(static_cast<std::size_t>(raw.front() - '0'), count);
}

}  // namespace

task_state read_state(std::string_view raw)
{
    if (!is_string(raw)) {
        const auto number = number_of(raw, states.size());
        return number < states.size() ? static_cast<task_state>(number) : task_state::unspecified;
    }
    std::string room;
    const auto word = without_prefix(text_of(raw, room), "task-state-");
    if (same_word(word, "cancelled")) {
        return task_state::canceled;
    }
    for (std::size_t i = 1; i < states.size(); ++i) {
        if (same_word(word, unquoted(states[i].types))) {
            return static_cast<task_state>(i);
        }
    }
    return task_state::unspecified;
}

bool has_ended(task_state state) noexcept
{
    return is_final(state) && state != task_state::input_required;
}

bool is_final(task_state state) noexcept
{
    switch (state) {
        case task_state::completed:
        case task_state::failed:
        case task_state::canceled:
        case task_state::rejected:
        case task_state::input_required:
            return true;
        case task_state::unspecified:
        case task_state::submitted:
        case task_state::working:
        case task_state::auth_required:
            return false;
    }
    return false;
}

role read_role(std::string_view raw)
{
    if (!is_string(raw)) {
        const auto number = number_of(raw, roles.size());
        return number < roles.size() ? static_cast<role>(number) : role::unspecified;
    }
    std::string room;
    const auto word = without_prefix(text_of(raw, room), "role-");
    if (same_word(word, "user")) {
        return role::user;
    }
    return same_word(word, "agent") ? role::agent : role::unspecified;
}

std::string_view spelled(task_state state, body_shape shape) noexcept
{
    const auto& row = states[static_cast<std::size_t>(state)];
    if (shape == body_shape::types) {
        return row.types;
    }
    return shape == body_shape::proto && state == task_state::canceled ? cancelled_of_proto : row.v1;
}

std::string_view spelled(role who, body_shape shape) noexcept
{
    const auto& row = roles[static_cast<std::size_t>(who)];
    return shape == body_shape::types ? row.types : row.v1;
}

}  // namespace a2a
