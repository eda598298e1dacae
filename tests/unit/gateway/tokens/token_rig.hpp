// A loop, a clock and an OAuth server of which a test says what they do.
#pragma once

#include "gateway/tokens/token_source.hpp"
#include "net/loop/signal.hpp"

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

namespace tokens_test {

using namespace std::chrono_literals;

// Answers every request alike; while it is silent, only when released.
class scripted_server final : public net::fetcher {
public:
    boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request request) override
    {
        asked.push_back(std::move(request));
        if (silent) {
            net::task_signal go;
            held_.push_back(&go);
            co_await go.wait();
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

    void grant(const std::string& token, int seconds)
    {
        answer = net::fetch_response{
            .status = 200,
            .headers = {},
            .body = R"({"access_token":")" + token + R"(","token_type":"Bearer","expires_in":)" +
                    std::to_string(seconds) + "}"
        };
    }

    core::result<net::fetch_response> answer = net::fetch_response{.status = 500, .headers = {}, .body = {}};
    std::vector<net::fetch_request> asked;
    bool silent = false;

private:
    std::vector<net::task_signal*> held_;
};

class kept_log final : public core::log_sink {
public:
    void write(std::string_view lines) override { text.append(lines) += '\n'; }

    std::string text;
};

inline core::oauth_client client_named(const std::string& id)
{
    core::oauth_client client;
    client.token_url = "https://as.test/token";
    client.client_id = id;
    client.client_secret = core::secret{"planted-secret"};
    return client;
}

struct token_rig {
    ~token_rig()
    {
        server.release();
        turn();
    }

    gateway::tokens::token_services services()
    {
        return {
            server,
            io.get_executor(),
            log,
            [this] { return now; },
            [this] { return random; },
            [this](const std::string& agent, const core::secret& token) {
                if (publishing_fails) {
                    throw std::runtime_error{"a bug"};
                }
                published.push_back(agent + '=' + token.reveal());
            },
            [this](const std::string& agent) { return agent == "a" ? entry : nullptr; }
        };
    }

    // Whatever can go on goes on.
    void turn()
    {
        io.restart();
        io.poll();
    }

    template <class T>
    std::shared_ptr<std::optional<T>> begin(net::task<T> task)
    {
        const auto place = std::make_shared<std::optional<T>>();
        net::asio::co_spawn(io.get_executor(), std::move(task), [place](const std::exception_ptr& thrown, T value) {
            CHECK_FALSE(thrown);
            place->emplace(std::move(value));
        });
        turn();
        return place;
    }

    // The text of the token, or the name of the failure.
    std::string outcome(const std::shared_ptr<std::optional<core::result<core::secret>>>& place) const
    {
        if (!place->has_value()) {
            return "waits";
        }
        const auto& found = **place;
        return found ? found->reveal() : std::string{core::name(found.error().code)};
    }

    net::asio::io_context io{1};
    net::asio::executor_work_guard<net::executor> work{io.get_executor()};
    core::steady_time now = core::steady_time{} + 1000s;
    scripted_server server;
    kept_log sink;
    core::logger log{sink, core::log_level::info};
    std::vector<std::string> published;
    bool publishing_fails = false;
    double random = 0.0;
    std::shared_ptr<const gateway::model::agent_entry> entry;
};

using texts = std::vector<std::string>;

}  // namespace tokens_test
