// Much at once: order, bytes and ends under volume. The counts are those that the release preset is held to; other builds
// are slower and take a part of them.
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/plain_agent.hpp"

#include <algorithm>
#include <cstdlib>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;
using test_support::http_client;
using test_support::plain_agent;
using test_support::plain_exchange;

TEST_SUITE_BEGIN("flow/volume");

namespace {

#ifdef CARDEA_FULL_VOLUME
constexpr std::size_t share = 1;
#else
constexpr std::size_t share = 20;
#endif

constexpr std::size_t connections = 4;

config::settings settings_for(const plain_agent& agent)
{
    auto settings = flow::quick_settings();
    settings.timeouts.upstream_head = 1min;
    settings.limits.requests = 100'000;
    settings.agents.push_back(flow::a2a_agent("a", agent.url("/rpc")));
    settings.agents.back().card = R"({"name":"A","url":"http://example.org/","version":"1","skills":[]})";
    return settings;
}

// Echoes the body of a call, every third one chunked in two pieces.
bool echo(const plain_exchange& request)
{
    if (request.body.size() % 3 != 0) {
        return request.write(
            "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(request.body.size()) + "\r\n\r\n" + request.body
        );
    }
    return request.write(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
        flow::chunked(request.body, request.body.size() / 2 + 1)
    );
}

// A call with an id of its own and up to 64 KiB, most of them small.
std::string numbered_call(std::size_t connection, std::size_t number)
{
    constexpr std::size_t usual[] = {0, 1, 17, 300, 1000};
    const std::size_t padding = number % 97 == 0 ? number * 7919 % 65'000 : usual[number / 10 % 5];
    return call_body(
        '"' + std::to_string(connection) + '-' + std::to_string(number) + '-' + std::string(padding, 'p') + '"'
    );
}

struct planned {
    std::string text;
    unsigned status;
    std::string body;      // of the answer
    bool to_head = false;  // HEAD: no body, whatever the length says
};

struct known_card {
    std::string body;
    std::string tag;
};

// What request `number` of a connection is, and what has to come back.
planned plan(std::size_t connection, std::size_t number, const known_card& card)
{
    constexpr std::string_view card_path = "/agents/a/.well-known/agent-card.json";
    const auto body = numbered_call(connection, number);
    const auto id = '"' + std::to_string(connection) + '.' + std::to_string(number) + '"';
    switch (number % 10) {
        case 0:
            return {test_support::request_text("GET", card_path), 200, card.body};
        case 1:
            return {test_support::request_text("HEAD", card_path), 200, {}, true};
        case 2:
            return {test_support::request_text("GET", card_path, {{"If-None-Match", card.tag}}), 304, {}};
        case 3:
            return {
                test_support::request_text("GET", "/nowhere/" + std::to_string(number)),
                404,
                flow::plain_body({404, 0, "not_found", "There is nothing at this address.", false})
            };
        case 4:
            return {
                test_support::request_text("POST", "/agents/b", {}, call_body(id)),
                404,
                flow::jsonrpc_body(flow::no_agent, id, "b")
            };
        case 5:
            return {call_text("[" + body), 200, flow::jsonrpc_body(flow::not_json, "null")};
        case 6:
        case 7:
            return {
                test_support::request_text(
                    "POST",
                    "/agents/a",
                    {{"Content-Type", "application/json"}, {"Transfer-Encoding", "chunked"}},
                    flow::chunked(body, number % 1000 + 1)
                ),
                200,
                body
            };
        default:
            return {call_text(body), 200, body};
    }
}

// Sends `count` requests without waiting for an answer, and reads the answers meanwhile. The first that is not as it
// must be; `count` if none.
std::size_t first_wrong_answer(std::uint16_t port, std::size_t connection, std::size_t count, const known_card& card)
{
    http_client caller{port};
    std::thread sender{[&] {
        try {
            std::string batch;
            for (std::size_t i = 0; i < count; ++i) {
                batch += plan(connection, i, card).text;
                if (batch.size() > 32'768 || i + 1 == count) {
                    caller.send(batch);
                    batch.clear();
                }
            }
        } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the reader sees what is missing
        }
    }};
    std::size_t right = 0;
    try {
        for (; right < count; ++right) {
            const auto wanted = plan(connection, right, card);
            const auto got = caller.read_response(wanted.to_head);
            if (got.status != wanted.status || got.body != wanted.body) {
                MESSAGE("request " << right << ": " << got.status << ' ' << got.body.substr(0, 200));
                break;
            }
        }
    } catch (const std::exception& failed) {
        MESSAGE("request " << right << ": " << failed.what());
    }
    if (right < count) {
        caller.reset();
    }
    sender.join();
    return right;
}

std::string event(std::size_t number)
{
    return "data: " + std::to_string(number) + "\n\n";
}

// Compares what arrives piece by piece with the events from 0 on.
class expected_events {
public:
    bool take(std::string_view data)
    {
        while (!data.empty()) {
            if (at_ == text_.size()) {
                text_ = event(number_++);
                at_ = 0;
            }
            const auto size = std::min(data.size(), text_.size() - at_);
            if (data.substr(0, size) != std::string_view{text_}.substr(at_, size)) {
                return false;
            }
            at_ += size;
            data.remove_prefix(size);
        }
        return true;
    }

    std::size_t whole() const noexcept { return at_ == text_.size() ? number_ : number_ - 1; }

private:
    std::size_t number_ = 0;
    std::string text_;
    std::size_t at_ = 0;
};

