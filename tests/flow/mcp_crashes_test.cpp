// MCP servers that die: how soon callers know, and what is left of them.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/hostile_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/mcp_crashes");

namespace {

using namespace std::chrono_literals;
using flow::hostile_gateway;
using test_support::http_client;
using test_support::request_text;
using agents = hostile_gateway::agents;
using moment = std::chrono::steady_clock::time_point;

// What a caller was told, and when it had asked.
struct told {
    moment asked;
    unsigned status = 0;
    std::string code;
};

// Asks for a card, or for what agents/get says, again and again on one connection.
class caller {
public:
    caller(std::uint16_t port, bool manages)
        : client_{port},
          request_{
              manages ? request_text(
                            "POST",
                            "/rpc",
                            {{"Content-Type", "application/json"}},
                            flow::managing("agents/get", R"({"id":"none"})")
                        )
                      : request_text("GET", flow::card_target("none"))
          },
          manages_{manages},
          thread_{[this](const std::stop_token& end) { ask(end); }}
    {
    }

    // All of it, once it has stopped.
    std::vector<told> answers()
    {
        thread_.request_stop();
        thread_.join();
        return std::move(answers_);
    }
    std::size_t count() const noexcept { return count_.load(); }
    bool manages() const noexcept { return manages_; }

private:
    void ask(const std::stop_token& end)
    {
        try {
            while (!end.stop_requested()) {
                const auto asked = std::chrono::steady_clock::now();
                client_.send(request_);
                const auto answer = client_.read_response();
                answers_.push_back({asked, answer.status, answer.header("Cardea-Error")});
                ++count_;
                std::this_thread::sleep_for(1ms
                );  // with both cores full, a new program may wait for seconds for its first turn
            }
        } catch (const std::runtime_error&) {
            answers_.push_back({std::chrono::steady_clock::now(), 0, "broken"});
        }
    }

    http_client client_;
    std::string request_;
    bool manages_;
    std::atomic<std::size_t> count_ = 0;
    std::vector<told> answers_;
    std::jthread thread_;
};

// Whether each of them gets so many more answers.
bool all_were_answered(hostile_gateway& gateway, const std::vector<std::unique_ptr<caller>>& callers, std::size_t more)
{
    return std::ranges::all_of(callers, [&gateway, more](const auto& each) {
        const auto enough = each->count() + more;
        return flow::becomes_true(gateway, [&] { return each->count() >= enough; });
    });
}

std::chrono::milliseconds since(moment begun, moment then)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(then - begun);
}

// The agents that die as soon as they are started, until they are given up.
agents dying(int count)
{
    agents all;
    for (int i = 0; i < count; ++i) {
        all.declare(
            "a" + std::to_string(i),
            "command: \"true\", era: legacy, restart: {backoff: 10ms, max_backoff: 10ms}"
        );
    }
    return all;
}

}  // namespace

TEST_CASE("callers are told of a server's death at once, by all answers from then on, and of its return")
{
    hostile_gateway gateway{agents{}.add("none", ", restart: {backoff: 300ms, max_backoff: 300ms}")};
    REQUIRE(gateway.reaches("none", "ready"));
    std::vector<std::unique_ptr<caller>> callers;
    for (int i = 0; i < 8; ++i) {
        callers.push_back(std::make_unique<caller>(gateway.port(), i % 4 == 0));
    }
    REQUIRE(all_were_answered(gateway, callers, 3));
    const auto killed = std::chrono::steady_clock::now();
    ::kill(gateway.pids("none").at(0), SIGKILL);
    REQUIRE(flow::becomes_true(gateway, [&] { return gateway.pids("none").size() == 2; }));
    CHECK(gateway.reaches("none", "ready"));
    const auto back = std::chrono::steady_clock::now();
    REQUIRE(all_were_answered(gateway, callers, 3));
    std::chrono::milliseconds latest_card{0};
    std::size_t refusals = 0;
    std::size_t cards = 0;
    for (const auto& each : callers) {
        for (const auto& [asked, status, code] : each->answers()) {
            CHECK((status == 200 || (status == 503 && code.starts_with("session_"))));
            refusals += status == 503 ? 1 : 0;
            cards += status == 200 && asked > back ? 1 : 0;
            if (!each->manages() && status == 200 && asked > killed && asked < killed + 150ms) {
                latest_card = std::max(latest_card, since(killed, asked));
            }
        }
    }
    MESSAGE(
        "the last card was asked for " << latest_card.count() << " ms after the death; back after "
                                       << since(killed, back).count() << " ms"
    );
    CHECK(latest_card < 100ms);
    CHECK(refusals > 0);
    CHECK(cards > 0);
    CHECK(since(killed, back) < 2s);
    CHECK(gateway.skills("none") == 1);
}

TEST_CASE("a thousand deaths leave neither zombies nor descriptors nor threads")
{
    const hostile_gateway untouched{agents{}.declare("a0", R"(command: "true", start: lazy)")};
    CHECK(untouched.session("a0")["state"] == "configured");  // who answers has begun its threads
    constexpr int servers = 200;                              // five deaths each
    hostile_gateway gateway{dying(servers)};
    for (int i = 0; i < servers; ++i) {
        REQUIRE(gateway.reaches("a" + std::to_string(i), "failed", "exited", 30s));
        CHECK(gateway.session("a" + std::to_string(i))["restarts"] == 4);
    }
    const auto other = flow::facts_of(untouched.id());
    const auto after = flow::facts_of(gateway.id());
    CHECK(after.children.empty());
    CHECK(after.zombies == 0);
    CHECK(after.descriptors <= other.descriptors + 2);
    CHECK(after.threads == other.threads);
    gateway.served_within();
}

TEST_SUITE_END();
