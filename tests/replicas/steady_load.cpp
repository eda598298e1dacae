#include "tests/replicas/steady_load.hpp"

#include <utility>

namespace replicas {
namespace {

constexpr std::size_t threads_each = 2;  // of a replica
constexpr auto call_patience = 40s;      // longer than a replica is stopped

}  // namespace

bool answer_call(const test_support::plain_exchange& call)
{
    constexpr std::string_view body = R"({"jsonrpc":"2.0","id":1,"result":{}})";
    return call.write(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\n\r\n" + std::string{body}
    );
}

steady_load::steady_load(const fleet& replicas, std::vector<std::string> agents, unsigned calls_a_second)
{
    for (const auto& agent : agents) {
        requests_.push_back(test_support::request_text(
            "POST",
            "/agents/" + agent,
            {{"Content-Type", "application/json"}},
            R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})"
        ));
    }
    const std::chrono::microseconds pause{
        (sanitized ? 10'000'000 : 1'000'000) * threads_each * replicas.size() / calls_a_second
    };
    for (const auto& each : replicas) {
        for (std::size_t i = 0; i < threads_each; ++i) {
            threads_.emplace_back([this, &each, pause] { run(*each, pause); });
        }
    }
}

void steady_load::stop()
{
    over_ = true;
    for (auto& each : std::exchange(threads_, {})) {
        each.join();
    }
}

std::vector<std::string> steady_load::failures() const
{
    const std::lock_guard guard{mutex_};
    return failures_;
}

void steady_load::fail(std::string what)
{
    constexpr std::size_t most_shown = 10;
    ++failed_;
    const std::lock_guard guard{mutex_};
    if (failures_.size() < most_shown) {
        failures_.push_back(std::move(what));
    }
}

void steady_load::run(const replica& at, std::chrono::microseconds pause)
{
    std::optional<test_support::http_client> connection;
    int life = 0;  // in which the connection was made
    auto next = std::chrono::steady_clock::now();
    for (std::size_t number = 0; !over_; ++number) {
        if (!connection && at.status_of("/readyz", 30s) != 200) {
            std::this_thread::sleep_for(50ms);
            continue;
        }
        try {
            if (!connection) {
                life = at.life();
                connection.emplace(at.traffic(), call_patience);
                next = std::chrono::steady_clock::now();
            }
            connection->send(requests_[number % requests_.size()]);
            const auto answer = connection->read_response();
            ++calls_;
            if (answer.status != 200) {
                fail(at.name() + ": " + std::to_string(answer.status) + ' ' + answer.body);
            }
            if (answer.header("Connection") == "close") {
                connection.reset();
            }
        } catch (const std::exception& problem) {
            connection.reset();
            if (life % 2 == 1 || at.life() != life) {
                ++excused_;
            } else {
                fail(at.name() + ": " + problem.what());
            }
        }
        next += pause;
        const auto now = std::chrono::steady_clock::now();
        if (next < now - 100ms) {
            next = now;  // it was stopped, and nobody wants what it missed at once
        }
        std::this_thread::sleep_until(next);
    }
}

}  // namespace replicas
