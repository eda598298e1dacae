#include "gateway/mcp/http/session_recovery.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/http/recovery_turns");

namespace {

using gateway::mcp::http::recovery_turns;

recovery_turns::attempt attempt_of(const std::string& agent, core::caller_mark whose = 0)
{
    auto entry = std::make_shared<gateway::model::agent_entry>();
    entry->record.id = agent;
    auto made = std::make_shared<gateway::mcp::http::session_attempt>();
    made->call.agent = std::move(entry);
    made->call.whose = whose;
    return made;
}

// The agents of all that may begin now, in order.
std::string begin_all(recovery_turns& turns, std::vector<recovery_turns::attempt>* begun = nullptr)
{
    std::string agents;
    while (const auto next = turns.next()) {
        agents += next->call.agent->record.id;
        if (begun != nullptr) {
            begun->push_back(next);
        }
    }
    return agents;
}

void push(recovery_turns& turns, const std::string& agent, std::size_t count)
{
    for (std::size_t each = 0; each < count; ++each) {
        REQUIRE(turns.push(attempt_of(agent)));
    }
}

}  // namespace

TEST_CASE("A principal has at most half of the attempts of an agent that wait, of those under way, and of all")
{
    const auto one = core::mark_of_principal("p", "one");
    const auto two = core::mark_of_principal("p", "two");
    recovery_turns turns;
    for (std::size_t i = 0; i < recovery_turns::most_waiting / 2; ++i) {
        REQUIRE(turns.push(attempt_of("a", one)));
    }
    CHECK_FALSE(turns.push(attempt_of("a", one)));
    REQUIRE(turns.push(attempt_of("a", two)));
    std::vector<recovery_turns::attempt> begun;
    CHECK(begin_all(turns, &begun).size() == recovery_turns::most_of_agent / 2 + 1);
    CHECK(begun.back()->call.whose == two);
    turns.remove(begun.front());
    CHECK(begin_all(turns, &begun) == "a");
    CHECK(begun.back()->call.whose == one);
    // Those that have begun wait no more.
    CHECK(turns.push(attempt_of("a", one)));
    for (const std::string agent : {"b", "c", "d", "e"}) {
        for (int i = 0; i < 8; ++i) {
            REQUIRE(turns.push(attempt_of(agent, one)));
        }
    }
    CHECK(begin_all(turns, &begun).size() == recovery_turns::most_running / 2 - recovery_turns::most_of_agent / 2);
    REQUIRE(turns.push(attempt_of("e", two)));
    CHECK(begin_all(turns) == "e");
    turns.take_all();
    begun.clear();
    CHECK(turns.push(attempt_of("a", one)));
    CHECK(begin_all(turns) == "a");
}

TEST_CASE("Agents take turns, each with at most 16 attempts of 64")
{
    recovery_turns turns;
    push(turns, "a", 20);
    push(turns, "b", 2);
    push(turns, "c", 1);
    std::vector<recovery_turns::attempt> begun;
    CHECK(begin_all(turns, &begun) == "abcab" + std::string(14, 'a'));
    turns.remove(begun[1]);
    CHECK(begin_all(turns).empty());
    turns.remove(begun[0]);
    CHECK(begin_all(turns) == "a");
    for (const std::string agent : {"d", "e", "f"}) {
        push(turns, agent, 17);
    }
    const auto more = begin_all(turns);
    CHECK(more.size() == recovery_turns::most_running - 18);
    CHECK(more.starts_with("defdef"));
}

TEST_CASE("What is removed while it waits does not begin, and what is taken leaves its places to others")
{
    recovery_turns turns;
    const auto first = attempt_of("a");
    const auto second = attempt_of("a");
    REQUIRE((turns.push(first) && turns.push(second)));
    turns.remove(first);
    CHECK(turns.next() == second);
    CHECK(turns.next() == nullptr);
    turns.remove(second);
    turns.remove(second);
    push(turns, "a", 20);
    for (const std::string agent : {"b", "c", "d", "e"}) {
        push(turns, agent, recovery_turns::most_of_agent);
    }
    CHECK(begin_all(turns).size() == recovery_turns::most_running);
    CHECK(turns.take("x").empty());
    CHECK(turns.take("a").size() == 20);
    // 13 of its own were under way: 64 among five.
    CHECK(begin_all(turns).size() == 13);
    CHECK(turns.take_all().size() == 4 * recovery_turns::most_of_agent);
    CHECK(turns.next() == nullptr);
}

TEST_CASE("1,024 attempts of an agent wait, and no more")
{
    recovery_turns turns;
    push(turns, "a", recovery_turns::most_waiting);
    CHECK_FALSE(turns.push(attempt_of("a")));
    CHECK(turns.push(attempt_of("b")));
    CHECK(turns.next() != nullptr);
    CHECK(turns.push(attempt_of("a")));
}

TEST_SUITE_END();
