// The longest time that the control loop is held while a page of many agents is made.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

using namespace std::chrono_literals;
using flow::a2a_agent;
using flow::running_gateway;
using test_support::http_client;
using test_support::request;
using test_support::request_text;

TEST_SUITE_BEGIN("flow/scrape_cost");

namespace {

#ifdef CARDEA_FULL_VOLUME
constexpr int slowness = 1;
#else
constexpr int slowness = 10;  // of a build without optimization, or with a sanitizer
#endif

config::settings settings_with(std::size_t agents, const std::string& url)
{
    auto settings = flow::quick_settings();
    settings.metrics = {"127.0.0.1", 0};
    for (std::size_t i = 0; i < agents; ++i) {
        settings.agents.push_back(a2a_agent("agent-" + std::to_string(i), url));
    }
    return settings;
}

// The most CPU time that the control loop spent between a probe and its answer, while a scraper took a page. A probe waits at least
// for the turn that is under way, so no turn is longer; and other programs on the machine do not count.
std::chrono::nanoseconds longest_wait(running_gateway& gateway)
{
    std::atomic<bool> done{false};
    std::thread scraper{[&] {
        request(gateway.metrics_port(), "GET", "/metrics");
        done = true;
    }};
    std::optional<http_client> prober;
    std::chrono::nanoseconds longest{0};
    for (int probes = 0; !done; ++probes) {
        if (probes % 500 == 0) {  // no connection has as many requests as it likes
            prober.emplace(gateway.admin_port());
        }
        const auto before = gateway.control_cpu_time();
        prober->send(request_text("GET", "/healthz"));  // NOLINT(*-optional-access): probe 0 has made it
        CHECK(prober->read_response().status == 200);   // NOLINT(*-optional-access)
        longest = std::max(longest, gateway.control_cpu_time() - before);
    }
    scraper.join();
    return longest;
}

// That of the best of five pages: a long turn would be in each, and a probe that the machine holds up waits for several turns.
std::chrono::nanoseconds longest_turn(running_gateway& gateway)
{
    auto best = longest_wait(gateway);
    for (int i = 0; i < 4; ++i) {
        best = std::min(best, longest_wait(gateway));
    }
    return best;
}

}  // namespace

TEST_CASE("No turn of the control loop takes more than 10 ms while pages of 10,000 agents are made")
{
    for (const std::uint64_t shown : {std::uint64_t{1000}, std::uint64_t{10'000}}) {
        CAPTURE(shown);
        auto settings = settings_with(10'000, "http://127.0.0.1:1/");
        settings.metrics_agents = shown;
        running_gateway gateway{std::move(settings)};
        const auto longest = longest_turn(gateway);
        CAPTURE(longest.count());
        CHECK(longest > 0ns);
        CHECK(longest <= 10ms * slowness);
    }
}

TEST_SUITE_END();
