#include "a2a/method.hpp"

#include <algorithm>
#include <array>

namespace a2a {
namespace {

constexpr std::array<std::string_view, method_count> wire_names{
    "message/send",
    "message/stream",
    "tasks/get",
    "tasks/list",
    "tasks/cancel",
    "tasks/resubscribe",
    "tasks/pushNotificationConfig/set",
    "tasks/pushNotificationConfig/get",
    "tasks/pushNotificationConfig/list",
    "tasks/pushNotificationConfig/delete",
    "agent/authenticatedExtendedCard",
    "agent/getAuthenticatedExtendedCard",
    "SendMessage",
    "SendStreamingMessage",
    "GetTask",
    "ListTasks",
    "CancelTask",
    "SubscribeToTask",
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
    "GetExtendedAgentCard",
    "other",
};

constexpr std::size_t longest = std::ranges::max(wire_names, {}, &std::string_view::size).size();

struct length_index {
    std::array<method, method_count - 1> methods{};  // by length of their names
    std::array<std::uint8_t, longest + 2> first{};   // first[n]: where the names of length n begin in `methods`
};

// Few names share a length, so that a look-up compares at most four short strings and usually one or none.
consteval length_index index_by_length()
{
    length_index index;
    std::uint8_t next = 0;
    for (std::size_t length = 0; length <= longest; ++length) {
        index.first[length] = next;
        for (std::size_t i = 0; i + 1 < method_count; ++i) {
            if (wire_names[i].size() == length) {
                index.methods[next++] = static_cast<method>(i);
            }
        }
    }
    index.first[longest + 1] = next;
    return index;
}

constexpr length_index by_length = index_by_length();

}  // namespace

method find_method(std::string_view wire_name) noexcept
{
    if (wire_name.size() > longest) {
        return method::other;
    }
    const std::size_t end = by_length.first[wire_name.size() + 1];
    for (std::size_t i = by_length.first[wire_name.size()]; i < end; ++i) {
        if (name(by_length.methods[i]) == wire_name) {
            return by_length.methods[i];
        }
    }
    return method::other;
}

std::string_view name(method m) noexcept
{
    const auto i = static_cast<std::size_t>(m);
    return i < method_count ? wire_names[i] : wire_names.back();
}

bool streaming(method m) noexcept
{
    return m == method::message_stream || m == method::tasks_resubscribe || m == method::send_streaming_message ||
           m == method::subscribe_to_task;
}

bool safe_to_repeat(method m) noexcept
{
    switch (m) {
        case method::tasks_get:
        case method::tasks_list:
        case method::push_config_get:
        case method::push_config_list:
        case method::authenticated_extended_card:
        case method::get_authenticated_extended_card:
        case method::get_task:
        case method::list_tasks:
        case method::get_push_config:
        case method::list_push_configs:
        case method::get_extended_agent_card:
            return true;
        case method::message_send:
        case method::message_stream:
        case method::tasks_cancel:
        case method::tasks_resubscribe:
        case method::push_config_set:
        case method::push_config_delete:
        case method::send_message:
        case method::send_streaming_message:
        case method::cancel_task:
        case method::subscribe_to_task:
        case method::create_push_config:
        case method::delete_push_config:
        case method::other:
            return false;
    }
    return false;
}

}  // namespace a2a
