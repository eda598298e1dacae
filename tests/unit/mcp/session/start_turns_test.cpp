#include "mcp/session/start_turns.hpp"

#include "tests/unit/mcp/session/runner_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("mcp/session/start_turns");

namespace {

using namespace std::chrono_literals;
using mcp::session_state;
using mcp::start_turns;
using mcp_test::rig;
using mcp_test::scripted_server;

// Those who ask, and in which order their turns came.
struct queue {
    explicit queue(std::size_t most, core::duration longest = 1h)
        : turns{loop, most, longest}
    {
    }

    void ask(int who)
    {
        asked.push_back(turns.ask([this, who] { begun.push_back(who); }));
    }

    void run()
    {
        loop.io().restart();
        loop.io().poll();
    }

    net::loop loop;
    start_turns turns;
    std::vector<std::unique_ptr<start_turns::turn>> asked;
    std::vector<int> begun;
};

struct rig_in_turn : rig {
    rig_in_turn() { settings.turns = &turns; }
    ~rig_in_turn() override { runner.reset(); }
    rig_in_turn(const rig_in_turn&) = delete;
    rig_in_turn& operator=(const rig_in_turn&) = delete;

    // Until what is returned is gone, the session waits.
    std::unique_ptr<start_turns::turn> taken_by_another()
    {
        auto other = turns.ask([] {});
        REQUIRE(wait_until([&] { return other->has_come(); }));
        return other;
    }

    bool wait_for_waiting(std::size_t count)
    {
        return wait_until([&] { return turns.waiting() == count; });
    }

    start_turns turns{loop, 1, 1h};
};

}  // namespace

TEST_CASE("as many begin as there are turns, in the order of asking, and none while it asks")
{
    const std::vector<int> everybody{0, 1, 2};
    for (const std::size_t most : {1U, 2U, 3U}) {
        CAPTURE(most);
        queue x{most};
        for (const int who : everybody) {
            x.ask(who);
        }
        CHECK(x.begun.empty());
        x.run();
        CHECK(x.begun == std::vector<int>(everybody.begin(), everybody.begin() + static_cast<std::ptrdiff_t>(most)));
        CHECK(x.turns.waiting() == everybody.size() - most);
    }
}

TEST_CASE("what else the loop has to do comes between two turns")
{
    queue x{2};
    x.ask(0);
    x.ask(1);
    std::size_t begun_before = 9;
    boost::asio::post(x.loop.get_executor(), [&] { begun_before = x.begun.size(); });
    x.run();
    CHECK(begun_before == 1);
    CHECK(x.begun.size() == 2);
}

TEST_CASE("a turn that is given back is the next one's, and one that was never had is nobody's loss")
{
    queue x{1};
    for (const int who : {0, 1, 2}) {
        x.ask(who);
    }
    x.run();
    x.asked[1].reset();
    x.run();
    CHECK(x.begun == std::vector<int>{0});
    x.asked[0].reset();
    x.run();
    CHECK(x.begun == std::vector<int>{0, 2});
    CHECK(x.asked[2]->has_come());
}

