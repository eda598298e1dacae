#include "tests/flow/restart_load.hpp"

#include "tests/support/http_client.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace flow {
namespace {

using namespace std::chrono_literals;
using test_support::http_client;

constexpr int callers = 4;
constexpr int events = 40;
constexpr auto event_pause = 20ms;

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

}  // namespace

std::uint64_t number_from(const char* variable, std::uint64_t otherwise)
{
    const char* const text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nothing here sets one
    return text == nullptr ? otherwise : std::stoull(text);
}

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

bool serve_numbered(const test_support::plain_exchange& call)
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

restart_load::restart_load(std::uint16_t port, std::uint64_t streams)
    : port_{port},
      streams_wanted_{streams}
{
    for (std::uint64_t i = 0; i < callers; ++i) {
        threads_.emplace_back([this, i] { call(1 + i); });
    }
    for (std::uint64_t i = 0; i < streams; ++i) {
        threads_.emplace_back([this, i] { stream(1 + i); });
    }
}

bool restart_load::wait_for_calls(std::uint64_t count)
{
    return comes_true([&] { return calls_ >= count; }, 10min);
}

void restart_load::check_nothing_lost()
{
    CHECK(comes_true([&] { return streams_ >= streams_wanted_; }, 1min));
    stop();
    for (const auto& each : lost_) {
        MESSAGE(each);
    }
    CHECK(lost_.empty());
    CHECK(connections_ >= calls_ / 20);
    MESSAGE(calls_.load(), " calls, ", connections_.load(), " connections, ", streams_.load(), " streams");
}

void restart_load::stop()
{
    over_ = true;
    for (auto& each : std::exchange(threads_, {})) {
        each.join();
    }
}

void restart_load::lose(const std::string& what)
{
    const std::lock_guard guard{mutex_};
    lost_.push_back(what);
}

void restart_load::call(std::uint64_t first)
{
    std::optional<http_client> connection;
    for (auto number = first; !over_; number += callers) {
        try {
            if (!connection || calls_ % 10 == 0) {
                connection.reset();
                connection.emplace(port_);
                ++connections_;
            }
            const auto text = std::to_string(number);
            connection->send(request_for("message/send", text));
            const auto answer = connection->read_response();
            if (answer.status != 200 || answer.body != result_of(text)) {
                lose(text + ": " + std::to_string(answer.status) + ' ' + answer.body);
            }
            if (answer.header("Connection") == "close" || connection->told_to_leave()) {
                connection.reset();
            }
            ++calls_;
        } catch (const std::exception& problem) {
            lose(std::to_string(number) + ": " + problem.what());
            connection.reset();
        }
    }
}

void restart_load::stream(std::uint64_t number)
{
    while (!over_) {
        try {
            http_client connection{port_};
            const auto text = std::to_string(number);
            connection.send(request_for("message/stream", text));
            const auto body = connection.read_response().body;
            const auto event = "data: " + result_of(text) + "\n\n";
            int seen = 0;
            for (auto at = body.find(event); at != std::string::npos; at = body.find(event, at + 1)) {
                ++seen;
            }
            if (seen != events) {
                lose("stream: " + std::to_string(seen) + " events");
            }
            ++streams_;
        } catch (const std::exception& problem) {
            lose(std::string{"stream: "} + problem.what());
        }
    }
}

}  // namespace flow
