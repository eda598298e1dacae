#include "mcp/bridge/agent_tools.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("mcp/bridge/agent_requests");

using mcp::agent_act;
using mcp::agent_reply_form;

namespace {

const mcp::agent_tools& tools_in(core::tool_form form)
{
    static const auto card = core::json::parse(R"({"name":"D","skills":[{"id":"a.b","name":"A","description":"d"}]})");
    static const auto plain = mcp::tools_of_card(card, core::tool_form::agent, "d");
    static const auto skills = mcp::tools_of_card(card, core::tool_form::skills, "d");
    return form == core::tool_form::agent ? plain : skills;
}

mcp::read_order read(std::string_view tool, std::string_view arguments, core::tool_form form = core::tool_form::agent)
{
    auto order = mcp::read_agent_order(tools_in(form), tool, arguments);
    REQUIRE(order.has_value());
    return std::move(*order);
}

}  // namespace

TEST_CASE("A call of send_message becomes a message of the user")
{
    const auto arguments =
        R"({"message":"roll 2d6","data":{"n":1.0e3},"skill":"a.b","contextId":"c-1","taskId":"t-1"})";
    const auto got = read("send_message", arguments);
    REQUIRE(got.order.has_value());
    CHECK(
        mcp::send_request(*got.order, agent_reply_form::stream, "m-1") ==
        R"({"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m-1","contextId":"c-1",)"
        R"("taskId":"t-1","role":"ROLE_USER","parts":[{"text":"roll 2d6"},{"data":{"n":1.0e3}}],"metadata":{"skillId":"a.b"}},)"
        R"("metadata":{"skillId":"a.b"}}})"
    );
    const auto plain = read("send_message", R"({"message":"hi"})");
    CHECK(
        mcp::send_request(*plain.order, agent_reply_form::at_once, "m") ==
        R"({"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER",)"
        R"("parts":[{"text":"hi"}]},"configuration":{"returnImmediately":true}}})"
    );
}

TEST_CASE("A call of a skill's tool names the skill")
{
    const auto got = read("a_b", R"({"message":"hi","skill":"other"})", core::tool_form::skills);
    REQUIRE(got.order.has_value());
    CHECK(got.order->skill == "a.b");
}

TEST_CASE("Calls about a task become the methods for tasks")
{
    const auto got = read("get_task", R"({"taskId":"t \"1\"","historyLength":3})");
    REQUIRE(got.order.has_value());
    CHECK(got.order->act == agent_act::get);
    CHECK(
        mcp::get_request(got.order->task, got.order->history) ==
        R"({"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t \"1\"","historyLength":3}})"
    );
    CHECK(
        mcp::get_request("t", {}) ==
        R"({"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t","historyLength":0}})"
    );
    CHECK(mcp::cancel_request("t") == R"({"jsonrpc":"2.0","id":1,"method":"CancelTask","params":{"id":"t"}})");
    CHECK(mcp::subscribe_request("t") == R"({"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"t"}})");
}

TEST_CASE("Arguments that cannot be used are explained to the model")
{
    CHECK(read("send_message", "").problem == "The argument message is missing or empty.");
    CHECK(read("send_message", R"({"message":""})").problem == "The argument message is missing or empty.");
    CHECK(read("send_message", R"({"message":7})").problem == "The argument message is not a string.");
    CHECK(read("send_message", R"({"message":"m","data":[1]})").problem == "The argument data is not an object.");
    CHECK(read("send_message", "[]").problem.starts_with("The arguments are not an object"));
    CHECK(read("send_message", R"({"message":"a","message":"b"})").problem.starts_with("The arguments are not"));
    CHECK(read("get_task", "{}").problem == "The argument taskId is missing or empty.");
    CHECK(
        read("get_task", R"({"taskId":"t","historyLength":-1})").problem ==
        "The argument historyLength is not a whole number that is not negative."
    );
    CHECK(read("send_message", R"({"message":"m","data":null,"taskId":null})").order.has_value());
}

TEST_CASE("A tool that the agent does not have is unknown")
{
    const auto& agent = tools_in(core::tool_form::agent);
    CHECK(mcp::read_agent_order(agent, "a_b", "{}").error().code == core::errc::invalid_params);
    const auto& skills = tools_in(core::tool_form::skills);
    CHECK(
        mcp::read_agent_order(skills, "send_message", R"({"message":"m"})").error().code == core::errc::invalid_params
    );
}