TEST_CASE("whoever keeps a turn for too long keeps nobody waiting, and has none to give back")
{
    queue x{1, 5ms};
    for (const int who : {0, 1, 2}) {
        x.ask(who);
    }
    x.loop.io().run_for(1ms);
    REQUIRE(x.begun.size() >= 1);
    const auto by = std::chrono::steady_clock::now() + test_support::patience;
    while (x.begun.size() < 3 && std::chrono::steady_clock::now() < by) {
        x.loop.io().restart();
        x.loop.io().run_for(1ms);
    }
    CHECK(x.begun == std::vector<int>{0, 1, 2});
    CHECK_FALSE(x.asked[0]->has_come());
    x.asked.clear();
    x.ask(3);
    x.ask(4);
    x.loop.io().restart();
    x.loop.io().poll();
    CHECK(x.begun == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("a turn may be given back by whom it has come to, within that")
{
    queue x{1};
    std::unique_ptr<start_turns::turn> mine;
    mine = x.turns.ask([&] { mine.reset(); });
    x.ask(1);
    x.run();
    CHECK(mine == nullptr);
    CHECK(x.begun == std::vector<int>{1});
}

TEST_CASE("a session waits for its turn without using up the time that a start may take")
{
    rig_in_turn x;
    x.settings.states.start_timeout = 30ms;
    auto other = x.taken_by_another();
    x.start();
    REQUIRE(x.wait_for_waiting(1));
    const auto until = std::chrono::steady_clock::now() + 60ms;
    x.wait_until([&] { return std::chrono::steady_clock::now() >= until; });
    CHECK(x.runner->state() == session_state::starting);
    CHECK(x.server.opened == 0);
    other.reset();
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(std::ranges::none_of(x.states, [](const auto& each) { return each.first == session_state::backoff; }));
}

TEST_CASE("one turn is enough for a start, and is given back when the server has answered")
{
    rig_in_turn x;
    x.server.answer = [&](const scripted_server::line& asked) {
        return asked.method == "tools/list" ? std::string{} : mcp_test::server_with(&x.tools)(asked);
    };
    x.start();
    REQUIRE(x.wait_for(session_state::discovering));
    CHECK(x.server.opened == 1);
    const auto next = x.taken_by_another();
    CHECK(x.runner->state() == session_state::discovering);
}

TEST_CASE("a session that is stopped while it waits for its turn leaves the place")
{
    rig_in_turn x;
    auto other = x.taken_by_another();
    x.start();
    REQUIRE(x.wait_for_waiting(1));
    x.runner->stop();
    REQUIRE(x.wait_for(session_state::stopped));
    CHECK(x.turns.waiting() == 0);
    CHECK(x.server.opened == 0);
}

TEST_CASE("a session that goes while it waits for its turn leaves the place")
{
    rig_in_turn x;
    auto other = x.taken_by_another();
    x.start();
    REQUIRE(x.wait_for_waiting(1));
    x.runner.reset();
    CHECK(x.turns.waiting() == 0);
}

TEST_CASE("a session that is lost gives its turn back and waits for another one")
{
    rig_in_turn x;
    x.server.down = true;
    x.settings.states.backoff_first = 200ms;
    x.settings.states.backoff_longest = 200ms;
    x.start();
    REQUIRE(x.wait_for(session_state::backoff));
    auto other = x.taken_by_another();
    x.server.down = false;
    REQUIRE(x.wait_for_waiting(1));
    CHECK(x.runner->state() == session_state::starting);
    other.reset();
    REQUIRE(x.wait_for(session_state::ready));
}

TEST_CASE(
    "A probe that has outlived its turn is kept without another, and nothing is started beside it that still waits"
)
{
    rig x;
    start_turns turns{x.loop, 1, 50ms};
    x.settings.turns = &turns;
    x.settings.states.probe_patience = 100ms;
    std::string answer;
    x.server.answer = [&](const scripted_server::line& asked) {
        const bool probes = asked.method == "server/discover";
        answer = probes ? mcp_test::unknown(asked) : answer;
        return probes ? std::string{} : mcp_test::server_with(&x.tools)(asked);
    };
    x.start();
    REQUIRE(x.wait_until([&] { return !answer.empty(); }));
    std::vector<std::unique_ptr<start_turns::turn>> others;
    for (int i = 0; i < 1000; ++i) {
        others.push_back(turns.ask([] {}));
    }
    REQUIRE(x.wait_until([&] { return x.server.wires.size() == 2; }));
    CHECK(x.server.opened == 1);
    CHECK(x.runner->state() == session_state::starting);
    x.server.wires.front()->observer().received(answer);
    REQUIRE(x.wait_for(session_state::ready));
    CHECK(x.server.opened == 1);
    others.clear();
    CHECK(turns.waiting() == 0);
    CHECK(std::ranges::none_of(x.states, [](const auto& each) { return each.first == session_state::backoff; }));
    x.runner.reset();
}

TEST_CASE("A probe that is kept while the start beside it waits for its turn has no more time than that start had")
{
    rig x;
    start_turns turns{x.loop, 1, 50ms};
    x.settings.turns = &turns;
    x.settings.states.probe_patience = 100ms;
    x.settings.states.start_timeout = 400ms;
    x.settings.states.backoff_first = 1h;
    x.settings.states.backoff_longest = 1h;
    std::string answer;
    x.server.answer = [&](const scripted_server::line& asked) {
        answer = asked.method == "server/discover" ? mcp_test::unknown(asked) : answer;
        return std::string{};
    };
    x.start();
    REQUIRE(x.wait_until([&] { return !answer.empty(); }));
    std::vector<std::unique_ptr<start_turns::turn>> others;
    for (int i = 0; i < 1000; ++i) {
        others.push_back(turns.ask([] {}));
    }
    REQUIRE(x.wait_until([&] { return x.server.wires.size() == 2; }));
    REQUIRE(x.server.opened == 1);
    x.server.wires.front()->observer().received(answer);
    REQUIRE(x.runner->state() == session_state::initializing);
    REQUIRE(x.wait_for(session_state::backoff));
    CHECK(x.runner->reason() == mcp_test::session_reason::handshake_timeout);
    CHECK(x.server.opened == 1);
    others.clear();
    x.runner.reset();
}

TEST_CASE("No turn comes while turns are held, and all of them come afterwards in their order")
{
    queue all{1};
    all.turns.hold();
    all.ask(1);
    all.ask(2);
    all.run();
    CHECK(all.begun.empty());
    all.turns.let_go();
    all.run();
    CHECK(all.begun == std::vector<int>{1});
    all.asked.front().reset();
    all.run();
    CHECK(all.begun == std::vector<int>{1, 2});
}

TEST_CASE("A turn that overlaps comes while others are held, and one that leaves while it is held never comes")
{
    queue all{2};
    all.turns.hold();
    all.ask(1);
    all.ask(2);
    all.asked.push_back(all.turns.ask([&] { all.begun.push_back(3); }, /*overlaps=*/true));
    CHECK(all.turns.waiting() == 3);
    all.run();
    CHECK(all.begun == std::vector<int>{3});
    CHECK(all.turns.waiting() == 2);
    all.asked.front().reset();
    CHECK(all.turns.waiting() == 1);
    all.turns.let_go();
    all.run();
    CHECK(all.begun == std::vector<int>{3, 2});
}

TEST_SUITE_END();
