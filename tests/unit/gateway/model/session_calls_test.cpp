#include "gateway/model/session_calls.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("gateway/model/session_calls");

using gateway::model::session_calls;
using namespace std::chrono_literals;

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
    for (unsigned char each = 1; each <= 7; ++each) {
        session[7] = each;
        others.push_back(std::move(take(calls, session, 1).front()));
    }
    session[7] = 8;
    const auto taken = take(calls, session, session_calls::most + 1);
    CHECK(taken.size() == session_calls::most + 1);
}

TEST_CASE("A session is idle when it has not been used for 30 minutes, however it was used before")
{
    core::steady_time now{100h};
    session_calls calls{[&] { return now; }};
    const auto session = mcp::digest_of_session("a");
    constexpr std::chrono::seconds old = 10h;
    SUBCASE("by a call")
    {
        take(calls, session, 1);
    }
    SUBCASE("by a stream that has ended")
    {
        static_cast<void>(calls.hold(session));
    }
    SUBCASE("by another message")
    {
        calls.use(session);
    }
    SUBCASE("or not at all since this process began") {}
    for (const auto later : {0s, 1799s}) {
        now = core::steady_time{100h} + later;
        CHECK_FALSE(calls.is_idle(session, old));
    }
    for (const auto later : {1800s, 1801s, 86'400s}) {
        now = core::steady_time{100h} + later;
        CHECK(calls.is_idle(session, old));
        CHECK(calls.is_idle(session, 1800s));
        CHECK_FALSE(calls.is_idle(session, 1799s));
    }
}

TEST_CASE("A session is not idle during a call or while a stream is open, and its time begins when they end")
{
    core::steady_time now{100h};
    session_calls calls{[&] { return now; }};
    const auto session = mcp::digest_of_session("a");
    auto call = calls.take(session);
    auto stream = calls.hold(session);
    now += 2h;
    CHECK_FALSE(calls.is_idle(session, 10h));
    call.reset();
    now += 2h;
    CHECK_FALSE(calls.is_idle(session, 10h));
    stream = {};
    now += 1799s;
    CHECK_FALSE(calls.is_idle(session, 10h));
    now += 1s;
    CHECK(calls.is_idle(session, 10h));
    calls.use(session);
    CHECK_FALSE(calls.is_idle(session, 10h));
}

TEST_CASE("No session is taken for idle of which the table had no room to know, for as long as that matters")
{
    core::steady_time now{100h};
    session_calls calls{[&] { return now; }};
    mcp::session_digest session{};
    const auto use = [&](unsigned char number) {
        session[7] = number;
        calls.use(session);
    };
    const auto idle = [&](unsigned char number) {
        session[7] = number;
        return calls.is_idle(session, 10h);
    };
    now += 1h;
    for (unsigned char each = 1; each <= 7; ++each) {
        use(each);
        now += 1s;
    }
    CHECK(idle(8));
    use(8);
    // The first one has made room.
    CHECK_FALSE(idle(1));
    CHECK_FALSE(idle(9));
    now += 1799s;
    CHECK_FALSE(idle(1));
    CHECK_FALSE(idle(8));
    now += 1s;
    CHECK(idle(1));
    CHECK(idle(2));
    CHECK(idle(8));
    // Those that are idle are missed by nobody.
    use(10);
    CHECK(idle(2));
    CHECK(idle(9));
}

TEST_CASE("31 streams of a session are counted, and more pass")
{
    core::steady_time now{100h};
    session_calls calls{[&] { return now; }};
    const auto session = mcp::digest_of_session("a");
    std::vector<session_calls::place> streams;
    for (int each = 0; each < 40; ++each) {
        streams.push_back(calls.hold(session));
    }
    CHECK(take(calls, session, session_calls::most).size() == session_calls::most);
    now += 1h;
    CHECK_FALSE(calls.is_idle(session, 10h));
    streams.clear();
    now += 1h;
    CHECK(calls.is_idle(session, 10h));
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
