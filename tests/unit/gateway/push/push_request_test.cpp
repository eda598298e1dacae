#include "gateway/push/push_request.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("gateway/push_request");

namespace {

std::string field(const net::fetch_request& request, std::string_view name)
{
    const auto found = std::ranges::find(request.headers, name, &std::pair<std::string, std::string>::first);
    return found == request.headers.end() ? "" : found->second;
}

net::fetch_response answered(unsigned status, std::string body)
{
    return {.status = status, .headers = {}, .body = std::move(body)};
}

}  // namespace

TEST_CASE("a delivery has its id, the token under both names, and the authentication that the caller asked for")
{
    const config::settings settings;
    const gateway::model::push_receiver receiver{
        .url = "https://caller.test/hook",
        .token = R"("t\u002f1")",
        .authentication = R"({"scheme":"Basic","credentials":"abc"})"
    };
    const auto request = gateway::push::make_delivery(receiver, "{}", "id-1", settings);
    CHECK(request.url == "https://caller.test/hook");
    CHECK(request.body == "{}");
    CHECK(field(request, "Cardea-Delivery") == "id-1");
    CHECK(field(request, "X-A2A-Notification-Token") == "t/1");
    CHECK(field(request, "A2A-Notification-Token") == "t/1");
    CHECK(field(request, "Authorization") == "Basic abc");
    CHECK(field(request, "Content-Type") == "application/json");
    CHECK(request.timeout == settings.timeouts.push);
    CHECK(request.status_only);
}

TEST_CASE("a delivery shows nothing that the caller has not named")
{
    const auto request = gateway::push::make_delivery({.url = "http://caller.test/"}, "{}", "id", config::settings{});
    for (const std::string_view name : {"X-A2A-Notification-Token", "A2A-Notification-Token", "Authorization"}) {
        CHECK(field(request, name).empty());
    }
}

TEST_CASE("a delivery may go to public addresses, and to others only if push_allow has them")
{
    config::settings settings;
    const auto allows = [&](std::string_view address) {
        const auto request = gateway::push::make_delivery({.url = "http://h/"}, "", "id", settings);
        const auto parsed = core::parse_ip(address);
        return request.addresses != nullptr && parsed && request.addresses->allows(*parsed);
    };
    CHECK(allows("8.8.8.8"));
    for (const std::string_view closed : {"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "fe80::1"}) {
        CAPTURE(closed);
        CHECK_FALSE(allows(closed));
    }
    settings.push_allow = {"10.0.0.0/8"};
    CHECK(allows("10.0.0.1"));
    CHECK_FALSE(allows("127.0.0.1"));
}

TEST_CASE("a body goes out in the generation of its receiver, or says which task is missing for that")
{
    using a2a::generation;
    using gateway::push::make_body;
    const std::string update = R"({"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_WORKING"}}})";
    CHECK(make_body(update, generation::v1)->text == update);
    CHECK_FALSE(make_body(update, generation::v1)->missing_task.has_value());
    CHECK(make_body(update, generation::v03)->missing_task == "t");
    const std::string task = R"({"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})";
    CHECK(
        make_body(task, generation::v03)->text ==
        R"({"kind":"task","id":"t","contextId":"c","status":{"state":"working"}})"
    );
    CHECK(make_body("{}", generation::v1).error().code == core::errc::internal);
    CHECK(make_body(R"({"task":{"status":1}})", generation::v03).error().code == core::errc::internal);
}

TEST_CASE("a request can be sent if its URL is one and no field has a control character")
{
    net::fetch_request request;
    request.url = "http://a.test/hook";
    request.headers.emplace_back("Authorization", "Bearer t\xC3\xA4\t~");
    CHECK(gateway::push::can_be_sent(request));
    for (const std::string_view value : {std::string_view{"a\r\nX: y"}, {"a\n"}, {"\0", 1}, {"\x7F"}}) {
        request.headers.back().second = value;
        CHECK_FALSE(gateway::push::can_be_sent(request));
    }
    request.headers.clear();
    request.url = "nowhere";
    CHECK_FALSE(gateway::push::can_be_sent(request));
}

