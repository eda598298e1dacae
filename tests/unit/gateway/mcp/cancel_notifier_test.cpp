#include "gateway/mcp/http/cancel_notifier.hpp"

#include "tests/unit/gateway/mcp/http_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

TEST_SUITE_BEGIN("gateway/mcp/http/cancel_notifier");

using namespace mcp_path_test;
using gateway::mcp::http::cancel_notifier;

TEST_CASE("32 notes to the server of an agent and 256 in all are under way, and one more is not sent")
{
    test_support::gate open;
    test_support::scripted_agent server{[open](const auto&) {
        return test_support::then({test_support::pass_gate{open.shared()}}, test_support::answer(202, ""));
    }};
    http_rig x;
    const auto cancel = [&](const std::string& agent, std::size_t request) {
        x.urls[agent] = server.url("/mcp");
        x.sessions.cancel(call_in(static_cast<unsigned>(request), agent), agent + std::to_string(request));
        x.poll();
    };
    constexpr auto agents = cancel_notifier::most / cancel_notifier::most_of_agent;
    for (std::size_t agent = 0; agent <= agents; ++agent) {
        for (std::size_t request = 0; request <= cancel_notifier::most_of_agent; ++request) {
            cancel(std::to_string(agent), request);
        }
    }
    REQUIRE(x.wait_until([&] { return server.request_count() == cancel_notifier::most; }));
    open.release(cancel_notifier::most + 1);
    // Each place is free once the server has taken the message.
    REQUIRE(x.wait_until([&] {
        cancel("9", 1'000);
        return server.request_count() > cancel_notifier::most;
    }));
    const auto all = server.requests();
    const auto is_told = [&](const std::string& id) {
        const auto text = R"("requestId":)" + id + ",";
        return std::ranges::any_of(all, [&](const auto& each) { return each.body.find(text) != std::string::npos; });
    };
    CHECK(is_told("030"));
    CHECK(is_told("031"));
    CHECK_FALSE(is_told("032"));
    CHECK(is_told("731"));
    CHECK_FALSE(is_told("732"));
    CHECK_FALSE(is_told("80"));
    CHECK(is_told("91000"));
}

TEST_SUITE_END();
