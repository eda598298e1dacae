// Shared by the tests of containment: how an operator contains and releases, and what callers hear of it.
#pragma once

#include "core/json/json.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace flow {

inline core::json contain(const running_gateway& gateway, std::string_view id, const core::json& further = {})
{
    core::json params{{"id", id}, {"reason", "a test"}};
    if (further.is_object()) {
        params.update(further);
    }
    return manage(gateway, "agents/contain", params);
}

inline void release(const running_gateway& gateway, std::string_view id)
{
    manage(gateway, "agents/release", {{"id", id}});
}

inline core::json contain_principal(
    const running_gateway& gateway,
    std::string_view provider,
    std::string_view principal,
    const core::json& further = {}
)
{
    core::json params{{"provider", provider}, {"principal", principal}, {"reason", "a test"}};
    if (further.is_object()) {
        params.update(further);
    }
    return manage(gateway, "principals/contain", params);
}

inline void release_principal(const running_gateway& gateway, std::string_view provider, std::string_view principal)
{
    manage(gateway, "principals/release", {{"provider", provider}, {"principal", principal}});
}

inline constexpr std::string_view stopped_agent = "An operator has stopped this agent for now.";
inline constexpr std::string_view stopped_caller = "An operator has stopped this caller for now.";

inline std::string contained_rpc(std::string_view id, std::string_view code, std::string_view agent = "a")
{
    const auto said = code == "agent_contained" ? stopped_agent : stopped_caller;
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"error":{"code":-31403,"message":")" +
           std::string{said} + R"(","data":{"code":")" + std::string{code} + '"' +
           (agent.empty() ? std::string{} : R"(,"agent":")" + std::string{agent} + '"') + R"(,"retryable":false}}})";
}

inline std::string contained_plain(std::string_view code, std::string_view agent = "a")
{
    const auto said = code == "agent_contained" ? stopped_agent : stopped_caller;
    return R"({"error":{"code":")" + std::string{code} + R"(","message":")" + std::string{said} + '"' +
           (agent.empty() ? std::string{} : R"(,"agent":")" + std::string{agent} + '"') + R"(,"retryable":false}})";
}

// A plain 403: nothing in it invites to come again, or to log in.
inline void check_contained(const test_support::http_response& got, std::string_view body)
{
    CHECK(got.status == 403);
    CHECK(got.body == body);
    CHECK(got.count("Retry-After") == 0);
    CHECK(got.count("WWW-Authenticate") == 0);
    CHECK(got.header("Cache-Control") == "no-store");
}

}  // namespace flow
