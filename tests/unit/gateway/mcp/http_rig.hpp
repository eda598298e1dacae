// The sessions of callers over HTTP, on a loop and a clock of the test's.
#pragma once

#include "gateway/mcp/http/http_sessions.hpp"
#include "mcp/calls/name_filter.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

namespace mcp_path_test {

using gateway::mcp::http::http_sessions;
using gateway::mcp::http::known_sessions;
using mcp::session_digest;

inline session_digest digest(unsigned number)
{
    return mcp::digest_of_session(std::to_string(number));
}

inline gateway::model::session_call
call_in(unsigned number, const std::string& agent = "a", const core::mcp_filter& resources = {})
{
    auto entry = std::make_shared<gateway::model::agent_entry>();
    entry->record.id = agent;
    entry->record.mcp.emplace();
    entry->record.mcp->resources = resources;
    entry->filters = std::make_shared<const mcp::name_filters>(*entry->record.mcp);
    gateway::model::session_call call;
    call.agent = std::move(entry);
    call.id = digest(number);
    call.version = mcp::latest(mcp::era::legacy);
    return call;
}

// The params of a subscription to a resource, of so many bytes.
inline std::string subscription(std::size_t size, unsigned number = 0)
{
    auto uri = std::to_string(number);
    uri.insert(0, size - uri.size() - 10, 'u');
    return R"({"uri":")" + uri + R"("})";
}

class http_rig {
public:
    http_rig()
    {
        loop.timers().start();
        loop.ready().start();
    }
    http_rig(const http_rig&) = delete;
    http_rig& operator=(const http_rig&) = delete;

    template <class T>
    T run(net::task<T> question)
    {
        std::optional<T> answer;
        boost::asio::co_spawn(loop.get_executor(), std::move(question), [&](const std::exception_ptr& bug, T value) {
            REQUIRE(bug == nullptr);
            answer.emplace(std::move(value));
        });
        poll();
        REQUIRE(answer.has_value());
        return std::move(*answer);
    }

    void poll()
    {
        loop.io().restart();
        loop.io().poll();
    }

    void keep(unsigned number)
    {
        sessions.keep("a", digest(number), {"upstream-" + std::to_string(number)});
        poll();
    }

    void note(unsigned number, std::string params)
    {
        sessions.note("a", digest(number), "resources/subscribe", std::move(params));
        poll();
    }

    // The server's id that is kept; empty: none is.
    std::string found(unsigned number)
    {
        auto answer = run(sessions.find("a", digest(number), /*listens=*/false));
        REQUIRE(answer.has_value());
        return answer->upstream ? answer->upstream->id : std::string{};
    }

    bool is_over(unsigned number)
    {
        const auto answer = run(sessions.find("a", digest(number), /*listens=*/false));
        return !answer && answer.error().code == errc::session_not_found;
    }

    // What becomes of a caller that waits for a session to begin again.
    struct asked {
        std::optional<core::result<mcp::upstream_session>> outcome;
        std::stop_source leaving;
    };

    std::shared_ptr<asked> recover(unsigned number, const std::string& agent = "a")
    {
        auto made = std::make_shared<asked>();
        boost::asio::co_spawn(
            loop.get_executor(),
            sessions.recover(call_in(number, agent, resources), made->leaving.get_token()),
            [made](const std::exception_ptr& bug, core::result<mcp::upstream_session> outcome) {
                REQUIRE(bug == nullptr);
                made->outcome = std::move(outcome);
            }
        );
        poll();
        return made;
    }

    bool wait_until(const std::function<bool()>& reached)
    {
        const auto by = std::chrono::steady_clock::now() + test_support::patience;
        while (!reached() && std::chrono::steady_clock::now() < by) {
            loop.io().restart();
            loop.io().run_for(2ms);
        }
        return reached();
    }

    net::loop loop;
    std::map<std::string, std::string> urls;  // of the servers, by agent
    core::steady_time now{1h};
    std::map<session_digest, bool> marked;
    std::set<std::string> gone;  // agents
    std::set<std::string> contained;
    core::mcp_filter resources;
    quiet lines;
    core::logger log{lines, core::log_level::debug};
    http_sessions sessions{
        {.loop = loop,
         .settings =
             [this](const gateway::model::agent_entry& agent) {
                 mcp::http_settings settings;
                 settings.url = urls[agent.record.id];
                 return settings;
             },
         .client = {},
         .clock = [this] { return now; },
         .mark = [this](const session_digest& id, bool ask) { marked[id] = ask; },
         .log = log,
         .has_agent = [this](const std::string& agent) { return !gone.contains(agent); },
         .is_contained = [this](const std::string& agent) { return contained.contains(agent); }}
    };
};

}  // namespace mcp_path_test
