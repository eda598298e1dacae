// A reload begins traces, moves them to another collector and ends them.
#include "tests/flow/reload_fixture.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("flow/traces");

namespace {

using flow::reloading_gateway;
using test_support::recorded_request;
using test_support::scripted_agent;

const std::string ids = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";

std::string settings(const scripted_agent& agent, const std::string& trace)
{
    return "reload: {watch: false}\nworkers: 2\n" + trace + "agents:\n  a: {url: \"" + agent.url("/rpc") +
           "\", card: {name: A}}\n";
}

// What the agent was told by a call with a trace that is recorded.
std::string told(const reloading_gateway& gateway, scripted_agent& agent)
{
    const auto answer = test_support::request(
        gateway.port,
        "POST",
        "/agents/a",
        {{"Content-Type", "application/json"}, {"traceparent", "00-" + ids + "-01"}},
        R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})"
    );
    CHECK(answer.status == 200);
    return agent.requests().back().header("traceparent").substr(3, ids.size());
}

}  // namespace

TEST_CASE("a reload begins traces, moves them to another collector, and ends them")
{
    const auto take = [](const recorded_request&) { return test_support::answer_json("{}"); };
    scripted_agent agent{take};
    scripted_agent first{take};
    scripted_agent second{take};
    const test_support::scratch_directory here;
    const auto file = here.file("c.yml");
    test_support::write_whole(file, settings(agent, ""));
    reloading_gateway gateway{file};
    CHECK(told(gateway, agent) == ids);

    test_support::write_whole(file, settings(agent, "trace: {endpoint: \"" + first.url() + "\"}\n"));
    CHECK(gateway.reloaded()["needs_restart"].empty());
    CHECK(flow::becomes_true([&] { return told(gateway, agent) != ids; }));
    CHECK(first.wait_for_requests(1));

    test_support::write_whole(file, settings(agent, "trace: {endpoint: \"" + second.url("/otlp") + "\"}\n"));
    CHECK(gateway.reloaded()["needs_restart"].empty());
    CHECK(told(gateway, agent) != ids);
    CHECK(second.wait_for_requests(1));
    CHECK(second.request(0).target == "/otlp/v1/traces");

    test_support::write_whole(file, settings(agent, ""));
    CHECK(gateway.reloaded()["needs_restart"].empty());
    CHECK(flow::becomes_true([&] { return told(gateway, agent) == ids; }));
}

TEST_SUITE_END();
