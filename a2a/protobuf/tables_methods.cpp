// Written by tables.py. Do not edit.
// clang-format off
#include "a2a/protobuf/methods.hpp"
#include "a2a/protobuf/tables.hpp"

#include <array>

namespace a2a::protobuf {
namespace {

constexpr std::array rows{
    service_method{"/lf.a2a.v1.A2AService/SendMessage", operation::send, generation::v1, &v1::send_message_request, &v1::send_message_response},
    service_method{"/lf.a2a.v1.A2AService/SendStreamingMessage", operation::stream, generation::v1, &v1::send_message_request, &v1::stream_response, true},
    service_method{"/lf.a2a.v1.A2AService/GetTask", operation::get, generation::v1, &v1::get_task_request, &v1::task},
    service_method{"/lf.a2a.v1.A2AService/ListTasks", operation::list, generation::v1, &v1::list_tasks_request, &v1::list_tasks_response},
    service_method{"/lf.a2a.v1.A2AService/CancelTask", operation::cancel, generation::v1, &v1::cancel_task_request, &v1::task},
    service_method{"/lf.a2a.v1.A2AService/SubscribeToTask", operation::subscribe, generation::v1, &v1::subscribe_to_task_request, &v1::stream_response, true},
    service_method{"/lf.a2a.v1.A2AService/CreateTaskPushNotificationConfig", operation::create_push, generation::v1, &v1::task_push_notification_config, &v1::task_push_notification_config},
    service_method{"/lf.a2a.v1.A2AService/GetTaskPushNotificationConfig", operation::get_push, generation::v1, &v1::get_task_push_notification_config_request, &v1::task_push_notification_config},
    service_method{"/lf.a2a.v1.A2AService/ListTaskPushNotificationConfigs", operation::list_push, generation::v1, &v1::list_task_push_notification_configs_request, &v1::list_task_push_notification_configs_response},
    service_method{"/lf.a2a.v1.A2AService/GetExtendedAgentCard", operation::extended_card, generation::v1, &v1::get_extended_agent_card_request, &v1::agent_card},
    service_method{"/lf.a2a.v1.A2AService/DeleteTaskPushNotificationConfig", operation::delete_push, generation::v1, &v1::delete_task_push_notification_config_request, &google::empty},
    service_method{"/a2a.v1.A2AService/SendMessage", operation::send, generation::v03, &v03::send_message_request, &v03::send_message_response},
    service_method{"/a2a.v1.A2AService/SendStreamingMessage", operation::stream, generation::v03, &v03::send_message_request, &v03::stream_response, true},
    service_method{"/a2a.v1.A2AService/GetTask", operation::get, generation::v03, &v03::get_task_request, &v03::task},
    service_method{"/a2a.v1.A2AService/CancelTask", operation::cancel, generation::v03, &v03::cancel_task_request, &v03::task},
    service_method{"/a2a.v1.A2AService/TaskSubscription", operation::subscribe, generation::v03, &v03::task_subscription_request, &v03::stream_response, true},
    service_method{"/a2a.v1.A2AService/CreateTaskPushNotificationConfig", operation::create_push, generation::v03, &v03::create_task_push_notification_config_request, &v03::task_push_notification_config},
    service_method{"/a2a.v1.A2AService/GetTaskPushNotificationConfig", operation::get_push, generation::v03, &v03::get_task_push_notification_config_request, &v03::task_push_notification_config},
    service_method{"/a2a.v1.A2AService/ListTaskPushNotificationConfig", operation::list_push, generation::v03, &v03::list_task_push_notification_config_request, &v03::list_task_push_notification_config_response},
    service_method{"/a2a.v1.A2AService/GetAgentCard", operation::extended_card, generation::v03, &v03::get_agent_card_request, &v03::agent_card},
    service_method{"/a2a.v1.A2AService/DeleteTaskPushNotificationConfig", operation::delete_push, generation::v03, &v03::delete_task_push_notification_config_request, &google::empty},
};

}  // namespace

std::span<const service_method> service_methods() noexcept
{
    return rows;
}

}  // namespace a2a::protobuf
