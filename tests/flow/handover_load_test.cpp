// Hand-overs while callers call: nothing is lost. A call is lost that is refused, reset, answered with another status than 200, or with
// another's answer; a stream, that does not end with its last chunk. No caller repeats anything.
// The long form has more of everything: CARDEA_HANDOVERS, CARDEA_HANDOVER_CALLS and CARDEA_HANDOVER_STREAMS in the environment (./dev handover).
#include "tests/flow/handover_fixture.hpp"
#include "tests/support/plain_agent.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/handover_load");

namespace {

using namespace std::chrono_literals;
using flow::has_ended;
using flow::succession;
using test_support::http_client;

constexpr int callers = 4;
constexpr int events = 40;
constexpr auto event_pause = 20ms;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise)
{
    const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nothing here sets one
    return text == nullptr ? otherwise : std::stoull(text);
}

std::string request_for(std::string_view method, const std::string& number)
{
    return test_support::request_text(
        "POST",
        "/agents/a",
        {{"Content-Type", "application/json"}},
        R"({"jsonrpc":"2.0","id":)" + number + R"(,"method":")" + std::string{method} + R"(","params":{}})"
    );
}

std::string result_of(const std::string& number)
{
    return R"({"jsonrpc":"2.0","id":)" + number + R"(,"result":{"number":)" + number + "}}";
}

std::string chunk(const std::string& data)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string size;
    for (auto left = data.size(); left > 0; left /= 16) {
        size.insert(size.begin(), digits[left % 16]);
    }
    return size + "\r\n" + data + "\r\n";
}

// A question that is worth asking a hundred times a second.
bool comes_true(const std::function<bool()>& question, std::chrono::seconds limit)
{
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!question()) {
        if (std::chrono::steady_clock::now() > until) {
            return false;
        }
        std::this_thread::sleep_for(10ms);
    }
    return true;
}

// Answers a call with its own number, and a stream with events that take a while.
bool serve(const test_support::plain_exchange& call)
{
    if (call.body.empty()) {  // its card is asked for
        return call.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    }
    const auto from = call.body.find(R"("id":)") + 5;
    const auto number = call.body.substr(from, call.body.find(',', from) - from);
    if (call.body.find("message/stream") == std::string::npos) {
        const auto body = result_of(number);
        return call.write(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
            "\r\n\r\n" + body
        );
    }
    bool taken = call.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < events && taken; ++i) {
        taken = call.write(chunk("data: " + result_of(number) + "\n\n"));
        std::this_thread::sleep_for(event_pause);
    }
    return taken && call.write("0\r\n\r\n");
}

// What the callers share.
struct tally {
    std::atomic<bool> over = false;
    std::atomic<std::uint64_t> calls = 0;
    std::atomic<std::uint64_t> connections = 0;
    std::atomic<std::uint64_t> streams = 0;
    std::mutex mutex;
    std::vector<std::string> lost;

    void lose(const std::string& what)
    {
        const std::lock_guard guard{mutex};
        lost.push_back(what);
    }
};

// Calls one after the other; a tenth of them on connections of their own.
void call_on(std::uint16_t port, std::uint64_t first, tally& all)
{
    std::optional<http_client> connection;
    for (auto number = first; !all.over; number += callers) {
        try {
            if (!connection || all.calls % 10 == 0) {
                connection.reset();
                connection.emplace(port);
                ++all.connections;
            }
            const auto text = std::to_string(number);
            connection->send(request_for("message/send", text));
            const auto answer = connection->read_response();
            if (answer.status != 200 || answer.body != result_of(text)) {
                all.lose(text + ": " + std::to_string(answer.status) + ' ' + answer.body);
            }
            if (answer.header("Connection") == "close") {
                connection.reset();
            }
            ++all.calls;
        } catch (const std::exception& problem) {
            all.lose(std::to_string(number) + ": " + problem.what());
            connection.reset();
        }
    }
}

void stream_from(std::uint16_t port, std::uint64_t number, tally& all)
{
    while (!all.over) {
        try {
            http_client connection{port};
            const auto text = std::to_string(number);
            connection.send(request_for("message/stream", text));
            const auto body = connection.read_response().body;
            const auto event = "data: " + result_of(text) + "\n\n";
            int seen = 0;
            for (auto at = body.find(event); at != std::string::npos; at = body.find(event, at + 1)) {
                ++seen;
            }
            if (seen != events) {
                all.lose("stream: " + std::to_string(seen) + " events");
            }
            ++all.streams;
        } catch (const std::exception& problem) {
            all.lose(std::string{"stream: "} + problem.what());
        }
    }
}

}  // namespace

TEST_CASE("No call and no stream is lost while gateways hand over to each other")
{
    const auto handovers = number_from("CARDEA_HANDOVERS", 3);
    const auto calls = number_from("CARDEA_HANDOVER_CALLS", 3000);
    const auto streams = number_from("CARDEA_HANDOVER_STREAMS", 8);
    const test_support::plain_agent agent{serve};
    succession gateways{"store: memory\nagents: {a: {url: \"" + agent.url("/") + "\"}}\n"};
    tally all;
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < callers; ++i) {
        threads.emplace_back([&, i] { call_on(gateways.port(), 1 + i, all); });
    }
    for (std::uint64_t i = 0; i < streams; ++i) {
        threads.emplace_back([&, i] { stream_from(gateways.port(), 1 + i, all); });
    }
    for (std::uint64_t i = 0; i < handovers; ++i) {
        const auto enough = calls * (i + 1) / (handovers + 1);
        CHECK(comes_true([&] { return all.calls >= enough; }, 10min));
        const auto old = gateways.now();
        gateways.hand_over();
        CHECK(comes_true([&] { return has_ended(old); }, 1min));
    }
    CHECK(comes_true([&] { return all.calls >= calls && all.streams >= streams; }, 10min));
    all.over = true;
    for (auto& each : threads) {
        each.join();
    }
    for (const auto& each : all.lost) {
        MESSAGE(each);
    }
    CHECK(all.lost.empty());
    CHECK(all.connections >= all.calls / 20);
    MESSAGE(all.calls.load(), " calls, ", all.connections.load(), " connections, ", all.streams.load(), " streams");
}

TEST_SUITE_END();
