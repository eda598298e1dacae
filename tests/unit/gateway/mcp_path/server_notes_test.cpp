#include "gateway/mcp_path/server_notes.hpp"

#include "tests/unit/gateway/mcp_path/http_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

TEST_SUITE_BEGIN("gateway/mcp_path/server_notes");

using namespace mcp_path_test;
using gateway::mcp_path::server_notes;

TEST_CASE("256 servers are told at a time that a request was given up, and one more is not")
{
    test_support::gate open;
    test_support::scripted_agent server{[open](const auto&) {
        return test_support::then({test_support::pass_gate{open.shared()}}, test_support::answer(202, ""));
    }};
    http_rig x;
    x.urls["a"] = server.url("/mcp");
    const auto cancel = [&](std::size_t request) {
        x.sessions.cancel(call_in(static_cast<unsigned>(request)), std::to_string(request));
        x.poll();
    };
    for (std::size_t request = 0; request <= server_notes::most; ++request) {
        cancel(request);
    }
    REQUIRE(x.wait_until([&] { return server.request_count() == server_notes::most; }));
    open.release(server_notes::most + 1);
    // Each place is free once the server has taken the message.
    REQUIRE(x.wait_until([&] {
        cancel(1'000);
        return server.request_count() > server_notes::most;
    }));
    const auto all = server.requests();
    const auto tells = [](const std::string& id) {
        return [text = R"("requestId":)" + id + ","](const auto& each) {
            return each.body.find(text) != std::string::npos;
        };
    };
    CHECK(std::ranges::any_of(all, tells("255")));
    CHECK(std::ranges::none_of(all, tells("256")));
    CHECK(std::ranges::any_of(all, tells("1000")));
}

TEST_SUITE_END();
