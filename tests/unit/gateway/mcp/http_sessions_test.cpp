#include "gateway/mcp/http/http_sessions.hpp"

#include "tests/unit/gateway/mcp/http_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("gateway/http_sessions");

using namespace mcp_path_test;

TEST_CASE("A session that has ended is not found, and of others nothing is known")
{
    http_rig x;
    CHECK(x.found(1).empty());
    CHECK(x.run(x.sessions.end("a", digest(1))));
    CHECK_FALSE(x.run(x.sessions.end("a", digest(1))));
    CHECK(x.is_over(1));
    CHECK(x.marked[digest(1)]);
    CHECK(x.found(2).empty());
    CHECK_FALSE(x.run(x.sessions.find("b", digest(1), /*listens=*/true))->upstream.has_value());
    const auto begun = x.run(x.sessions.recover(call_in(1), {}));
    CHECK(begun.error().code == errc::session_not_found);
}

TEST_CASE("Workers ask about a session whose server's id is kept, until it is unused for 30 minutes")
{
    http_rig x;
    x.keep(1);
    CHECK(x.marked[digest(1)]);
    x.now += known_sessions::longest_idle - 1ms;
    CHECK(x.found(1) == "upstream-1");
    x.now += known_sessions::longest_idle - 1ms;
    CHECK(x.found(1) == "upstream-1");
    x.now += known_sessions::longest_idle;
    CHECK(x.found(1).empty());
    CHECK_FALSE(x.marked[digest(1)]);
    CHECK(x.sessions.known("a") == 0);
}

TEST_CASE("A session that has ended stays so for 24 hours, used or not")
{
    http_rig x;
    x.run(x.sessions.end("a", digest(1)));
    x.now += known_sessions::longest_life - 1ms;
    CHECK(x.is_over(1));
    x.now += 1ms;
    CHECK(x.found(1).empty());
}

