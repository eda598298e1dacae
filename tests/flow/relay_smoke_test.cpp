#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

using test_support::answer_json;
using test_support::scripted_agent;

TEST_SUITE_BEGIN("flow/relay");

TEST_CASE("a call reaches the agent byte for byte and its answer comes back byte for byte")
{
    scripted_agent agent{[](const auto&) { return answer_json(R"({"jsonrpc": "2.0",  "id":1,"result":{}})"); }};
    auto settings = flow::quick_settings();
    settings.agents.push_back(flow::a2a_agent("a", agent.url("/rpc")));
    const flow::running_gateway gateway{std::move(settings)};

    const std::string body = R"({"jsonrpc":"2.0", "id":1,"method":"message/send" ,"params":{}})";
    const auto answer =
        test_support::request(gateway.port(), "POST", "/agents/a", {{"Content-Type", "application/json"}}, body);

    CHECK(answer.status == 200);
    CHECK(answer.body == R"({"jsonrpc": "2.0",  "id":1,"result":{}})");
    REQUIRE(agent.request_count() == 1);
    CHECK(agent.request(0).body == body);
    CHECK(agent.request(0).target == "/rpc");
    CHECK(agent.request(0).method == "POST");
}

TEST_SUITE_END();
