#include "gateway/request/local_snapshot.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/local_snapshot");

namespace {

using gateway::model::agent_entry;
using gateway::model::card_bytes;
using gateway::model::published_card;

std::shared_ptr<const agent_entry> agent(const std::string& id)
{
    agent_entry entry;
    entry.record.id = id;
    return std::make_shared<const agent_entry>(std::move(entry));
}

std::shared_ptr<const published_card> card(std::shared_ptr<const card_bytes> bytes)
{
    published_card published;
    published.bytes = std::move(bytes);
    return std::make_shared<const published_card>(std::move(published));
}

gateway::model::snapshot snapshot_of(const std::vector<std::string>& ids)
{
    gateway::model::snapshot snapshot;
    for (const auto& id : ids) {
        snapshot.agents.emplace(id, agent(id));
    }
    return snapshot;
}

}  // namespace

TEST_CASE("a new snapshot removes agents that it does not have, and the others keep their cards")
{
    gateway::request::local_snapshot known;
    known.replace(snapshot_of({"a", "b"}));
    const auto first = card(std::make_shared<const card_bytes>());
    known.set_card("a", first);
    known.set_card("b", first);

    auto next = snapshot_of({"a", "c"});
    next.public_base = "https://agents.example.com";
    next.key_set = std::make_shared<const card_bytes>();
    known.replace(next);

    REQUIRE(known.find("a") != nullptr);
    CHECK(known.find("a")->entry == next.agents.at("a"));
    CHECK(known.find("a")->card == first);
    CHECK(known.find("b") == nullptr);
    REQUIRE(known.find("c") != nullptr);
    CHECK(known.find("c")->card == nullptr);
    CHECK(known.public_base() == "https://agents.example.com");
    CHECK(known.key_set() == next.key_set);
}

TEST_CASE("an agent comes and goes alone, and loses its card with itself")
{
    gateway::request::local_snapshot known;
    known.set_agent("a", agent("a"));
    known.set_card("a", card(std::make_shared<const card_bytes>()));
    known.set_agent("a", nullptr);
    CHECK(known.find("a") == nullptr);
    known.set_agent("a", agent("a"));
    REQUIRE(known.find("a") != nullptr);
    CHECK(known.find("a")->card == nullptr);
}

TEST_CASE("the card of an agent that is not known is dropped")
{
    gateway::request::local_snapshot known;
    const auto version = known.version();
    known.set_card("a", card(std::make_shared<const card_bytes>()));
    CHECK(known.find("a") == nullptr);
    CHECK(known.version() == version);
}

TEST_CASE("the version changes with everything that a list of agents shows, and with nothing else")
{
    gateway::request::local_snapshot known;
    auto version = known.version();
    const auto changed = [&] { return std::exchange(version, known.version()) != version; };

    known.replace(snapshot_of({"a"}));
    CHECK(changed());
    known.set_agent("b", agent("b"));
    CHECK(changed());
    known.set_agent("b", nullptr);
    CHECK(changed());
    const auto bytes = std::make_shared<const card_bytes>();
    known.set_card("a", card(bytes));
    CHECK(changed());
    known.set_card("a", card(bytes));  // fresh for longer
    CHECK_FALSE(changed());
    known.set_card("a", nullptr);
    CHECK(changed());
}

TEST_CASE("An agent that a request has seen is looked for again when something has changed")
{
    gateway::request::local_snapshot known;
    gateway::request::cached_lookup last;
    CHECK(known.find("a", last) == nullptr);
    CHECK(known.find("a", last) == nullptr);
    known.set_agent("a", agent("a"));
    const auto* seen = known.find("a", last);
    REQUIRE(seen != nullptr);
    CHECK(seen == known.find("a"));
    CHECK(known.find("whatever it is called", last) == seen);  // nothing has changed
    known.set_card("a", card(std::make_shared<const card_bytes>()));
    REQUIRE(known.find("a", last) != nullptr);
    CHECK(known.find("a", last)->card != nullptr);
    const auto other = agent("a");
    known.set_agent("a", other);
    REQUIRE(known.find("a", last) != nullptr);
    CHECK(known.find("a", last)->entry == other);
    known.set_agent("a", nullptr);
    CHECK(known.find("a", last) == nullptr);
    known.replace(snapshot_of({"a"}));
    CHECK(known.find("a", last) == known.find("a"));
}

TEST_CASE("A disabled agent is found as one, by its id and by its own name, until it is enabled or gone")
{
    gateway::request::local_snapshot known;
    agent_entry entry;
    entry.record.id = "off";
    entry.record.disabled = true;
    entry.record.hosts = {"off.test"};
    const auto off = std::make_shared<const agent_entry>(std::move(entry));
    auto first = snapshot_of({"a"});
    first.disabled.emplace("off", off);
    known.replace(first);
    CHECK(known.find("off") == nullptr);
    CHECK(known.find_disabled("off") == off);
    CHECK(known.find_disabled_by_host("off.test") == off);
    CHECK(known.find_disabled("a") == nullptr);
    known.set_agent("off", agent("off"));
    CHECK(known.find("off") != nullptr);
    CHECK(known.find_disabled("off") == nullptr);
    CHECK(known.find_disabled_by_host("off.test") == nullptr);
    known.set_agent("off", off);
    CHECK(known.find("off") == nullptr);
    CHECK(known.find_disabled("off") == off);
    known.set_agent("off", nullptr);
    CHECK(known.find_disabled("off") == nullptr);
    CHECK(known.find_disabled_by_host("off.test") == nullptr);
}

TEST_SUITE_END();
