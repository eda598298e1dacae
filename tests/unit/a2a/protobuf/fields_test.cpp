#include "a2a/protobuf/fields.hpp"

#include "a2a/protobuf/tables.hpp"
#include "tests/unit/a2a/protobuf/wire_text.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

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

a2a::translation<tenant_field> tenant_in(const message_type& type, std::string_view bytes)
{
    request_scan scan{type};
    auto read = scan.feed(bytes, [](request_scan::told, std::string_view) { return true; });
    return read ? a2a::translation<tenant_field>{scan.tenant()} : std::move(read).error();
}

}  // namespace

TEST_CASE("A tenant is found where its message has it")
{
    const auto bytes = delimited(2, "id") + delimited(1, "ten") + varint(3, 4);
    const auto found = tenant_in(v1::get_task_request, bytes);
    REQUIRE(found.has_value());
    CHECK(found->value == "ten");
    CHECK(bytes.substr(0, found->place.begin) + bytes.substr(found->place.end) == delimited(2, "id") + varint(3, 4));

    const auto listed = delimited(1, "task") + delimited(4, "ten");
    const auto other = tenant_in(v1::list_task_push_notification_configs_request, listed);
    REQUIRE(other.has_value());
    CHECK(other->value == "ten");
}

TEST_CASE("A message without a tenant, or of a type without one, has none")
{
    for (const auto& found :
         {tenant_in(v1::get_task_request, delimited(2, "id")), tenant_in(v03::get_task_request, delimited(1, "id"))}) {
        REQUIRE(found.has_value());
        CHECK(found->value.empty());
        CHECK(found->place.begin == found->place.end);
    }
}

TEST_CASE("Two tenants, one that is not UTF-8 and bytes that are no message are refused")
{
    CHECK(
        failure(tenant_in(v1::get_task_request, delimited(1, "a") + delimited(2, "i") + delimited(1, "a"))) ==
        "-32602 tenant: is given twice"
    );
    CHECK(failure(tenant_in(v1::get_task_request, delimited(1, "\xFF"))) == "-32602 tenant: is not UTF-8");
    CHECK(failure(tenant_in(v1::get_task_request, varint(1, 4))) == "-32602 tenant: has another wire type");
    CHECK(failure(tenant_in(v1::get_task_request, "\x80\x80\x80\x80\x80")) == "-32700 : has a varint that is too long");
    CHECK(failure(tenant_in(v1::get_task_request, "\x13")) == "-32700 : has a group");
}

TEST_CASE("A tenant is set, replaced and removed")
{
    const auto& type = v1::list_task_push_notification_configs_request;
    const auto with = [&](std::string bytes, std::string_view tenant) {
        const auto old = tenant_in(type, bytes);
        REQUIRE(old.has_value());
        replace_tenant(type, bytes, old->place, tenant);
        return bytes;
    };
    const auto one = with(delimited(1, "task"), "one");
    CHECK(tenant_in(type, one)->value == "one");
    CHECK(one.size() == delimited(1, "task").size() + delimited(4, "one").size());
    const auto longer = with(one, std::string(200, 'x'));
    CHECK(tenant_in(type, longer)->value == std::string(200, 'x'));
    CHECK(with(longer, "") == delimited(1, "task"));

    auto old = delimited(1, "tasks/t");
    replace_tenant(v03::get_task_request, old, {}, "c");
    CHECK(old == delimited(1, "tasks/t"));
}

namespace {

using told = request_scan::told;

std::string whole_request()
{
    const auto message = delimited(1, "m") + delimited(3, "task") + delimited(2, "context") + varint(4, 1) +
                         delimited(5, delimited(1, "text")) + delimited(8, "r1") + delimited(8, "r2");
    const auto push = delimited(1, "not ours") + delimited(3, "p-task") + delimited(4, "http://x");
    return delimited(1, "ten") + delimited(2, message) + delimited(3, delimited(2, push)) + varint(15, 300);
}

// All that a request in pieces of this size tells, and how it ends.
std::string told_by(const message_type& type, std::string_view bytes, std::size_t piece)
{
    request_scan scan{type};
    std::string all;
    const auto note = [&](told what, std::string_view value) {
        all += what == told::context ? "c:" : what == told::task ? "t:" : "u:";
        all.append(value) += ' ';
        return true;
    };
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        if (const auto read = scan.feed(bytes.substr(at, piece), note); !read) {
            return all + failure(read);
        }
    }
    const auto& tenant = scan.tenant();
    return all + tenant.value + '@' + std::to_string(tenant.place.begin) + '-' + std::to_string(tenant.place.end) +
           (scan.whole() ? "" : " cut off");
}

}  // namespace

