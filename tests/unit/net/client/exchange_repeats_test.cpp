// Over which connections an exchange goes that must not be sent again.
#include "net/client/exchange.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/unit/net/client/exchange_recorder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

using namespace std::chrono_literals;
using test_support::recorded_request;
using test_support::scripted_agent;

TEST_SUITE_BEGIN("net/client/exchange_repeats");

namespace {

struct user {
    exchange_driver driver;
    exchange_recorder told{};

    void ask(const std::string& url, bool repeatable)
    {
        net::exchange_request request;
        request.url = url;
        request.method = "POST";
        request.body = "{}";
        request.repeatable = repeatable;
        told = {};
        const auto running = driver.client->start(std::move(request), told);
        driver.run_until([&] { return !told.ends.empty(); });
        CHECK(told.ends.front().has_value());
    }
};

}  // namespace

TEST_CASE("a request that must not go a second time takes no connection that its peer may be about to close")
{
    scripted_agent agent{[](const recorded_request&) { return test_support::answer_json("1"); }};
    user careful;
    user other;
    careful.ask(agent.url(), false);
    other.ask(agent.url(), true);
    careful.ask(agent.url(), false);
    CHECK(agent.accepted_connections() == 2);
    std::this_thread::sleep_for(4100ms);  // libcurl counts whole seconds of its own clock
    other.ask(agent.url(), true);
    CHECK(agent.accepted_connections() == 2);
    careful.ask(agent.url(), false);
    CHECK(agent.accepted_connections() == 3);
}

TEST_SUITE_END();
