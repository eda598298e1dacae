#include "a2a/method.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using a2a::method;

TEST_SUITE_BEGIN("a2a/method");

namespace {

struct row {
    std::string_view wire_name;
    method value;
    bool streaming;
    bool repeatable;
};

// The columns "0.2/0.3 JSON-RPC" and "1.0 JSON-RPC" of the specifications' method tables.
constexpr row rows[]{
    {"message/send", method::message_send, false, false},
    {"message/stream", method::message_stream, true, false},
    {"tasks/get", method::tasks_get, false, true},
    {"tasks/list", method::tasks_list, false, true},
    {"tasks/cancel", method::tasks_cancel, false, false},
    {"tasks/resubscribe", method::tasks_resubscribe, true, false},
    {"tasks/pushNotificationConfig/set", method::push_config_set, false, false},
    {"tasks/pushNotificationConfig/get", method::push_config_get, false, true},
    {"tasks/pushNotificationConfig/list", method::push_config_list, false, true},
    {"tasks/pushNotificationConfig/delete", method::push_config_delete, false, false},
    {"agent/authenticatedExtendedCard", method::authenticated_extended_card, false, true},
    {"agent/getAuthenticatedExtendedCard", method::get_authenticated_extended_card, false, true},
    {"SendMessage", method::send_message, false, false},
    {"SendStreamingMessage", method::send_streaming_message, true, false},
    {"GetTask", method::get_task, false, true},
    {"ListTasks", method::list_tasks, false, true},
    {"CancelTask", method::cancel_task, false, false},
    {"SubscribeToTask", method::subscribe_to_task, true, false},
    {"CreateTaskPushNotificationConfig", method::create_push_config, false, false},
    {"GetTaskPushNotificationConfig", method::get_push_config, false, true},
    {"ListTaskPushNotificationConfigs", method::list_push_configs, false, true},
    {"DeleteTaskPushNotificationConfig", method::delete_push_config, false, false},
    {"GetExtendedAgentCard", method::get_extended_agent_card, false, true},
};

}  // namespace

TEST_CASE("every method of both generations is found by its name and gives the name back")
{
    std::set<method> seen;
    for (const auto& expected : rows) {
        CAPTURE(expected.wire_name);
        CHECK(a2a::find_method(expected.wire_name) == expected.value);
        CHECK(a2a::name(expected.value) == expected.wire_name);
        CHECK(a2a::streaming(expected.value) == expected.streaming);
        CHECK(a2a::safe_to_repeat(expected.value) == expected.repeatable);
        seen.insert(expected.value);
    }
    CHECK(seen.size() == a2a::method_count - 1);
}

TEST_CASE("any other name is other, which neither streams nor may be repeated")
{
    for (const auto& text :
         {std::string{},
          std::string{"other"},
          std::string{"message/Send"},
          std::string{"sendMessage"},
          std::string{"message/send "},
          std::string{"message/sen"},
          std::string{"message/sendx"},
          std::string{"gettask"},
          std::string{"GetTask\0", 8},
          std::string(36, 'x'),
          std::string(100000, 'm'),
          std::string{"tools/call"}}) {
        CAPTURE(text.substr(0, 40));
        CHECK(a2a::find_method(text) == method::other);
    }
    CHECK(a2a::name(method::other) == "other");
    CHECK_FALSE(a2a::streaming(method::other));
    CHECK_FALSE(a2a::safe_to_repeat(method::other));
}

TEST_CASE("a known name cut short or changed in one place is not taken for it")
{
    for (const auto& expected : rows) {
        CAPTURE(expected.wire_name);
        for (std::size_t i = 0; i < expected.wire_name.size(); ++i) {
            const auto cut = expected.wire_name.substr(0, i);
            const auto found = a2a::find_method(cut);
            CHECK((cut == "GetTask" ? found == method::get_task : found == method::other));
            std::string changed{expected.wire_name};
            changed[i] = '~';
            CHECK(a2a::find_method(changed) == method::other);
        }
    }
}

TEST_CASE("both generations have one method for every operation")
{
    for (std::size_t i = 0; i < a2a::operation_count; ++i) {
        const auto what = static_cast<a2a::operation>(i);
        CAPTURE(i);
        for (const auto of : {a2a::generation::v03, a2a::generation::v1}) {
            const auto found = a2a::method_for(what, of);
            CHECK(a2a::operation_of(found) == what);
            CHECK(a2a::generation_of(found) == of);
            CHECK(a2a::streaming(found) == a2a::streaming(what));
        }
    }
    CHECK(a2a::operation_of(method::authenticated_extended_card) == a2a::operation::extended_card);
    CHECK(a2a::operation_of(method::other) == a2a::operation::none);
    CHECK(a2a::method_for(a2a::operation::none, a2a::generation::v1) == method::other);
    CHECK(a2a::generation_of(method::tasks_list) == a2a::generation::v03);
}

TEST_CASE("every operation has a route in both generations, and none is shared")
{
    std::set<std::string> seen;
    for (std::size_t i = 0; i < a2a::operation_count; ++i) {
        for (const auto of : {a2a::generation::v03, a2a::generation::v1}) {
            const auto route = a2a::route_for(static_cast<a2a::operation>(i), of);
            CHECK(route.path.starts_with("/v1/") == (of == a2a::generation::v03));
            seen.insert(std::string{route.verb}.append(" ").append(route.path));
        }
    }
    CHECK(seen.size() == 2 * a2a::operation_count);
    CHECK(seen.contains("POST /v1/tasks/{task}:cancel"));
    CHECK(seen.contains("DELETE /tasks/{task}/pushNotificationConfigs/{config}"));
    CHECK(a2a::route_for(a2a::operation::none, a2a::generation::v1).path.empty());
}

TEST_SUITE_END();