TEST_CASE("What a request names is found in any pieces")
{
    const auto bytes = whole_request();
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
        CAPTURE(piece);
        CHECK(
            told_by(v1::send_message_request, bytes, piece) == "t:task c:context t:r1 t:r2 t:p-task u:http://x ten@0-5"
        );
    }
    const auto old = delimited(1, delimited(2, "c") + delimited(3, "t")) +
                     delimited(2, delimited(2, delimited(2, "http://y"))) + delimited(9, "unknown");
    CHECK(told_by(v03::send_message_request, old, 3) == "c:c t:t u:http://y @0-0");
    CHECK(
        told_by(v1::send_message_request, std::string_view{bytes}.substr(0, bytes.size() - 1), 7).ends_with(" cut off")
    );
}

TEST_CASE("A field that stands twice on the way to a string is refused, since readers merge it, in any pieces")
{
    struct row {
        std::string bytes;
        const char* why;
    };
    const auto message = delimited(2, delimited(3, "mine"));
    const row rows[]{
        {message + delimited(2, delimited(3, "yours")), "t:mine -32602 message: is given twice"},
        {message + delimited(2, ""), "t:mine -32602 message: is given twice"},
        {delimited(2, delimited(3, "a") + delimited(3, "b")), "t:a -32602 message.taskId: is given twice"},
        {delimited(1, "a") + delimited(2, "") + delimited(1, "b"), "-32602 tenant: is given twice"},
        {delimited(2, delimited(2, "\x80")), "-32602 message.contextId: is not UTF-8"},
        {delimited(2, "\x1A\x7F"), "-32700 message.taskId: is cut off"},
        {delimited(2, "\x1A"), "@0-0 cut off"},
        {delimited(2, "\x1A") + delimited(15, "x"), "-32700 message.taskId: is cut off"},
        {delimited(2, "\x23"), "-32700 message: has a group"},
        {delimited(2, "\x10"), "-32602 message.contextId: has another wire type"},
        {std::string("\x00\x01", 2), "-32700 : has a field number that does not exist"},
        {std::string("\x7F"), "-32700 : has an unknown wire type"},
        {std::string(6, '\x82'), "-32700 : has a varint that is too long"},
        {"\x78" + std::string(11, '\x82'), "-32700 : has a varint that is too long"},
    };
    for (const auto& each : rows) {
        CAPTURE(each.why);
        for (std::size_t piece = 1; piece <= each.bytes.size(); ++piece) {
            CHECK(told_by(v1::send_message_request, each.bytes, piece) == each.why);
        }
    }
}

TEST_CASE("What the first bytes of a request name is a part of them")
{
    const auto bytes = whole_request();
    request_scan scan{v1::send_message_request};
    const auto note = [&](told, std::string_view value) {
        CHECK(value.data() > bytes.data());
        CHECK(value.data() + value.size() <= bytes.data() + bytes.size());
        return true;
    };
    CHECK(scan.feed(bytes, note).has_value());
    CHECK(scan.whole());
}

TEST_CASE("A text is found up to 64 KiB, and one byte more is refused")
{
    const auto length = [](std::size_t size) {
        const auto bytes = delimited(2, delimited(3, std::string(size, 'x')));
        return told_by(v1::send_message_request, bytes, 1000).size();
    };
    CHECK(length(request_scan::longest_text) == request_scan::longest_text + std::string{"t: @0-0"}.size());
    CHECK(
        told_by(v1::send_message_request, delimited(1, std::string(request_scan::longest_text + 1, 'x')), 1000) ==
        "-32602 tenant: is too long"
    );
}

