#include "a2a/method.hpp"

#include <algorithm>
#include <array>

namespace a2a {
namespace {

struct method_row {
    std::string_view name;
    operation what = operation::none;
    generation of = generation::v03;
};

constexpr std::array<method_row, method_count> methods{{
    {"message/send", operation::send},
    {"message/stream", operation::stream},
    {"tasks/get", operation::get},
    {"tasks/list", operation::list},
    {"tasks/cancel", operation::cancel},
    {"tasks/resubscribe", operation::subscribe},
    {"tasks/pushNotificationConfig/set", operation::create_push},
    {"tasks/pushNotificationConfig/get", operation::get_push},
    {"tasks/pushNotificationConfig/list", operation::list_push},
    {"tasks/pushNotificationConfig/delete", operation::delete_push},
    {"agent/authenticatedExtendedCard", operation::extended_card},
    {"agent/getAuthenticatedExtendedCard", operation::extended_card},
    {"SendMessage", operation::send, generation::v1},
    {"SendStreamingMessage", operation::stream, generation::v1},
    {"GetTask", operation::get, generation::v1},
    {"ListTasks", operation::list, generation::v1},
    {"CancelTask", operation::cancel, generation::v1},
    {"SubscribeToTask", operation::subscribe, generation::v1},
    {"CreateTaskPushNotificationConfig", operation::create_push, generation::v1},
    {"GetTaskPushNotificationConfig", operation::get_push, generation::v1},
    {"ListTaskPushNotificationConfigs", operation::list_push, generation::v1},
    {"DeleteTaskPushNotificationConfig", operation::delete_push, generation::v1},
    {"GetExtendedAgentCard", operation::extended_card, generation::v1},
    {"other"},
}};

struct operation_row {
    method v03 = method::other;
    method v1 = method::other;
    std::string_view verb;
    std::string_view v03_path;
    std::string_view v1_path;
    bool streams = false;
    bool reads = false;  // and changes nothing
};

constexpr std::array<operation_row, operation_count + 1> operations{{
    {method::message_send, method::send_message, "POST", "/v1/message:send", "/message:send"},
    {method::message_stream, method::send_streaming_message, "POST", "/v1/message:stream", "/message:stream", true},
    {method::tasks_get, method::get_task, "GET", "/v1/tasks/{task}", "/tasks/{task}", false, true},
    {method::tasks_list, method::list_tasks, "GET", "/v1/tasks", "/tasks", false, true},
    {method::tasks_cancel, method::cancel_task, "POST", "/v1/tasks/{task}:cancel", "/tasks/{task}:cancel"},
    {method::tasks_resubscribe,
     method::subscribe_to_task,
     "POST",
     "/v1/tasks/{task}:subscribe",
     "/tasks/{task}:subscribe",
     true},
    {method::push_config_set,
     method::create_push_config,
     "POST",
     "/v1/tasks/{task}/pushNotificationConfigs",
     "/tasks/{task}/pushNotificationConfigs"},
    {method::push_config_get,
     method::get_push_config,
     "GET",
     "/v1/tasks/{task}/pushNotificationConfigs/{config}",
     "/tasks/{task}/pushNotificationConfigs/{config}",
     false,
     true},
    {method::push_config_list,
     method::list_push_configs,
     "GET",
     "/v1/tasks/{task}/pushNotificationConfigs",
     "/tasks/{task}/pushNotificationConfigs",
     false,
     true},
    {method::push_config_delete,
     method::delete_push_config,
     "DELETE",
     "/v1/tasks/{task}/pushNotificationConfigs/{config}",
     "/tasks/{task}/pushNotificationConfigs/{config}"},
    {method::get_authenticated_extended_card,
     method::get_extended_agent_card,
     "GET",
     "/v1/card",
     "/extendedAgentCard",
     false,
     true},
    {},
}};

const operation_row& row_of(operation what) noexcept
{
    const auto i = static_cast<std::size_t>(what);
    return i < operation_count ? operations[i] : operations.back();
}

const method_row& row_of(method m) noexcept
{
    const auto i = static_cast<std::size_t>(m);
    return i < method_count ? methods[i] : methods.back();
}

constexpr std::size_t longest =
    std::ranges::max(methods, {}, [](const method_row& row) { return row.name.size(); }).name.size();

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
            if (methods[i].name.size() == length) {
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
    return row_of(m).name;
}

operation operation_of(method m) noexcept
{
    return row_of(m).what;
}

generation generation_of(method m) noexcept
{
    return row_of(m).of;
}

method method_for(operation what, generation of) noexcept
{
    const auto& row = row_of(what);
    return of == generation::v03 ? row.v03 : row.v1;
}

rest_route route_for(operation what, generation of) noexcept
{
    const auto& row = row_of(what);
    return {row.verb, of == generation::v03 ? row.v03_path : row.v1_path};
}

bool streaming(operation what) noexcept
{
    return row_of(what).streams;
}

bool streaming(method m) noexcept
{
    return streaming(operation_of(m));
}

bool safe_to_repeat(method m) noexcept
{
    return row_of(operation_of(m)).reads;
}

}  // namespace a2a
