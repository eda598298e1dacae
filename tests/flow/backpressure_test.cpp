// Callers that take less than their agent gives: the gateway's own process holds little for each, and the agent waits.
#include "tests/flow/child_process.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/plain_agent.hpp"
#include "tests/support/scratch.hpp"

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;
using test_support::http_client;
using test_support::plain_agent;
using test_support::plain_exchange;

TEST_SUITE_BEGIN("flow/backpressure");

namespace {

constexpr std::size_t readers = 200;
constexpr std::uint64_t kib = 1024;

// Besides the gateway's 64 KiB, the kernel keeps what it was given: the buffers of two connections, both ends of each.
constexpr std::uint64_t most_on_the_way = 16 * kib * kib;

// Streams without an end, as fast as they are taken, to every caller that wants one; {} to all other calls.
class endless_agent {
public:
    std::uint64_t written() const noexcept { return written_; }

    // The number of bytes once it no longer grows; it keeps growing if nothing holds it back.
    std::uint64_t settled() const
    {
        const auto until = std::chrono::steady_clock::now() + test_support::patience;
        auto last = written();
        for (auto since = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - since < 500ms;) {
            std::this_thread::sleep_for(10ms);
            if (written() != last) {
                last = written();
                since = std::chrono::steady_clock::now();
            }
            if (since > until) {
                return ~std::uint64_t{0};
            }
        }
        return last;
    }

    plain_agent agent{[this](const plain_exchange& request) { return serve(request); }};

private:
    bool serve(const plain_exchange& request)
    {
        if (request.body.find("message/stream") == std::string::npos) {
            return request.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
        }
        const std::string event = "data: " + std::string(994, 'e') + "\n\n";
        bool taken = request.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        while (taken) {
            taken = request.write(event);
            written_ += taken ? event.size() : 0;
        }
        return false;
    }

    std::atomic<std::uint64_t> written_ = 0;
};

}  // namespace

TEST_CASE("two hundred slow readers of endless streams cost little memory each, and their agent waits for them")
{
    const endless_agent endless;
    const test_support::scratch_directory scratch;
    // A busy machine is not what this test is about.
    std::ofstream{scratch.file("cardea.yml")}
        << "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nstore: memory\noverload: {lag: [1h, 1h, 1h]}\nagents: {a: {url: '"
        << endless.agent.url("/rpc") << "'}}\n";
    flow::child_process gateway{CARDEA_BIN, {"run", "-c", scratch.file("cardea.yml")}};
    const auto line =
        gateway.wait_for_line([](auto each) { return each.find(R"("event":"listening")") != std::string_view::npos; });
    REQUIRE(line.has_value());
    const auto port = flow::listening_port(*line, "traffic");
    REQUIRE(flow::call(port, call_body()).body == "{}");
    const auto before = gateway.private_memory();

    std::vector<http_client> callers;
    for (std::size_t i = 0; i < readers; ++i) {
        callers.emplace_back(port).send(call_text(call_body("1", "message/stream")));
    }
    for (auto& caller : callers) {
        REQUIRE(caller.read_until("\r\n\r\n").starts_with("HTTP/1.1 200 "));
    }
    const auto full = endless.settled();
    MESSAGE("bytes on the way for each stream: " << full / readers);
    CHECK(full <= readers * most_on_the_way);

    // Each takes a little, and no more than that is written.
    std::uint64_t taken = 0;
    for (auto& caller : callers) {
        taken += caller.read_some().size();
    }
    CHECK(taken > 0);
    CHECK(endless.settled() <= full + readers * most_on_the_way / 8);

    // Nobody else notices.
    CHECK(flow::call(port, call_body("2")).body == "{}");
    if (before) {
        const auto per_stream = (*gateway.private_memory() - *before) / readers;
        MESSAGE("bytes of memory for each stream: " << per_stream);
        CHECK(per_stream < 128 * kib);
        CHECK(per_stream > 0);
    }
    callers.clear();
    gateway.signal(SIGTERM);
    CHECK(gateway.wait() == 0);
}

TEST_CASE("a translated stream costs a few times its longest event in memory, however much of it passes")
{
    constexpr std::size_t event_size = 256 * kib;
    constexpr std::size_t streams = 20;
    const std::string front =
        R"(data: {"jsonrpc":"2.0","id":"1","result":{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":)"
        R"({"artifactId":"a","parts":[{"kind":"text","text":")";
    const auto event = front + std::string(event_size, 'e') + "\"}]}}}\n\n";
    const plain_agent agent{[&event](const plain_exchange& request) {
        bool taken = request.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        while (taken) {
            taken = request.write(event);
        }
        return false;
    }};
    const test_support::scratch_directory scratch;
    std::ofstream{scratch.file("cardea.yml")} << "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nworkers: 1\nstore: "
                                                 "memory\ncards: {background: 0}\noverload: {lag: [1h, 1h, 1h]}\n"
                                                 "agents: {a: {speaks: [0.3/jsonrpc], url: '"
                                              << agent.url("/rpc") << "'}}\n";
    flow::child_process gateway{CARDEA_BIN, {"run", "-c", scratch.file("cardea.yml")}};
    const auto line =
        gateway.wait_for_line([](auto each) { return each.find(R"("event":"listening")") != std::string_view::npos; });
    REQUIRE(line.has_value());
    const auto port = flow::listening_port(*line, "traffic");
    const std::string call =
        R"({"jsonrpc":"2.0","id":"1","method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}})";
    const auto read = [](http_client& caller, std::size_t bytes) {
        std::string last;
        for (std::size_t got = 0; got < bytes; got += last.size()) {
            last = caller.read_some();
            REQUIRE_FALSE(last.empty());
        }
    };
    std::vector<http_client> callers;
    const auto open = [&] {
        auto& caller = callers.emplace_back(port);
        caller.send(call_text(call));
        REQUIRE(caller.read_until("artifactUpdate").starts_with("HTTP/1.1 200 "));
    };
    open();
    read(callers.front(), 4 * event_size);
    const auto before = gateway.private_memory();
    for (std::size_t i = 0; i < streams; ++i) {
        open();
    }
    // A hundred events of each pass: what was read is not kept.
    for (std::size_t round = 0; round < 5; ++round) {
        for (auto& caller : callers) {
            read(caller, 20 * event_size);
        }
        if (before) {
            const auto per_stream = (*gateway.private_memory() - *before) / streams;
            MESSAGE("bytes of memory for each stream: " << per_stream);
            // The event as it came and in translation, and the room that their buffers have grown to: never two events.
            CHECK(per_stream < 8 * event_size);
        }
    }
    callers.clear();
    gateway.signal(SIGTERM);
    CHECK(gateway.wait() == 0);
}

TEST_SUITE_END();
