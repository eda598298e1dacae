// A loop, a clock and a network of which a test says what they do, for what reads key sets.
#pragma once

#include "gateway/access/key_set_source.hpp"
#include "tests/unit/jose/signing_keys.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace access_test {

inline jose::json_web_key new_key(const std::string& kid)
{
    return jose::json_web_key::from_pem(a2a_test::pem(a2a_test::ec_key("P-256")), kid).value();
}

inline std::string set_of(const std::vector<core::json>& keys)
{
    return core::to_text(core::json{{"keys", keys}});
}

// Answers every request alike; while it is silent, only when released.
class scripted_fetcher final : public net::fetcher {
public:
    boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request request) override
    {
        ++fetches;
        asked = std::move(request);
        if (silent) {
            net::task_signal go;
            held_.push_back(&go);
            co_await go.wait();
        }
        if (throws) {
            throw std::runtime_error{"the fetcher broke"};
        }
        for (const auto& [url, other] : answers) {
            if (url == asked.url) {
                co_return other;
            }
        }
        co_return answer;
    }

    void release()
    {
        silent = false;
        for (auto* const each : std::exchange(held_, {})) {
            each->set();
        }
    }

    core::result<net::fetch_response> answer = net::fetch_response{.status = 404, .headers = {}, .body = {}};
    std::vector<std::pair<std::string, net::fetch_response>> answers;  // to requests of these URLs, instead of `answer`
    net::fetch_request asked;
    int fetches = 0;
    bool silent = false;
    bool throws = false;

private:
    std::vector<net::task_signal*> held_;
};

class kept_log final : public core::log_sink {
public:
    void write(std::string_view lines) override { text.append(lines) += '\n'; }

    std::string text;
};

struct key_set_rig {
    ~key_set_rig()
    {
        fetcher.release();
        io.restart();
        io.poll();
    }

    gateway::access::key_set_services services()
    {
        return {.fetcher = fetcher, .blocking = blocking, .log = log, .now = [this] { return now; }};
    }

    void serve(const std::string& set)
    {
        fetcher.answer = net::fetch_response{.status = 200, .headers = {}, .body = set};
    }

    template <class Condition>
    void run_until(Condition condition)
    {
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (!condition() && std::chrono::steady_clock::now() < give_up) {
            io.restart();
            io.run_for(std::chrono::milliseconds{1});
        }
        REQUIRE(condition());
    }

    // Begins it; the answer is there once it has come.
    template <class T>
    std::shared_ptr<std::optional<T>> begin(net::task<T> task)
    {
        const auto place = std::make_shared<std::optional<T>>();
        net::asio::co_spawn(io.get_executor(), std::move(task), [place](const std::exception_ptr& thrown, T value) {
            CHECK_FALSE(thrown);
            place->emplace(std::move(value));
        });
        io.restart();
        io.poll();
        return place;
    }

    template <class T>
    T run(net::task<T> task)
    {
        const auto place = begin(std::move(task));
        run_until([&] { return place->has_value(); });
        return **place;
    }

    net::asio::io_context io{1};
    net::asio::executor_work_guard<net::executor> work{io.get_executor()};
    core::steady_time now{};
    scripted_fetcher fetcher;
    kept_log sink;
    core::logger log{sink, core::log_level::info};
    gateway::threads::side_thread blocking;
};

}  // namespace access_test
