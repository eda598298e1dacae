#include "gateway/mcp_path/http_sessions.hpp"

#include "tests/support/scripted_agent.hpp"
#include "tests/unit/gateway/mcp_path/sessions_rig.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("gateway/http_sessions");

namespace {

using namespace std::chrono_literals;
using core::errc;
using gateway::mcp_path::http_sessions;
using mcp::session_digest;

session_digest digest(unsigned number)
{
    return mcp::digest_of_session(std::to_string(number));
}

gateway::model::session_call call_in(unsigned number)
{
    gateway::model::session_call call;
    call.agent = mcp_path_test::rig{}.new_entry();
    call.id = digest(number);
    return call;
}

class http_rig {
public:
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
        sessions.keep("a", digest(number), "upstream-" + std::to_string(number));
        poll();
    }

    // The server's id that is kept; empty: none is.
    std::string found(unsigned number)
    {
        auto answer = run(sessions.find("a", digest(number)));
        REQUIRE(answer.has_value());
        return answer->value_or("");
    }

    bool is_over(unsigned number)
    {
        const auto answer = run(sessions.find("a", digest(number)));
        return !answer && answer.error().code == errc::session_not_found;
    }

    net::loop loop;
    std::string url;
    core::steady_time now{1h};
    std::map<session_digest, bool> marked;
    mcp_path_test::quiet lines;
    core::logger log{lines, core::log_level::debug};
    http_sessions sessions{
        {.loop = loop,
         .settings =
             [this](const gateway::model::agent_entry&) {
                 mcp::http_settings settings;
                 settings.url = url;
                 return settings;
             },
         .client = {},
         .clock = [this] { return now; },
         .mark = [this](const session_digest& id, bool ask) { marked[id] = ask; },
         .log = log}
    };
};

}  // namespace

TEST_CASE("A session that has ended is not found, and of others nothing is known")
{
    http_rig x;
    CHECK(x.found(1).empty());
    CHECK(x.run(x.sessions.end("a", digest(1))));
    CHECK_FALSE(x.run(x.sessions.end("a", digest(1))));
    CHECK(x.is_over(1));
    CHECK(x.marked[digest(1)]);
    CHECK(x.found(2).empty());
    CHECK_FALSE(x.run(x.sessions.find("b", digest(1)))->has_value());
    const auto begun = x.run(x.sessions.recover(call_in(1)));
    CHECK(begun.error().code == errc::session_not_found);
}

TEST_CASE("Workers ask about a session whose server's id is kept, until it is unused for 30 minutes")
{
    http_rig x;
    x.keep(1);
    CHECK(x.marked[digest(1)]);
    x.now += http_sessions::longest_idle - 1ms;
    CHECK(x.found(1) == "upstream-1");
    x.now += http_sessions::longest_idle - 1ms;
    CHECK(x.found(1) == "upstream-1");
    x.now += http_sessions::longest_idle;
    CHECK(x.found(1).empty());
    CHECK_FALSE(x.marked[digest(1)]);
    CHECK(x.sessions.known("a") == 0);
}

TEST_CASE("A session that has ended stays so for 24 hours, used or not")
{
    http_rig x;
    x.run(x.sessions.end("a", digest(1)));
    x.now += http_sessions::longest_life - 1ms;
    CHECK(x.is_over(1));
    x.now += 1ms;
    CHECK(x.found(1).empty());
}

TEST_CASE("Of an agent 10,000 sessions are known, and one more replaces the one used least lately")
{
    http_rig x;
    constexpr auto most = static_cast<unsigned>(http_sessions::most_sessions);
    for (unsigned i = 0; i < most - 1; ++i) {
        x.sessions.keep("a", digest(i), "u");
    }
    x.poll();
    CHECK(x.sessions.known("a") == most - 1);
    x.keep(most);
    CHECK(x.sessions.known("a") == most);
    CHECK(x.found(0) == "u");
    x.keep(most + 1);
    CHECK(x.sessions.known("a") == most);
    CHECK(x.found(0) == "u");
    CHECK(x.found(1).empty());
    CHECK_FALSE(x.marked[digest(1)]);
}

TEST_CASE("What sessions have to be told again is bounded for each and for an agent")
{
    http_rig x;
    const auto note = [&](unsigned number, std::size_t size) {
        auto params = R"({"uri":")" + std::string(size - 10, 'u') + R"("})";
        REQUIRE(params.size() == size);
        x.sessions.note("a", digest(number), "resources/subscribe", std::move(params));
        x.poll();
    };
    note(0, 4095);
    note(1, 4096);
    CHECK(x.sessions.known("a") == 2);
    note(2, 4097);
    CHECK(x.sessions.known("a") == 2);
    for (unsigned i = 3; i < 5000; ++i) {
        note(i, 4096);
    }
    constexpr std::size_t each = 4096 + std::string_view{"resources/subscribe"}.size();
    CHECK(x.sessions.known("a") >= http_sessions::most_bytes / each);
    CHECK(x.sessions.known("a") <= http_sessions::most_bytes / each + 2);
}

TEST_CASE("With an agent goes what is known of its sessions")
{
    http_rig x;
    x.keep(1);
    x.sessions.forget("a");
    CHECK_FALSE(x.marked[digest(1)]);
    CHECK(x.found(1).empty());
}

TEST_CASE("So many sessions begin again at a time, so many wait, and one more is refused")
{
    test_support::scripted_agent server{{.accepts = test_support::on_accept::silence}};
    http_rig x;
    x.url = server.url("/mcp");
    std::size_t ended = 0;
    std::optional<errc> latest;
    const auto ask = [&](unsigned number) {
        boost::asio::co_spawn(
            x.loop.get_executor(),
            x.sessions.recover(call_in(number)),
            [&](const std::exception_ptr&, core::result<std::string> outcome) {
                ++ended;
                latest = outcome ? errc::internal : outcome.error().code;
            }
        );
        x.poll();
    };
    constexpr auto most = static_cast<unsigned>(http_sessions::most_recoveries + http_sessions::most_waiting);
    for (unsigned i = 0; i < most; ++i) {
        ask(i);
    }
    CHECK(ended == 0);
    ask(most);
    CHECK(ended == 1);
    CHECK(latest == errc::overloaded);
    ask(0);  // shares the attempt that waits
    CHECK(ended == 1);
    x.sessions.stop();
    x.poll();
    CHECK(ended == most + 2);
    CHECK(latest == errc::draining);
}

TEST_CASE("No session begins again once the gateway ends")
{
    http_rig x;
    x.sessions.stop();
    const auto begun = x.run(x.sessions.recover(call_in(1)));
    CHECK(begun.error().code == errc::draining);
}

TEST_SUITE_END();
