// What tests of the gateway's end share.
#pragma once

#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <string>
#include <string_view>
#include <system_error>

namespace flow {

inline config::settings settings_for(const test_support::scripted_agent& agent)
{
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url()));
    return settings;
}

inline std::string call_text(std::string_view method = "message/send")
{
    const auto body = R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + R"(","params":{}})";
    return test_support::request_text("POST", "/agents/a", {{"Content-Type", "application/json"}}, body);
}

inline test_support::handler held_back(const test_support::gate& at)
{
    return [shared = at.shared()](const auto&) {
        return test_support::then({test_support::pass_gate{shared}}, test_support::answer_json(R"({"late":true})"));
    };
}

inline bool refuses(std::uint16_t port)
{
    try {
        const test_support::http_client caller{port};
        return false;
    } catch (const std::system_error&) {
        return true;
    }
}

inline bool begins_to_drain(running_gateway& gateway)
{
    gateway.stop();
    return gateway.log()
        .wait_for([](auto line) { return line.find(R"("event":"draining")") != std::string_view::npos; })
        .has_value();
}

inline std::string log_of(const running_gateway& gateway)
{
    std::string all;
    for (const auto& line : gateway.log().all()) {
        all += line + "\n";
    }
    return all;
}

}  // namespace flow
