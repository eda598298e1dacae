#include "a2a/dialect/message.hpp"

#include "a2a/dialect/enums.hpp"
#include "a2a/dialect/part.hpp"

#include <array>
#include <cstdint>

namespace a2a {
namespace {

namespace at {
enum : std::uint8_t { role, parts, message_id, context_id, task_id, metadata, extensions, references, count };
}

constexpr std::array rows{
    member_row{"kind"},
    member_row{"role", at::role},
    member_row{"parts", at::parts, member_row::in_types | member_row::in_v1},
    member_row{"content", at::parts, member_row::in_proto},
    member_row{"messageId", at::message_id},
    member_row{"contextId", at::context_id},
    member_row{"taskId", at::task_id},
    member_row{"metadata", at::metadata},
    member_row{"extensions", at::extensions},
    member_row{"referenceTaskIds", at::references},
};

using message_values = std::array<std::string_view, at::count>;

bool check(walk& w, message_values& values)
{
    return check_string(w, "messageId", values[at::message_id]) &&
           check_filled_string(w, "contextId", values[at::context_id]) &&
           check_filled_string(w, "taskId", values[at::task_id]) && check_object(w, "metadata", values[at::metadata]) &&
           check_strings(w, "extensions", values[at::extensions]) &&
           check_strings(w, "referenceTaskIds", values[at::references]);
}

}  // namespace

bool translate_message(walk& w, std::string_view raw)
{
    message_values values;
    if (!w.read(raw, rows, values) || !check(w, values)) {
        return false;
    }
    const auto who = read_role(values[at::role]);
    if (who == role::unspecified && !w.from_agent()) {
        return w.fail("role", "must be user or agent");
    }
    if (w.to == body_shape::proto && !values[at::references].empty()) {
        if (!w.from_agent()) {
            return w.fail("referenceTaskIds", "cannot be said in HTTP+JSON of 0.3");
        }
        ++w.lost;
        values[at::references] = {};
    }
    core::json_writer to{w.out, '{'};
    if (w.to == body_shape::types) {
        to.raw_member("kind", "\"message\"");
    }
    to.raw_member_if_any("messageId", values[at::message_id]);
    to.raw_member_if_any("contextId", values[at::context_id]);
    to.raw_member_if_any("taskId", values[at::task_id]);
    to.raw_member("role", spelled(who == role::unspecified ? role::agent : who, w.to));
    to.name(w.to == body_shape::proto ? "content" : "parts");
    if (!translate_parts(w, w.from == body_shape::proto ? "content" : "parts", values[at::parts])) {
        return false;
    }
    to.raw_member_if_any("metadata", values[at::metadata]);
    to.raw_member_if_any("extensions", values[at::extensions]);
    to.raw_member_if_any("referenceTaskIds", values[at::references]);
    to.close('}');
    return true;
}

}  // namespace a2a