// Takes the chunks of the answer until the last one. False: something else than the events came.
bool read_events(http_client& caller, expected_events& events)
{
    std::string received;
    for (std::size_t at = 0;;) {
        const auto end = received.find("\r\n", at);
        const auto size = end == std::string::npos ? 0 : std::stoul(received.substr(at, end - at), nullptr, 16);
        if (end == std::string::npos || received.size() < end + 2 + size + 2) {
            received.erase(0, std::exchange(at, 0));
            received += caller.read_some();
            continue;
        }
        if (size == 0) {
            return received.substr(at) == "0\r\n\r\n";
        }
        if (!events.take(std::string_view{received}.substr(end + 2, size))) {
            return false;
        }
        at = end + 2 + size + 2;
    }
}

// The agent's side of a stream of `count` events, each byte in a chunk of its own. Written in pieces whose length is no
// multiple of a chunk's, so that everything is parted everywhere.
bool write_sliced_events(const plain_exchange& to, std::size_t count)
{
    constexpr std::size_t piece = 16'381;
    std::string text = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (std::size_t i = 0; i < count; ++i) {
        for (const char byte : event(i)) {
            text.append("1\r\n").append(1, byte).append("\r\n");
        }
        if (text.size() >= piece || i + 1 == count) {
            text += i + 1 == count ? "0\r\n\r\n" : "";
            const auto whole = i + 1 == count ? text.size() : text.size() / piece * piece;
            if (!to.write(std::string_view{text}.substr(0, whole))) {
                return false;
            }
            text.erase(0, whole);
        }
    }
    return true;
}

}  // namespace

TEST_CASE("a hundred thousand pipelined requests of all kinds are answered in their order, each with its own answer")
{
    const plain_agent agent{echo};
    const flow::running_gateway gateway{settings_for(agent)};
    const auto first = test_support::request(gateway.port(), "GET", "/agents/a/.well-known/agent-card.json");
    REQUIRE(first.status == 200);
    const known_card card{first.body, first.header("ETag")};
    constexpr std::size_t each = 100'000 / share / connections;

    std::vector<std::future<std::size_t>> callers;
    for (std::size_t i = 0; i < connections; ++i) {
        callers.push_back(std::async(std::launch::async, first_wrong_answer, gateway.port(), i, each, card));
    }
    for (auto& caller : callers) {
        CHECK(caller.get() == each);
    }
    CHECK(gateway.wait_for_metric("cardea_connections_open", 0));
}

TEST_CASE("a million events, cut into single bytes, arrive byte for byte and in order")
{
    constexpr std::size_t count = 1'000'000 / share;
    const plain_agent agent{[&](const plain_exchange& request) { return write_sliced_events(request, count); }};
    const flow::running_gateway gateway{settings_for(agent)};
    http_client caller{gateway.port()};
    caller.send(call_text(call_body("1", "message/stream")));
    REQUIRE(caller.read_head().status == 200);
    expected_events events;
    CHECK(read_events(caller, events));
    CHECK(events.whole() == count);
}

TEST_CASE("events whose every byte is sent on its own arrive byte for byte and in order")
{
    // All million of them take a minute or two: CARDEA_BYTEWISE_EVENTS=1000000.
    const char* const wanted = std::getenv("CARDEA_BYTEWISE_EVENTS");
    const std::size_t count = wanted != nullptr ? std::stoul(wanted) : 20'000 / share;
    const plain_agent agent{[&](const plain_exchange& request) {
        std::size_t size = 0;
        for (std::size_t i = 0; i < count; ++i) {
            size += event(i).size();
        }
        bool taken = request.write(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n"
        );
        for (std::size_t i = 0; taken && i < count; ++i) {
            taken = request.write_bytewise(event(i));
        }
        return taken;
    }};
    const flow::running_gateway gateway{settings_for(agent)};
    http_client caller{gateway.port()};
    caller.send(call_text(call_body("1", "message/stream")));
    REQUIRE(caller.read_head().status == 200);
    expected_events events;
    while (events.whole() < count) {
        REQUIRE(events.take(caller.read_some()));
    }
    CHECK(events.whole() == count);
}

TEST_CASE("a caller's leaving reaches the agent within a tenth of a second, before and after the answer began")
{
    constexpr int times = 20;
    for (const bool begun : {false, true}) {
        for (const bool reset : {false, true}) {
            CAPTURE(begun);
            CAPTURE(reset);
            std::mutex mutex;
            std::promise<void> asked;
            std::promise<std::chrono::steady_clock::time_point> left;
            const plain_agent agent{[&](const plain_exchange& request) {
                if (begun) {
                    request.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n");
                }
                const std::lock_guard guard{mutex};
                asked.set_value();
                left.set_value(request.wait_for_end().value_or(std::chrono::steady_clock::time_point::max()));
                return false;
            }};
            const flow::running_gateway gateway{settings_for(agent)};
            int in_time = 0;
            for (int i = 0; i < times; ++i) {
                http_client caller{gateway.port()};
                caller.send(call_text(call_body("1", "message/stream")));
                asked.get_future().wait();
                if (begun) {
                    caller.read_until("data: 1\n\n");
                }
                const auto before = std::chrono::steady_clock::now();
                if (reset) {
                    caller.reset();
                } else {
                    caller.close();
                }
                in_time += left.get_future().get() - before < 100ms ? 1 : 0;
                const std::lock_guard guard{mutex};
                asked = {};
                left = {};
            }
            // A machine that does something else for a moment may delay one or two.
            CHECK(in_time >= times - 2);
        }
    }
}

TEST_SUITE_END();