TEST_CASE("Of an agent 10,000 sessions are known, and one more replaces the one used least lately")
{
    http_rig x;
    constexpr auto most = static_cast<unsigned>(known_sessions::most);
    for (unsigned i = 0; i < most - 1; ++i) {
        x.sessions.keep("a", digest(i), {"u"});
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
    x.note(0, subscription(4095));
    x.note(1, subscription(4096));
    CHECK(x.sessions.known("a") == 2);
    x.note(2, subscription(4097));
    CHECK(x.sessions.known("a") == 2);
    for (unsigned i = 3; i < 5000; ++i) {
        x.note(i, subscription(4096));
        REQUIRE(x.sessions.bytes("a") <= known_sessions::most_bytes);
    }
    constexpr std::size_t each = 4086 + gateway::mcp::table::restored_state::value_overhead;
    CHECK(x.sessions.known("a") >= known_sessions::most_bytes / each);
    CHECK(x.sessions.known("a") <= known_sessions::most_bytes / each + 2);
}

TEST_CASE("Who has much to be told again loses that, and neither the ends of sessions nor their ids go for it")
{
    http_rig x;
    x.run(x.sessions.end("a", digest(1)));
    x.keep(2);
    for (unsigned session = 3; session < 13; ++session) {
        x.note(session, subscription(20, session));
    }
    for (unsigned session = 3; session < 13; ++session) {
        for (unsigned each = 0; each < 1000; ++each) {
            x.sessions.note("a", digest(session), "resources/subscribe", subscription(4096, each));
        }
        x.poll();
        CHECK(x.sessions.bytes("a") <= known_sessions::most_bytes);
    }
    x.keep(13);
    CHECK(x.is_over(1));
    CHECK(x.found(2) == "upstream-2");
    CHECK(x.sessions.bytes("a") > 0);
    x.sessions.forget("a");
    CHECK(x.sessions.bytes("a") == 0);
}

TEST_CASE("Of 10,000 sessions that are over it is known, one more replaces the first, and none takes another's place")
{
    http_rig x;
    constexpr auto most = static_cast<unsigned>(known_sessions::most_over);
    x.keep(most + 1);
    for (unsigned i = 0; i < most; ++i) {
        x.run(x.sessions.end("a", digest(i)));
        if (i >= most - 2) {
            CHECK(x.sessions.known("a") == i + 2);
        }
    }
    CHECK(x.marked[digest(0)]);
    x.run(x.sessions.end("a", digest(most)));
    CHECK(x.sessions.known("a") == most + 1);
    CHECK_FALSE(x.marked[digest(0)]);
    CHECK(x.is_over(1));
    CHECK(x.is_over(most));
    CHECK(x.found(most + 1) == "upstream-" + std::to_string(most + 1));
}

TEST_CASE("A session that is begun again stays known, however many others are used")
{
    test_support::scripted_agent silent{{.accepts = test_support::on_accept::silence}};
    http_rig x;
    x.urls["a"] = silent.url("/mcp");
    const auto waiting = x.recover(0);
    for (unsigned i = 1; i <= known_sessions::most; ++i) {
        x.sessions.keep("a", digest(i), {"u"});
    }
    x.poll();
    CHECK(x.sessions.known("a") == known_sessions::most);
    CHECK(x.found(1).empty());
    // Whoever asks for it waits for the same attempt.
    CHECK(x.run(x.sessions.end("a", digest(0))));
    CHECK(x.is_over(0));
    x.sessions.stop();
    x.poll();
    CHECK(waiting->outcome.has_value());
}

TEST_CASE("Of an agent that is gone nothing is kept, whatever a worker says later")
{
    http_rig x;
    x.keep(1);
    x.gone.insert("a");
    x.sessions.forget("a");
    x.keep(2);
    x.note(3, subscription(100));
    CHECK_FALSE(x.run(x.sessions.end("a", digest(4))));
    const auto refused = x.recover(5);
    REQUIRE(refused->outcome.has_value());
    CHECK(refused->outcome->error().code == errc::upstream_reset);
    CHECK(x.sessions.agents() == 0);
}

TEST_CASE("What is old goes without being asked for, and so does an agent of whose sessions nothing is known any more")
{
    http_rig x;
    x.keep(1);
    x.now += 1min;
    x.run(x.sessions.end("a", digest(2)));
    x.now += known_sessions::longest_idle - 1min - 1ms;
    x.sessions.sweep(x.now);
    CHECK(x.sessions.known("a") == 2);
    x.now += 1ms;
    x.sessions.sweep(x.now);
    CHECK(x.sessions.known("a") == 1);
    CHECK_FALSE(x.marked[digest(1)]);
    x.now += known_sessions::longest_life;
    x.sessions.sweep(x.now);
    CHECK(x.sessions.agents() == 0);
}

TEST_CASE("512 sessions that are old go at once, whosever they are, and the others behind what else is due on the loop")
{
    for (const auto count : {http_sessions::most_swept - 1, http_sessions::most_swept, http_sessions::most_swept + 1}) {
        CAPTURE(count);
        http_rig x;
        for (unsigned i = 0; i < count; ++i) {
            x.sessions.keep(i % 2 == 0 ? "a" : "b", digest(i), {"upstream"});
        }
        x.poll();
        x.now += known_sessions::longest_idle;
        x.sessions.sweep(x.now);
        CHECK(x.sessions.known("a") + x.sessions.known("b") == count - std::min(count, http_sessions::most_swept));
        x.poll();
        CHECK(x.sessions.agents() == 0);
    }
}

TEST_CASE(
    "Of an agent that goes 512 sessions lose their marks at once, and the others behind what else is due on the loop"
)
{
    for (const auto count : {http_sessions::most_swept - 1, http_sessions::most_swept, http_sessions::most_swept + 1}) {
        CAPTURE(count);
        http_rig x;
        for (unsigned i = 0; i < count; ++i) {
            x.sessions.keep("a", digest(i), {"upstream"});
        }
        x.poll();
        const auto marked = [&x, count] {
            std::size_t sum = 0;
            for (unsigned i = 0; i < count; ++i) {
                sum += x.marked[digest(i)] ? 1 : 0;
            }
            return sum;
        };
        REQUIRE(marked() == count);
        x.sessions.forget("a");
        CHECK(x.sessions.agents() == 0);
        CHECK(marked() == count - std::min(count, http_sessions::most_swept));
        x.poll();
        CHECK(marked() == 0);
    }
}

TEST_CASE("A session of an agent that comes back at once keeps its mark")
{
    http_rig x;
    constexpr auto count = static_cast<unsigned>(http_sessions::most_swept + 1);
    for (unsigned i = 0; i < count; ++i) {
        x.sessions.keep("a", digest(i), {"upstream"});
    }
    x.poll();
    x.sessions.forget("a");
    for (unsigned i = 0; i < count; ++i) {
        x.run(x.sessions.end("a", digest(i)));
    }
    x.poll();
    for (unsigned i = 0; i < count; ++i) {
        REQUIRE(x.marked[digest(i)]);
    }
}

TEST_CASE("With an agent goes what is known of its sessions")
{
    http_rig x;
    x.keep(1);
    x.sessions.forget("a");
    CHECK_FALSE(x.marked[digest(1)]);
    CHECK(x.found(1).empty());
}

TEST_CASE(
    "Cookies that several answers of a session set at once are kept together, unless it has begun again or is over"
)
{
    http_rig x;
    const auto take = [&](const std::string& upstream, std::vector<std::string> fields) {
        x.sessions.take_cookies("a", digest(1), {upstream}, {.fields = std::move(fields), .host = "h", .path = "/"});
        x.poll();
    };
    const auto sent = [&] {
        const auto found = x.run(x.sessions.find("a", digest(1), /*listens=*/false));
        return found && found->upstream ? found->upstream->cookies.line("/", std::chrono::system_clock::now())
                                        : std::string{};
    };
    take("s-1", {"a=1", "b=1"});
    take("s-1", {"c=1", "b=2"});
    CHECK(sent() == "a=1; b=2; c=1");
    CHECK(x.marked.at(digest(1)));
    take("s-0", {"a=3"});
    CHECK(sent() == "a=1; b=2; c=1");
    take("s-1", {"a=; Max-Age=0"});
    CHECK(sent() == "b=2; c=1");
    CHECK(x.run(x.sessions.end("a", digest(1))));
    take("s-1", {"a=4"});
    CHECK(x.is_over(1));
}

TEST_CASE("What a session has to be told again outlives the server's id and cookies, which go after 30 minutes")
{
    http_rig x;
    x.note(1, subscription(100));
    x.keep(1);
    x.keep(2);
    x.now += known_sessions::longest_idle - 1ms;
    CHECK(x.found(1) == "upstream-1");
    x.now += known_sessions::longest_idle;
    CHECK(x.found(1).empty());
    CHECK_FALSE(x.marked.at(digest(1)));
    CHECK(x.found(2).empty());
    CHECK(x.sessions.known("a") == 1);
    CHECK(x.sessions.bytes("a") > 0);
    x.now += known_sessions::longest_life;
    x.sessions.sweep(x.now);
    CHECK(x.sessions.known("a") == 0);
    CHECK(x.sessions.bytes("a") == 0);
}

TEST_SUITE_END();
