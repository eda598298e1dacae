// grpc.health.v1.Health of the gateway's own.
#include "tests/flow/grpc_fixture.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("flow/grpc_health");

namespace {

using flow::grpc_call;
using flow::grpc_message;
using flow::grpc_relayed;
using flow::http2_caller;
using flow::pb_field;

constexpr std::string_view check = "/grpc.health.v1.Health/Check";
const std::string serving = grpc_message(std::string("\x08\x01", 2));
const std::string not_serving = grpc_message(std::string("\x08\x02", 2));

// The body, or the status of an error.
std::string health(std::uint16_t port, std::string_view service, std::string_view path = check)
{
    http2_caller caller{port};
    caller.send(grpc_call(1, path, grpc_message(service.empty() ? "" : pb_field(1, service))));
    if (!caller.answered(1)) {
        return "reset";
    }
    return caller.field(1, "grpc-status") == "0" ? caller.body(1) : caller.field(1, "grpc-status");
}

}  // namespace

TEST_CASE("The gateway and the services of A2A serve")
{
    grpc_relayed relayed{[](const auto&) { return flow::grpc_failure("14"); }};
    CHECK(health(relayed.port(), {}) == serving);
    CHECK(health(relayed.port(), "lf.a2a.v1.A2AService") == serving);
    CHECK(health(relayed.port(), "a2a.v1.A2AService") == serving);
    CHECK(relayed.agent.requests().empty());
}

TEST_CASE("Another service is not found, and Watch is not there")
{
    grpc_relayed relayed{[](const auto&) { return flow::grpc_failure("14"); }};
    CHECK(health(relayed.port(), "pkg.Service") == "5");
    CHECK(health(relayed.port(), {}, "/grpc.health.v1.Health/Watch") == "12");
}

TEST_CASE("The services of an agent whose breaker is open do not serve")
{
    grpc_relayed relayed{
        [](const auto&) { return flow::grpc_failure("14"); },
        [](auto& settings) { settings.agents[0].breaker_failures = 1; }
    };
    CHECK(flow::status_of(relayed.port(), flow::v1_get, grpc_message(flow::get_request({}))) == "14");
    CHECK(health(relayed.port(), "lf.a2a.v1.A2AService") == not_serving);
    CHECK(health(relayed.port(), {}) == serving);
}

TEST_SUITE_END();
