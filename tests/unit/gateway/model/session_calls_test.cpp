#include "gateway/model/session_calls.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("gateway/model/session_calls");

using gateway::model::session_calls;

namespace {

std::vector<session_calls::place> take(session_calls& of, const mcp::session_digest& session, std::size_t count)
{
    std::vector<session_calls::place> taken;
    while (taken.size() < count) {
        auto one = of.take(session);
        REQUIRE(one.has_value());
        taken.push_back(std::move(*one));
    }
    return taken;
}

}  // namespace

TEST_CASE("64 calls of a session are in flight, and no further one until one has ended")
{
    session_calls calls;
    const auto session = mcp::digest_of_session("a");
    auto taken = take(calls, session, session_calls::most);
    CHECK_FALSE(calls.take(session).has_value());
    CHECK(calls.take(mcp::digest_of_session("b")).has_value());
    taken.pop_back();
    auto last = calls.take(session);
    CHECK(last.has_value());
    CHECK_FALSE(calls.take(session).has_value());
    taken.clear();
    last.reset();
    CHECK(take(calls, session, session_calls::most).size() == session_calls::most);
}

TEST_CASE("Sessions that have ended their calls leave room for others")
{
    session_calls calls;
    for (std::size_t each = 0; each < session_calls::most_sessions * 4; ++each) {
        const auto session = mcp::digest_of_session(std::to_string(each));
        const auto taken = take(calls, session, 2);
    }
    const auto session = mcp::digest_of_session("last");
    const auto taken = take(calls, session, session_calls::most);
    CHECK_FALSE(calls.take(session).has_value());
}

TEST_CASE("Calls of a session that finds no room pass, and are not counted")
{
    session_calls calls;
    mcp::session_digest session{};
    std::vector<session_calls::place> others;
    for (unsigned char each = 1; each <= 8; ++each) {
        session[2] = each;
        others.push_back(std::move(take(calls, session, 1).front()));
    }
    session[2] = 9;
    const auto taken = take(calls, session, session_calls::most + 1);
    CHECK(taken.size() == session_calls::most + 1);
}

TEST_CASE("Threads that begin and end calls of one session at once never have more than 64, and leave none behind")
{
    session_calls calls;
    const auto session = mcp::digest_of_session("a");
    const auto first = take(calls, session, 1);
    std::atomic<int> in_flight = 1;
    std::atomic<int> most = 0;
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
            for (int round = 0; round < 2000; ++round) {
                std::vector<session_calls::place> mine;
                for (int each = 0; each < 24; ++each) {
                    if (auto one = calls.take(session)) {
                        mine.push_back(std::move(*one));
                        const int now = ++in_flight;
                        for (int known = most; known < now && !most.compare_exchange_weak(known, now);) {
                        }
                    }
                }
                in_flight -= static_cast<int>(mine.size());
            }
        });
    }
    threads.clear();
    CHECK(most <= 64);
    const auto rest = take(calls, session, session_calls::most - 1);
    CHECK_FALSE(calls.take(session).has_value());
}

TEST_SUITE_END();