TEST_CASE("the agent is asked for the task with its own credentials, and the id keeps its characters")
{
    gateway::model::agent_entry agent;
    agent.record.bearer = core::secret{"b"};
    agent.call_url = "http://agent.test/rpc";
    const auto request = gateway::push::make_task_request(agent, "a\"b", config::settings{}).value();
    CHECK(request.url == "http://agent.test/rpc");
    CHECK(request.body == R"({"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"a\"b"}})");
    CHECK(field(request, "Authorization") == "Bearer b");
    CHECK(field(request, "A2A-Version") == "1.0");
}

TEST_CASE("an agent of 1.0 that speaks HTTP+JSON alone is asked for the task with a GET")
{
    gateway::model::agent_entry agent;
    agent.call_url = "http://agent.test/rpc";
    gateway::model::agent_interface rest;
    rest.at = {core::a2a_dialect::v1_rest, "http://agent.test/a2a/", "acme"};
    rest.speaks = {a2a::generation::v1, a2a::binding::rest};
    agent.interfaces.push_back(rest);
    using gateway::push::make_task_request;
    const auto request = make_task_request(agent, "a b", config::settings{}).value();
    CHECK(request.url == "http://agent.test/a2a/acme/tasks/a%20b");
    CHECK_FALSE(request.body.has_value());
    CHECK(field(request, "A2A-Version") == "1.0");
    for (const auto* other_path : {"..", "a/b"}) {
        CHECK(make_task_request(agent, other_path, config::settings{}).error().code == core::errc::upstream_protocol);
    }
    auto rpc = rest;
    rpc.at = {core::a2a_dialect::v1_jsonrpc, "http://agent.test/1", ""};
    rpc.speaks.over = a2a::binding::jsonrpc;
    agent.interfaces.push_back(rpc);
    CHECK(make_task_request(agent, "t", config::settings{}).value().url == "http://agent.test/1");
    CHECK(
        gateway::push::read_task_answer(answered(200, R"({"id":"1"})"), /*rest=*/true).value() ==
        R"({"task":{"id":"1"}})"
    );
    CHECK_FALSE(gateway::push::read_task_answer(answered(200, "<html>"), /*rest=*/true).has_value());
}

TEST_CASE("an agent of gRPC alone is asked for the task by gRPC, and its message is the task")
{
    gateway::model::agent_entry agent;
    agent.call_url = "http://agent.test:1";
    gateway::model::agent_interface grpc;
    grpc.at = {core::a2a_dialect::v1_grpc, "http://agent.test:1", "acme"};
    grpc.speaks = {a2a::generation::v1, a2a::binding::grpc};
    agent.interfaces.push_back(grpc);
    const auto request = gateway::push::make_task_request(agent, "t-1", config::settings{}).value();
    CHECK(request.url == "http://agent.test:1/lf.a2a.v1.A2AService/GetTask");
    CHECK(request.http2);
    CHECK(field(request, "TE") == "trailers");
    // GetTaskRequest: tenant is field 1, id is field 2.
    using namespace std::string_literals;
    const auto body = request.body.value();
    CHECK(
        (body == "\0\0\0\0\x0B\x0A\x04"s + "acme\x12\x03" + "t-1" ||
         body == "\0\0\0\0\x0B\x12\x03"s + "t-1\x0A\x04" + "acme")
    );
    auto answer = answered(200, "\0\0\0\0\x03\x0A\x01"s + "t");
    answer.headers = {{"content-type", "application/grpc"}};
    CHECK(gateway::push::read_task_answer(answer, false).value() == R"({"task":{"id":"t"}})");
    answer.body.pop_back();
    CHECK_FALSE(gateway::push::read_task_answer(answer, false).has_value());
    answer.body.clear();
    CHECK_FALSE(gateway::push::read_task_answer(answer, false).has_value());
}

TEST_CASE("the answer with the task becomes a notification, and any other answer a failure")
{
    using gateway::push::read_task_answer;
    CHECK(
        read_task_answer(answered(200, R"({"jsonrpc":"2.0","id":1,"result":{"id":"1","n":1.0}})"), false).value() ==
        R"({"task":{"id":"1","n":1.0}})"
    );
    CHECK(read_task_answer(answered(500, "{}"), false).error().code == core::errc::upstream_status);
    CHECK(
        read_task_answer(answered(200, R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}})"), false)
            .error()
            .code == core::errc::upstream_protocol
    );
    CHECK(read_task_answer(answered(200, "<html>"), false).error().code == core::errc::upstream_protocol);
}

TEST_SUITE_END();
