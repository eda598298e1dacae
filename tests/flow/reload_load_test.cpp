// Reloads, one after the other, while callers call.
#include "tests/flow/reload_fixture.hpp"
#include "tests/support/plain_agent.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/reload");

namespace {

using flow::reloading_gateway;
using test_support::http_client;
using test_support::plain_agent;
using test_support::plain_exchange;

constexpr int reloads = 500;
constexpr int warm_up = 100;
constexpr std::uint64_t allowed_growth = std::uint64_t{1024} * 1024;

bool serve(const plain_exchange& asked)
{
    const std::string body =
        asked.head.starts_with("GET ") ? R"({"name":"A"})" : R"({"jsonrpc":"2.0","id":1,"result":{}})";
    return asked.write(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\n\r\n" + body
    );
}

struct tally {
    std::atomic<bool> over{false};
    std::atomic<int> answered{0};
    std::atomic<int> failed{0};
};

// Calls and cards of an agent that is always there, on one connection after the other.
void keep_calling(std::uint16_t port, const std::string& agent, tally& count)
{
    const auto call = test_support::request_text(
        "POST",
        "/agents/" + agent,
        {{"Content-Type", "application/json"}},
        R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})"
    );
    const auto card = test_support::request_text("GET", flow::card_target(agent));
    while (!count.over) {
        try {
            http_client caller{port};
            for (int i = 0; i < 100 && !count.over; ++i) {
                caller.send(i % 4 == 0 ? card : call);
                const bool good = caller.read_response().status == 200;
                ++(good ? count.answered : count.failed);
            }
        } catch (const std::exception&) {
            ++count.failed;
        }
    }
}

// One agent that stays as it is, one that changes each time, one that comes and goes.
std::string configuration(int round, const plain_agent& one, const plain_agent& other)
{
    const auto entry = [](const std::string& id, const plain_agent& agent, const std::string& more) {
        return "  " + id + ": {url: \"" + agent.url("/") + "\"" + more + "}\n";
    };
    // A slow machine would make it overloaded, which ends connections and sheds calls.
    std::string text = "log: {level: warn}\noverload: {lag: [1h, 1h, 1h]}\nagents:\n" + entry("stays", one, "");
    text += entry("changes", round % 2 == 0 ? one : other, ", version: v" + std::to_string(round));
    if (round % 3 != 0) {
        text += entry("comes", other, "");
    }
    return text;
}

}  // namespace

TEST_CASE("500 reloads under load fail no request and keep no memory")
{
    const plain_agent one{serve};
    const plain_agent other{serve};
    const test_support::scratch_directory here;
    const auto file = here.file("c.yml");
    test_support::write_whole(file, configuration(0, one, other));
    const reloading_gateway gateway{file};
    tally count;
    std::vector<std::thread> callers;
    for (const auto* agent : {"stays", "stays", "changes"}) {
        callers.emplace_back([&, agent] { keep_calling(gateway.port, agent, count); });
    }
    std::optional<std::uint64_t> before;
    int refused = 0;
    int without_effect = 0;
    for (int round = 1; round <= reloads; ++round) {
        test_support::write_whole(file, configuration(round, one, other));
        const auto answer = gateway.reload();
        refused += answer.status == 200 ? 0 : 1;
        // The watch may have been quicker.
        without_effect += answer.body.find(R"("unchanged":3)") == std::string::npos ? 0 : 1;
        if (round == warm_up) {
            before = gateway.process.private_memory();
        }
    }
    const auto after = gateway.process.private_memory();
    count.over = true;
    for (auto& each : callers) {
        each.join();
    }
    CHECK(refused == 0);
    CHECK(without_effect < reloads / 10);
    CHECK(count.failed.load() == 0);
    CHECK(count.answered.load() > reloads);
    MESSAGE(
        "requests: " << count.answered.load() << ", private memory: " << before.value_or(0) << " then "
                     << after.value_or(0)
    );
    if (before && after) {
        CHECK(*after < *before + allowed_growth);
    }
}

TEST_SUITE_END();
