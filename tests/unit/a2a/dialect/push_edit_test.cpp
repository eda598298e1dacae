#include "a2a/dialect/push_edit.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("a2a/push_edit");

namespace {

using a2a::binding;
using a2a::dialect;
using a2a::event_kind;
using a2a::generation;
using a2a::operation;

constexpr dialect old_rpc{generation::v03, binding::jsonrpc};
constexpr dialect old_rest{generation::v03, binding::rest};
constexpr dialect new_rpc{generation::v1, binding::jsonrpc};
constexpr dialect new_rest{generation::v1, binding::rest};

// A configuration of another member with a number that a double cannot hold, in the order that the caller chose.
constexpr std::string_view config =
    R"({"id": "c", "token":"t","x":123456789012345678901, "url":"https://caller.test/hook"})";
constexpr std::string_view edited =
    R"({"id":"c","token":"T","x":123456789012345678901,"url":"https://gw.test/push","authentication":{"a":1}})";

// What is around it, and what finds it.
struct row {
    dialect from;
    operation what;
    std::string before;
    std::string after;
};

const std::vector<row>& requests()
{
    static const std::vector<row> all{
        {old_rpc,
         operation::send,
         R"({"message":{"n":1.0},"configuration":{"blocking":true,"pushNotificationConfig":)",
         "}}"},
        {old_rpc, operation::stream, R"( {"configuration" : {"pushNotificationConfig" : )", "} } "},
        {old_rest, operation::send, R"({"configuration":{"pushNotification":)", "}}"},
        {new_rpc, operation::send, R"({"configuration":{"taskPushNotificationConfig":)", R"(},"message":{}})"},
        {new_rest, operation::stream, R"({"configuration":{"taskPushNotificationConfig":)", "}}"},
        {new_rpc, operation::send, R"({"configur\u0061tion":{"taskPushNotificationConf\u0069g":)", "}}"},
        {old_rpc, operation::create_push, R"({"taskId":"1","pushNotificationConfig":)", "}"},
        {old_rest, operation::create_push, R"({"parent":"tasks/1","config":{"name":"n","pushNotificationConfig":)", "}}"
        },
        {old_rest, operation::create_push, R"({"name":"n","pushNotificationConfig":)", "}"},
        {new_rpc, operation::create_push, "", ""},
        {new_rest, operation::create_push, " ", "\n"},
    };
    return all;
}

const std::vector<row>& answers()
{
    static const std::vector<row> all{
        {old_rpc, operation::get_push, R"({"taskId":"1","pushNotificationConfig":)", "}"},
        {old_rpc, operation::create_push, R"({"pushNotificationConfig":)", R"(,"taskId":"1"})"},
        {old_rpc, operation::list_push, R"([ {"taskId":"1"}, {"pushNotificationConfig":)", "}]"},
        {old_rest, operation::list_push, R"({"configs":[{"name":"n","pushNotificationConfig":)", "}]}"},
        {old_rest, operation::get_push, R"({"name":"n","pushNotificationConfig":)", "}"},
        {new_rpc, operation::list_push, R"({"configs":[)", R"(],"nextPageToken":""})"},
        {new_rest, operation::get_push, "", ""},
        {new_rpc, operation::create_push, "", ""},
    };
    return all;
}

std::string replaced(std::string_view text, std::vector<a2a::placed_push_config> found)
{
    std::vector<a2a::push_replacement> with;
    for (const auto& each : found) {
        with.push_back({each, R"("https://gw.test/push")", R"("T")", R"({"a":1})"});
    }
    return a2a::with_push_configs(text, with);
}

std::string refused(dialect from, operation what, std::string_view payload)
{
    const auto found = a2a::find_requested_push(from, what, payload);
    return found ? "" : found.error().member + ": " + std::string{found.error().why};
}

}  // namespace

TEST_CASE("a configuration in a request of any dialect is replaced, and all around it keeps its bytes")
{
    for (const auto& each : requests()) {
        const auto text = each.before + std::string{config} + each.after;
        CAPTURE(text);
        const auto found = a2a::find_requested_push(each.from, each.what, text);
        REQUIRE(found.has_value());
        REQUIRE(found->size() == 1);
        CHECK(found->front().url == R"("https://caller.test/hook")");
        CHECK(found->front().token == R"("t")");
        CHECK(found->front().authentication.empty());
        CHECK(replaced(text, *found) == each.before + std::string{edited} + each.after);
    }
}

TEST_CASE("the configurations in an answer of any dialect are replaced, and all around them keeps its bytes")
{
    for (const auto& each : answers()) {
        const auto text = each.before + std::string{config} + each.after;
        CAPTURE(text);
        const auto found = a2a::find_answered_push(each.from, each.what, text);
        REQUIRE(found.size() == 1);
        CHECK(replaced(text, found) == each.before + std::string{edited} + each.after);
    }
}

TEST_CASE("each of several configurations is replaced by its own values, and a member without a value goes")
{
    const std::string text = R"({"configs":[{"url":"a","token":"1"},{"url":"b","authentication":{}}]})";
    const auto found = a2a::find_answered_push(new_rpc, operation::list_push, text);
    REQUIRE(found.size() == 2);
    const std::vector<a2a::push_replacement> with{
        {found[0], R"("A")", {}, R"({"scheme":"S"})"},
        {found[1], R"("B")", R"("2")", {}}
    };
    CHECK(
        a2a::with_push_configs(text, with) ==
        R"({"configs":[{"url":"A","authentication":{"scheme":"S"}},{"url":"B","token":"2"}]})"
    );
    CHECK(a2a::with_push_configs(text, {}) == text);
}

TEST_CASE("a request without a configuration, and one of another operation, has none")
{
    for (const std::string_view text :
         {"{}",
          R"({"configuration":{}})",
          R"({"configuration":null})",
          R"({"configuration":{"taskPushNotificationConfig":null}})",
          R"({"message":{"configuration":{"taskPushNotificationConfig":{"url":"u"}}}})",
          "[]",
          ""}) {
        CAPTURE(text);
        const auto found = a2a::find_requested_push(new_rpc, operation::send, text);
        REQUIRE(found.has_value());
        CHECK(found->empty());
    }
    CHECK(a2a::find_requested_push(new_rpc, operation::get, R"({"url":"u"})")->empty());
    CHECK(a2a::find_answered_push(new_rpc, operation::get, R"({"url":"u"})").empty());
    CHECK(a2a::find_answered_push(new_rpc, operation::delete_push, "{}").empty());
    CHECK(a2a::find_answered_push(old_rpc, operation::list_push, "{}").empty());
}

TEST_CASE("what one reader takes for a configuration and another one does not is refused")
{
    using texts = std::vector<std::pair<std::string_view, std::string_view>>;
    for (const auto& [text, why] : texts{
             {R"({"Configuration":{}})", "configuration: is spelled in another way"},
             {R"({"configuration":{},"configuration":{}})", "configuration: is given twice"},
             {R"({"configuration":[]})", "configuration: must be an object"},
             {R"({"configuration":{"taskpushnotificationconfig":{"url":"u"}}})",
              "configuration.taskPushNotificationConfig: is spelled in another way"},
             {R"({"configuration":{"task_push_notification_config":{"url":"u"}}})",
              "configuration.taskPushNotificationConfig: is spelled in another way"},
             {R"({"configuration":{"push_notification_config":{"url":"u"}}})",
              "configuration.pushNotificationConfig: is spelled in another way"},
             {R"({"configuration":{"pushNotificationConfig":{"url":"u"}}})",
              "configuration.pushNotificationConfig: is a member of another version of A2A"},
             {R"({"configuration":{"taskPushNotificationConfig":"u"}})",
              "configuration.taskPushNotificationConfig: must be an object"},
             {R"({"configuration":{"taskPushNotificationConfig":{"url":1}}})",
              "configuration.taskPushNotificationConfig.url: must be a string"},
             {R"({"configuration":{"taskPushNotificationConfig":{}}})",
              "configuration.taskPushNotificationConfig.url: must be a string"},
             {R"({"configuration":{"taskPushNotificationConfig":{"url":"a","url":"b"}}})",
              "configuration.taskPushNotificationConfig.url: is given twice"},
             {R"({"configuration":{"taskPushNotificationConfig":{"url":"a","Url":"b"}}})",
              "configuration.taskPushNotificationConfig.url: is spelled in another way"},
             {R"({"configuration":{"taskPushNotificationConfig":{"url":"a","token":{}}}})",
              "configuration.taskPushNotificationConfig.token: must be a string"},
             {R"({"configuration":{"taskPushNotificationConfig":{"url":"a","authentication":"x"}}})",
              "configuration.taskPushNotificationConfig.authentication: must be an object"},
         }) {
        CAPTURE(text);
        CHECK(refused(new_rpc, operation::send, text) == why);
    }
    CHECK(
        refused(new_rpc, operation::create_push, R"({"url":"u","pushNotificationConfig":{"url":"v"}})") ==
        "pushNotificationConfig: is a member of another version of A2A"
    );
    CHECK(
        refused(old_rpc, operation::create_push, R"({"PushNotificationConfig":{"url":"v"}})") ==
        "pushNotificationConfig: is spelled in another way"
    );
    // `tasks/send` of A2A 0.1, and what an extension may add.
    CHECK(
        refused(old_rpc, operation::none, R"({"id":"1","pushNotification":{"url":"v"}})") ==
        "pushNotification: is a member of another version of A2A"
    );
    CHECK(
        refused(old_rpc, operation::none, R"({"Push_Notification_Config":{"url":"v"}})") ==
        "pushNotificationConfig: is spelled in another way"
    );
    CHECK(a2a::find_requested_push(old_rpc, operation::none, R"({"pushNotification":null,"url":"u"})")->empty());
    CHECK(a2a::find_requested_push(old_rpc, operation::none, R"([1])")->empty());
}

TEST_CASE("a receiver is shown the first scheme of either generation, if there are credentials for it")
{
    CHECK(a2a::push_authorization(R"({"scheme":"Bearer","credentials":"a\/b"})") == "Bearer a/b");
    CHECK(a2a::push_authorization(R"({"schemes":["Basic","Bearer"],"credentials":"x"})") == "Basic x");
    for (const std::string_view none :
         {"", "{}", R"({"scheme":"Bearer"})", R"({"schemes":[],"credentials":"x"})", R"({"credentials":"x"})"}) {
        CAPTURE(none);
        CHECK(a2a::push_authorization(none).empty());
    }
    CHECK(a2a::push_authorization(a2a::bearer_push_authentication(generation::v1, "T")) == "Bearer T");
    CHECK(a2a::push_authorization(a2a::bearer_push_authentication(generation::v03, "T")) == "Bearer T");
}

TEST_CASE("a notification says its generation, its kind and its task")
{
    struct expectation {
        std::string_view body;
        generation version;
        event_kind kind;
        std::string task;
    };
    for (const auto& [body, version, kind, task] : std::vector<expectation>{
             {R"( {"kind":"task","id":"1","contextId":"c","status":{"state":"working"}} )",
              generation::v03,
              event_kind::task,
              "1"},
             {R"({"id":"1","status":{"state":"working"}})", generation::v03, event_kind::task, "1"},
             {R"({"kind":"status-update","taskId":"2","status":{}})", generation::v03, event_kind::status_update, "2"},
             {R"({"task":{"id":"a\/b","status":{}}})", generation::v1, event_kind::task, "a/b"},
             {R"({"statusUpdate":{"taskId":"3","status":{}}})", generation::v1, event_kind::status_update, "3"},
             {R"({"artifactUpdate":{"taskId":"4","artifact":{}}})", generation::v1, event_kind::artifact_update, "4"},
             {R"({"message":{"messageId":"m"}})", generation::v1, event_kind::message, ""},
         }) {
        CAPTURE(body);
        const auto found = a2a::read_notification(body, {});
        REQUIRE(found.has_value());
        CHECK(found->version == version);
        CHECK(found->kind == kind);
        CHECK(found->task == task);
    }
    for (const std::string_view none :
         {"", "[]", "{}", "{", "1", R"({"task":null})", R"({"task":{}} x)", R"({"a":1})"}) {
        CAPTURE(none);
        CHECK_FALSE(a2a::read_notification(none, {}).has_value());
    }
    const std::string_view small = R"({"task":{"id":"1"}})";
    CHECK(a2a::read_notification(small, {.bytes = small.size(), .depth = 2}).has_value());
    CHECK_FALSE(a2a::read_notification(small, {.bytes = small.size() - 1, .depth = 2}).has_value());
    CHECK_FALSE(a2a::read_notification(small, {.bytes = small.size(), .depth = 1}).has_value());
}

TEST_CASE("a notification goes out as its receiver's generation has it, and unchanged within one")
{
    const std::string old_task = R"({"kind":"task","id":"1","contextId":"c","status":{"state":"completed"}})";
    const std::string new_task = R"({"task":{"id":"1","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}})";
    std::string out;
    REQUIRE(a2a::translate_notification(old_task, generation::v03, generation::v1, out).has_value());
    CHECK(out == new_task);
    out.clear();
    REQUIRE(a2a::translate_notification(new_task, generation::v1, generation::v03, out).has_value());
    CHECK(out == old_task);
    out.clear();
    REQUIRE(a2a::translate_notification(" {\"x\" :1} ", generation::v1, generation::v1, out).has_value());
    CHECK(out == "{\"x\" :1}");
    CHECK_FALSE(a2a::translate_notification(R"({"x":1})", generation::v1, generation::v03, out).has_value());
}

TEST_SUITE_END();
