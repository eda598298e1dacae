// What a loop counts of agents without series of their own.
#include "gateway/telemetry/mcp_counters.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "tests/unit/gateway/telemetry/allocations.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>

TEST_SUITE_BEGIN("gateway/omitted_agents");

namespace {

using namespace std::chrono_literals;
using gateway::telemetry::agent_counters;
using gateway::telemetry::agent_series;
using gateway::telemetry::worker_metrics;

gateway::model::request_record a_call(std::string_view agent)
{
    gateway::model::request_record record;
    record.where = gateway::model::route::call;
    record.agent = agent;
    record.rpc_method = a2a::method::message_send;
    record.status = 200;
    record.total = 7ms;
    return record;
}

gateway::model::request_record a_card_request(std::string_view agent)
{
    gateway::model::request_record record;
    record.where = gateway::model::route::card;
    record.agent = agent;
    record.status = 200;
    record.card = gateway::model::card_use::hit;
    return record;
}

gateway::model::request_record a_tool_call(std::string_view agent, std::string_view tool)
{
    gateway::model::request_record record;
    record.where = gateway::model::route::mcp;
    record.agent = agent;
    record.mcp_method = mcp::client_method::tools_call;
    record.tool = tool;
    record.tool_listed = true;
    record.status = 200;
    return record;
}

std::uint64_t calls_in(const agent_counters* counters)
{
    return counters == nullptr || counters->calls() == nullptr ? 0 : counters->calls()->duration.count;
}

// Of the agent itself, and of those without series.
void check_calls(const worker_metrics& metrics, std::uint64_t own, std::uint64_t omitted)
{
    CHECK(calls_in(metrics.find("a")) == own);
    CHECK(calls_in(&metrics.omitted()) == omitted);
}

}  // namespace

TEST_CASE("An agent was called if a call, a message or a stream came since that was asked last")
{
    worker_metrics metrics;
    CHECK_FALSE(metrics.take_called("a"));
    metrics.count(a_card_request("a"));
    CHECK_FALSE(metrics.take_called("a"));
    metrics.count(a_call("a"));
    CHECK(metrics.take_called("a"));
    CHECK_FALSE(metrics.take_called("a"));
    metrics.count(a_tool_call("a", "search"));
    CHECK(metrics.take_called("a"));
    metrics.stream_started("a");
    CHECK(metrics.take_called("a"));
    auto ended = a_call("a");
    ended.stream = gateway::model::stream_end::complete;
    metrics.count(ended);
    CHECK(metrics.take_called("a"));
}

TEST_CASE("What is counted of an agent with series stays with it")
{
    worker_metrics metrics;
    metrics.count(a_call("a"));
    for (int page = 0; page < 3; ++page) {
        CHECK(metrics.settle("a", agent_series::own) == 0);
        check_calls(metrics, 1, 0);
    }
    CHECK(metrics.settle("never seen", agent_series::own) == 0);
    CHECK(metrics.settle("never seen", agent_series::shared) == 0);
}

TEST_CASE("What is counted of an agent before it has series goes to the others, once")
{
    worker_metrics metrics;
    metrics.count(a_call("a"));
    metrics.settle("a", agent_series::shared);
    check_calls(metrics, 0, 1);
    metrics.settle("a", agent_series::shared);
    check_calls(metrics, 0, 1);
    metrics.count(a_call("a"));
    metrics.settle("a", agent_series::own_again);
    check_calls(metrics, 0, 2);
    metrics.count(a_call("a"));
    metrics.settle("a", agent_series::own);
    check_calls(metrics, 1, 2);
}

TEST_CASE("An agent that a loop meets between two pages is one of the others if the first had no series of it")
{
    worker_metrics metrics;
    metrics.settle("a", agent_series::shared);  // of another loop's calls, or of none
    metrics.count(a_call("a"));
    metrics.settle("a", agent_series::own_again);
    check_calls(metrics, 0, 1);
    metrics.settle("a", agent_series::own_again);  // it has been settled, and has nothing to give
    metrics.count(a_call("a"));
    metrics.settle("a", agent_series::own_again);
    check_calls(metrics, 1, 1);
}

TEST_CASE("What was on a page never goes to the others, and an agent that is back starts from zero")
{
    worker_metrics metrics;
    metrics.count(a_call("a"));
    metrics.count(a_call("a"));
    metrics.settle("a", agent_series::own);
    metrics.settle("a", agent_series::shared);
    check_calls(metrics, 0, 0);
    metrics.count(a_call("a"));
    metrics.settle("a", agent_series::shared);
    check_calls(metrics, 0, 1);
    metrics.count(a_call("a"));
    metrics.settle("a", agent_series::own_again);
    check_calls(metrics, 0, 2);
    metrics.count(a_call("a"));
    metrics.settle("a", agent_series::own);
    check_calls(metrics, 1, 2);
}

TEST_CASE("Open streams stay with their agent, whatever becomes of its series")
{
    worker_metrics metrics;
    metrics.stream_started("a");
    metrics.stream_started("a");
    CHECK(metrics.settle("a", agent_series::shared) == 2);
    CHECK(metrics.settle("a", agent_series::own_again) == 0);
    CHECK(metrics.settle("a", agent_series::shared) == 2);
    auto ended = a_call("a");
    ended.stream = gateway::model::stream_end::complete;
    metrics.count(ended);
    CHECK(metrics.settle("a", agent_series::shared) == 1);
    REQUIRE(metrics.omitted().calls() != nullptr);
    CHECK(metrics.omitted().calls()->streams_active == 0);
    CHECK(metrics.omitted().calls()->streams_ended[gateway::model::stream_end::complete] == 1);
    agent_counters others{metrics.omitted()};
    others.add_streams(1);
    REQUIRE(others.calls() != nullptr);
    CHECK(others.calls()->streams_active == 1);
}

TEST_CASE("Uses of cards and messages go to the others too, and tools lose their names there")
{
    worker_metrics metrics;
    metrics.count(a_card_request("a"));
    metrics.count(a_tool_call("a", "search"));
    metrics.count(a_tool_call("b", "search"));
    metrics.count(a_tool_call("b", "write"));
    metrics.settle("a", agent_series::shared);
    metrics.settle("b", agent_series::shared);
    CHECK(metrics.omitted().cards()[gateway::model::card_use::hit] == 1);
    const auto* messages = metrics.omitted().messages();
    REQUIRE(messages != nullptr);
    CHECK(messages->tools.empty());
    CHECK(messages->other_tools == 3);
    CHECK(messages->duration.count == 3);
}

TEST_CASE("Counting of an agent without series does not allocate after its first call")
{
    worker_metrics metrics;
    metrics.count(a_call("a"));
    metrics.settle("a", agent_series::shared);
    const auto before = tests::allocations();
    for (int i = 0; i < 100; ++i) {
        metrics.count(a_call("a"));
    }
    CHECK(tests::allocations() == before);
    metrics.settle("a", agent_series::shared);
    check_calls(metrics, 0, 101);
}

TEST_SUITE_END();