TEST_CASE("Once it is settled where a request goes, neither a tenant nor the task or context of its message may come")
{
    const auto late = [](std::string_view bytes) {
        request_scan scan{v1::send_message_request};
        const auto note = [](told, std::string_view) { return true; };
        REQUIRE(scan.feed(delimited(15, "before"), note).has_value());
        scan.settle();
        const auto read = scan.feed(bytes, note);
        return read ? "" : failure(read);
    };
    CHECK(late(delimited(1, "ten")) == "-32602 tenant: comes too late in the message");
    CHECK(late(delimited(2, delimited(2, "c"))) == "-32602 message.contextId: comes too late in the message");
    CHECK(late(delimited(2, delimited(3, "t"))) == "-32602 message.taskId: comes too late in the message");
    CHECK(late(delimited(2, delimited(8, "r")) + delimited(3, delimited(2, delimited(3, "t")))).empty());
}

TEST_CASE("A text that has begun before and ends after that is late, too")
{
    const auto bytes = delimited(1, "ten");
    for (std::size_t before = 1; before < bytes.size(); ++before) {
        request_scan scan{v1::send_message_request};
        const auto note = [](told, std::string_view) { return true; };
        REQUIRE(scan.feed(std::string_view{bytes}.substr(0, before), note).has_value());
        scan.settle();
        CHECK(
            failure(scan.feed(std::string_view{bytes}.substr(before), note)) ==
            "-32602 tenant: comes too late in the message"
        );
    }
}

TEST_CASE("A request is read no further once its reader says so")
{
    request_scan scan{v1::send_message_request};
    int seen = 0;
    const auto once = [&](told, std::string_view) {
        ++seen;
        return false;
    };
    REQUIRE(scan.feed(whole_request(), once).has_value());
    REQUIRE(scan.feed(whole_request(), once).has_value());
    CHECK(seen == 1);
}

TEST_CASE("An answer shows its task, whatever else it holds")
{
    const auto shown = [](const message_type& type, const std::string& bytes) {
        std::string json;
        return append_shown(type, bytes, json) ? json : "nothing" + json;
    };
    const auto task = delimited(1, "t") + delimited(2, "c") + delimited(3, varint(1, 2) + delimited(2, "\xFF"));
    constexpr std::string_view told = R"({"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}})";
    CHECK(shown(v1::task, task + delimited(6, "no message") + delimited(31, "\xFF")) == told);
    CHECK(shown(v03::send_message_response, delimited(1, task)) == R"({"task":)" + std::string{told} + "}");
    CHECK(
        shown(v1::stream_response, delimited(3, delimited(1, "t") + delimited(2, "c") + delimited(3, ""))) ==
        R"({"statusUpdate":{"taskId":"t","contextId":"c","status":{}}})"
    );
    CHECK(
        shown(v1::stream_response, delimited(4, delimited(1, "t") + delimited(3, "\xFF"))) ==
        R"({"artifactUpdate":{"taskId":"t","artifact":{}}})"
    );
    CHECK(
        shown(v1::send_message_response, delimited(2, delimited(1, "m") + delimited(2, "c"))) ==
        R"({"message":{"contextId":"c"}})"
    );
    CHECK(shown(v1::send_message_response, "") == "{}");
    // The last one counts, also of a oneof; parts of a message become one.
    CHECK(shown(v1::task, delimited(1, "s") + task) == told);
    CHECK(
        shown(v1::stream_response, delimited(2, delimited(2, "d")) + delimited(1, task)) ==
        R"({"task":)" + std::string{told} + "}"
    );
    CHECK(
        shown(v1::stream_response, delimited(1, task) + delimited(1, delimited(1, "u"))) ==
        R"({"task":{"id":"u","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})"
    );
    // Another wire type is another field.
    CHECK(shown(v1::task, varint(1, 7) + delimited(2, "c")) == R"({"contextId":"c"})");
    for (const std::string broken : {"\x0A\x05t", "\x0B\x0C", "\x80", "\x02"}) {
        CHECK(shown(v1::send_message_response, broken) == "nothing");
        CHECK(shown(v1::send_message_response, delimited(1, broken)) == "nothing");
    }
}
