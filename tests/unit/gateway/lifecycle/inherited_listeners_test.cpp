#include "gateway/lifecycle/listeners.hpp"
#include "tests/support/listening_socket.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/lifecycle/inherited_listeners");

namespace {

using gateway::lifecycle::take_inherited_listeners;
using test_support::listening_socket;
using test_support::socket_state;

}  // namespace

TEST_CASE("Each name is a listener, whose real address is known")
{
    listening_socket admin;
    listening_socket metrics{INADDR_ANY};
    const auto taken = take_inherited_listeners({{metrics.release(), "metrics"}, {admin.release(), "admin"}});
    REQUIRE(taken.has_value());
    CHECK_FALSE(taken->traffic.has_value());
    const auto addresses = taken->addresses();
    CHECK_FALSE(addresses.listen.has_value());
    CHECK(addresses.admin == config::endpoint{"127.0.0.1", admin.port()});
    CHECK(addresses.metrics == config::endpoint{"0.0.0.0", metrics.port()});
    const auto none = take_inherited_listeners({});
    REQUIRE(none.has_value());
    CHECK_FALSE(none->addresses().admin.has_value());
}

TEST_CASE("An unknown name, a name twice and a socket that does not listen are refused by name")
{
    const auto refusal = [](const std::vector<net::inherited_descriptor>& passed) {
        const auto taken = take_inherited_listeners(passed);
        return taken ? "none" : taken.error().detail;
    };
    const listening_socket opened;
    const auto number = opened.number();
    const auto descriptor = "descriptor " + std::to_string(number);
    const auto unknown = [&](const std::string& name) {
        return "inherited socket " + name + ": " + descriptor +
               " has an unknown name; expected traffic, admin or metrics (FileDescriptorName)";
    };
    for (const std::string name : {"", "cardea-traffic.socket", "Traffic"}) {
        CHECK(refusal({{number, name}}) == unknown(name));
    }
    listening_socket first;
    CHECK(
        refusal({{first.release(), "traffic"}, {number, "traffic"}}) ==
        "inherited socket traffic: " + descriptor +
            " is the second one with this name; expected one address for each listener"
    );
    const listening_socket bound{INADDR_LOOPBACK, socket_state::bound};
    CHECK(
        refusal({{bound.number(), "admin"}}) == "inherited socket admin: descriptor " + std::to_string(bound.number()) +
                                                    " does not listen; expected a TCP socket that listens"
    );
}

TEST_SUITE_END();
