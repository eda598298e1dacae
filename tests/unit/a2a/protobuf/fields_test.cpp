#include "a2a/protobuf/fields.hpp"

#include "a2a/protobuf/tables.hpp"
#include "tests/unit/a2a/protobuf/wire_text.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace a2a::protobuf;
using tests::delimited;
using tests::varint;

namespace {

std::string failure(const auto& outcome)
{
    REQUIRE(outcome.has_error());
    return std::to_string(outcome.error().code) + " " + outcome.error().member + ": " +
           std::string{outcome.error().why};
}

}  // namespace

TEST_CASE("A tenant is found where its message has it")
{
    const auto bytes = delimited(2, "id") + delimited(1, "ten") + varint(3, 4);
    const auto found = find_tenant(v1::get_task_request, bytes);
    REQUIRE(found.has_value());
    CHECK(found->value == "ten");
    CHECK(bytes.substr(0, found->begin) + bytes.substr(found->end) == delimited(2, "id") + varint(3, 4));

    const auto listed = delimited(1, "task") + delimited(4, "ten");
    const auto other = find_tenant(v1::list_task_push_notification_configs_request, listed);
    REQUIRE(other.has_value());
    CHECK(other->value == "ten");
}

TEST_CASE("A message without a tenant, or of a type without one, has none")
{
    for (const auto& found :
         {find_tenant(v1::get_task_request, delimited(2, "id")), find_tenant(v03::get_task_request, delimited(1, "id"))
         }) {
        REQUIRE(found.has_value());
        CHECK(found->value.empty());
        CHECK(found->begin == found->end);
    }
}

TEST_CASE("Two tenants, one that is not UTF-8 and bytes that are no message are refused")
{
    CHECK(
        failure(find_tenant(v1::get_task_request, delimited(1, "a") + delimited(2, "i") + delimited(1, "a"))) ==
        "-32602 tenant: is given twice"
    );
    CHECK(failure(find_tenant(v1::get_task_request, delimited(1, "\xFF"))) == "-32602 tenant: is not UTF-8");
    CHECK(failure(find_tenant(v1::get_task_request, delimited(1, "a") + "\x0A\x05")) == "-32700 : is cut off");
    CHECK(failure(find_tenant(v1::get_task_request, "\x13")) == "-32700 : has a group");
}

TEST_CASE("A tenant is set, replaced and removed")
{
    auto bytes = delimited(1, "task");
    const auto& type = v1::list_task_push_notification_configs_request;
    REQUIRE(set_tenant(type, bytes, "one").has_value());
    CHECK(find_tenant(type, bytes)->value == "one");
    CHECK(find_string(type, bytes, "taskId").value() == "task");
    REQUIRE(set_tenant(type, bytes, std::string(200, 'x')).has_value());
    CHECK(find_tenant(type, bytes)->value == std::string(200, 'x'));
    REQUIRE(set_tenant(type, bytes, "").has_value());
    CHECK(bytes == delimited(1, "task"));

    auto twice = delimited(1, "a") + delimited(1, "b");
    const auto before = twice;
    CHECK(failure(set_tenant(v1::get_task_request, twice, "c")) == "-32602 tenant: is given twice");
    CHECK(twice == before);

    auto old = delimited(1, "tasks/t");
    REQUIRE(set_tenant(v03::get_task_request, old, "c").has_value());
    CHECK(old == delimited(1, "tasks/t"));
}

TEST_CASE("A string is found at its path")
{
    const auto message =
        delimited(1, "m") + delimited(3, "task") + delimited(2, "context") + delimited(8, "r1") + delimited(8, "r2");
    const auto bytes = delimited(1, "ten") + delimited(2, message);
    CHECK(find_string(v1::send_message_request, bytes, "message.taskId").value() == "task");
    CHECK(find_string(v1::send_message_request, bytes, "message.contextId").value() == "context");
    CHECK(find_string(v1::send_message_request, bytes, "message.referenceTaskIds").value() == "r1");
    CHECK(
        find_string(v1::send_message_request, bytes, "configuration.taskPushNotificationConfig.taskId").value().empty()
    );
    CHECK(find_string(v03::send_message_request, delimited(1, message), "message.taskId").value() == "task");
}

TEST_CASE("Every string at a path is visited until it is enough")
{
    const auto bytes = delimited(1, delimited(1, "a")) + varint(3, 7) + delimited(1, "") +
                       delimited(1, delimited(1, "b")) + delimited(1, delimited(1, "c"));
    std::vector<std::string> seen;
    REQUIRE(each_string(v1::list_tasks_response, bytes, "tasks.id", [&](std::string_view id) {
                seen.emplace_back(id);
                return id != "b";
            }).has_value());
    CHECK(seen == std::vector<std::string>{"a", "b"});
}

TEST_CASE("A field that stands twice on the way to a string is refused, since readers merge it")
{
    const auto message = delimited(2, delimited(3, "mine"));
    CHECK(
        failure(find_string(v1::send_message_request, message + delimited(2, delimited(3, "yours")), "message.taskId")
        ) == "-32602 message: is given twice"
    );
    CHECK(
        failure(find_string(v1::send_message_request, message + delimited(2, ""), "message.taskId")) ==
        "-32602 message: is given twice"
    );
    CHECK(
        failure(
            find_string(v1::send_message_request, delimited(2, delimited(3, "a") + delimited(3, "b")), "message.taskId")
        ) == "-32602 message.taskId: is given twice"
    );
    CHECK(failure(find_string(v1::get_task_request, delimited(2, "\x80"), "id")) == "-32602 id: is not UTF-8");
    CHECK_THROWS(find_string(v1::get_task_request, "", "name"));
}
