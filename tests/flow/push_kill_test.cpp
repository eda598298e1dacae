// A gateway that is killed while it delivers push notifications: what it has accepted arrives at least once and in its order.
#include "core/url.hpp"
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/push_kill");

namespace {

using core::json;
using flow::child_process;
using flow::parsed;
using test_support::field_list;
using test_support::recorded_request;
using test_support::scripted_agent;

// As in store_kill_test.cpp.
int rounds_asked_for()
{
    const char* const asked = std::getenv("CARDEA_KILL_ROUNDS");  // NOLINT(concurrency-mt-unsafe): one thread yet
    return asked == nullptr ? 10 : std::stoi(asked);
}

struct rig {
    rig()
    {
        std::ofstream file{folder.file("c.yml")};
        file << "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nstore: sqlite:" << folder.file("s.db")
             << "\npush: mediate\npush_allow: [127.0.0.0/8]\nlimits: {push_queue: 1000000, push_queue_agent: "
                "1000000}\nagents:\n  a: {url: \""
             << agent.url("/rpc") << "\", card: {name: A}}\n";
    }

    std::unique_ptr<child_process> start() const
    {
        const std::vector<std::string> how{"run", "-c", folder.file("c.yml")};
        return std::make_unique<child_process>(CARDEA_BIN, how);
    }

    // What the agent was given instead of the receiver's URL: path and proof.
    void register_at(std::uint16_t port)
    {
        const json body{
            {"jsonrpc", "2.0"},
            {"id", 1},
            {"method", "CreateTaskPushNotificationConfig"},
            {"params", {{"taskId", "1"}, {"url", receiver.url("/hook")}}}
        };
        REQUIRE(flow::post_json(port, "/agents/a", body.dump()).status == 200);
        const auto given = parsed(agent.requests().back().body)["params"];
        target = core::http_url::parse(given["url"].get<std::string>()).value().path;
        fields = {
            {"Content-Type", "application/json"},
            {"X-A2A-Notification-Token", given["token"].get<std::string>()}
        };
    }

    std::vector<std::string> arrived() const
    {
        std::vector<std::string> ids;
        std::set<std::string> seen;
        for (const auto& each : receiver.requests()) {
            const auto id = each.header("Cardea-Delivery");
            if (seen.insert(id).second) {
                ids.push_back(id);
            }
        }
        return ids;
    }

    test_support::scratch_directory folder;
    scripted_agent agent{[](const recorded_request&) {
        return test_support::answer_json(R"({"jsonrpc":"2.0","id":1,"result":{}})");
    }};
    scripted_agent receiver{[](const recorded_request&) { return test_support::answer(200, ""); }};
    std::string target;
    field_list fields;
};

std::uint16_t traffic_port(child_process& gateway)
{
    const auto line =
        gateway.wait_for_line([](auto each) { return each.find(R"("event":"listening")") != std::string_view::npos; });
    REQUIRE_MESSAGE(line.has_value(), gateway.err());
    return flow::listening_port(*line, "traffic");
}

constexpr std::string_view task = R"({"task":{"id":"1","status":{"state":"TASK_STATE_WORKING"}}})";

// One notification after the other until the gateway is gone; the ids of those that were accepted are appended.
void notify_until_gone(std::uint16_t port, const rig& x, std::vector<std::string>& accepted)
{
    try {
        test_support::http_client caller{port};
        while (caller.try_send(test_support::request_text("POST", x.target, x.fields, task))) {
            const auto told = caller.read_response();
            REQUIRE(told.status == 202);
            accepted.push_back(told.header("Cardea-Delivery"));
        }
    } catch (const std::runtime_error&) {
        return;  // killed within an answer, or before the connection
    }
}

}  // namespace

TEST_CASE(
    "a notification that was accepted before the gateway was killed arrives after it is started again, with its id"
)
{
    rig x;
    x.receiver.next(test_support::answer(500, "later"));
    std::string id;
    {
        const auto gateway = x.start();
        const auto port = traffic_port(*gateway);
        x.register_at(port);
        const auto told = test_support::request(port, "POST", x.target, x.fields, task);
        REQUIRE(told.status == 202);
        id = told.header("Cardea-Delivery");
        REQUIRE(x.receiver.wait_for_requests(1));
        gateway->signal(SIGKILL);
        CHECK(gateway->wait() == -SIGKILL);
    }
    const auto gateway = x.start();
    REQUIRE(x.receiver.wait_for_requests(2));
    CHECK(x.receiver.request(1).header("Cardea-Delivery") == id);
    CHECK(x.receiver.request(1).body == task);
}

TEST_CASE(
    "however often the gateway is killed, accepted notifications of a task arrive at least once and in their order"
)
{
    rig x;
    std::mt19937 random{std::random_device{}()};
    std::vector<std::string> accepted;
    const int rounds = rounds_asked_for();
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(round);
        const auto gateway = x.start();
        const auto port = traffic_port(*gateway);
        if (x.target.empty()) {
            x.register_at(port);
        }
        const std::chrono::microseconds life{random() % 60'000};
        std::thread killer{[&gateway, life] {
            std::this_thread::sleep_for(life);  // any moment will do
            gateway->signal(SIGKILL);
        }};
        notify_until_gone(port, x, accepted);
        killer.join();
        CHECK(gateway->wait() == -SIGKILL);
    }
    MESSAGE(rounds << " kills, " << accepted.size() << " accepted notifications");
    REQUIRE_FALSE(accepted.empty());
    const auto gateway = x.start();
    REQUIRE(x.receiver.wait_for([&](const std::vector<recorded_request>& all) {
        return std::ranges::any_of(all, [&](const auto& each) {
            return each.header("Cardea-Delivery") == accepted.back();
        });
    }));
    // Others were accepted too, but their agent was never told.
    auto arrived = x.arrived();
    std::erase_if(arrived, [&](const std::string& id) { return std::ranges::find(accepted, id) == accepted.end(); });
    CHECK(arrived == accepted);
}

TEST_SUITE_END();
