#include "tests/unit/gateway/management/containment_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/containment");

namespace {

using namespace containment_rig;

}  // namespace

TEST_CASE("A containment holds at once, is written, and says what it cut")
{
    fixture f;
    REQUIRE(f.start().has_value());
    const auto done = f.contain(of_agent("words"), noon + 2h);
    REQUIRE(done.has_value());
    CHECK(done->durable);
    CHECK(done->cut.calls == 3);
    CHECK(done->cut.streams == 2);
    CHECK(done->cut.sessions == 1);
    REQUIRE(done->now);
    CHECK(*done->now == f.order(noon + 2h));
    CHECK(f.holds("words"));
    CHECK(f.published->find_agent("words")->notice == "closed");
    CHECK(f.published->find_agent("words")->until == noon + 2h);
    CHECK(f.told == names{"words contained"});
    CHECK(f.agents->find("words")->contained);
    CHECK_FALSE(f.agents->find("words")->reached());
    CHECK(f.disk->names() == names{"agent words"});
    CHECK(
        f.trail.all.find(
            R"("event":"agent_contained","agent":"words","by":"ann","reason":"leak","until":"2027-01-31T14:00:00)"
        ) != std::string::npos
    );
    CHECK(f.trail.all.find(R"("cut":{"calls":3,"streams":2,"sessions":1})") != std::string::npos);
}

TEST_CASE("Containing again replaces reason and end")
{
    fixture f;
    REQUIRE(f.start().has_value());
    REQUIRE(f.contain(of_agent("words"), noon + 1h).has_value());
    REQUIRE(f.contain(of_agent("words"), std::nullopt, "worse").has_value());
    CHECK(f.table->find(of_agent("words"))->reason == "worse");
    f.wall = noon + 2h;
    f.table->on_due();
    CHECK(f.holds("words"));
    CHECK(f.disk->names().size() == 1);
}

TEST_CASE("An end lifts a containment, however the clock gets there")
{
    fixture f;
    REQUIRE(f.start().has_value());
    REQUIRE(f.contain(of_agent("words"), noon + 1h).has_value());
    REQUIRE(f.contain(of_principal("keys", "ann"), noon + 2h).has_value());
    f.wall = noon - 24h;  // the clock is set back
    f.table->on_due();
    CHECK(f.holds("words"));
    f.wall = noon + 1h - 1ms;
    f.table->on_due();
    CHECK(f.holds("words"));
    f.wall = noon + 1h;
    f.table->on_due();
    REQUIRE(f.run_until([&] { return !f.table->busy(); }));
    CHECK_FALSE(f.holds("words"));
    CHECK(f.holds("keys", "ann"));
    CHECK(f.disk->names() == names{"principal keys ann"});
    f.wall = noon + 24h;
    f.table->on_due();
    REQUIRE(f.run_until([&] { return !f.table->busy(); }));
    CHECK_FALSE(f.holds("keys", "ann"));
    CHECK(f.disk->names().empty());
    CHECK(f.trail.all.find(R"("event":"agent_released","agent":"words","by":"until")") != std::string::npos);
    CHECK(f.trail.count("principal_released") == 1);
}

TEST_CASE("The principals of a contained agent are contained, and follow what becomes of it")
{
    auto words = agent("words");
    words.acts_as = {{"certs", "spiffe://words"}, {"keys", "words"}};
    fixture f{{words}};
    REQUIRE(f.start().has_value());
    CHECK(f.table->principals_of("words") == words.acts_as);
    REQUIRE(f.contain(of_agent("words"), noon + 1h).has_value());
    CHECK(f.holds("certs", "spiffe://words"));
    CHECK(f.holds("keys", "words"));
    CHECK_FALSE(f.holds("keys", "other"));

    SUBCASE("a reload that names another one")
    {
        words.acts_as = {{"keys", "other"}};
        CHECK(f.reload({words}, {}));
        CHECK(f.holds("keys", "other"));
        CHECK_FALSE(f.holds("keys", "words"));
        REQUIRE(f.run_until([&] { return !f.table->busy(); }));
        f.table->on_due();
        REQUIRE(f.run_until([&] { return !f.table->busy(); }));
        CHECK(f.disk->documents("containment").value().front().text.find("other") != std::string::npos);
    }
    SUBCASE("a reload without the agent")
    {
        CHECK(f.reload({}, {"words"}));
        CHECK(f.agents->find("words") == nullptr);
        CHECK(f.holds("words"));
        CHECK(f.holds("keys", "words"));
        CHECK(f.reload({agent("words")}, {}));
        CHECK(f.agents->find("words")->contained);
        CHECK(f.holds("words"));
    }
    SUBCASE("a release")
    {
        REQUIRE(f.release(of_agent("words")).has_value());
        CHECK_FALSE(f.holds("keys", "words"));
    }
    SUBCASE("a principal that is contained by itself too, for longer")
    {
        REQUIRE(f.contain(of_principal("keys", "words"), noon + 2h, "own").has_value());
        core::principal who;
        who.provider = "keys";
        who.id = "words";
        CHECK(f.published->find_principal(&who)->until == noon + 2h);
        const auto listed = f.table->principals(std::nullopt);
        REQUIRE(listed.size() == 2);
        CHECK(listed[0].name.provider == "certs");
        CHECK(listed[0].agent == "words");
        CHECK(listed[1].agent.empty());
        CHECK(listed[1].order->reason == "own");
        CHECK(f.table->principals(listed[0].name).size() == 1);
        REQUIRE(f.release(of_agent("words")).has_value());
        CHECK(f.holds("keys", "words"));
        CHECK_FALSE(f.holds("certs", "spiffe://words"));
    }
}

TEST_CASE("Whoever registered a contained agent is contained, also after it is another one's")
{
    auto words = agent("words");
    words.registered = true;
    words.registered_by = "keys ann of sales";
    fixture f{{words}};
    REQUIRE(f.start().has_value());
    REQUIRE(f.contain(of_agent("words")).has_value());
    CHECK(f.holds("keys", "ann of sales"));
    words.registered_by = "keys bob";
    CHECK(f.reload({words}, {}));
    CHECK(f.holds("keys", "bob"));
    CHECK(f.holds("keys", "ann of sales"));
    words.registered_by.clear();  // whoever has the token of registrations
    CHECK(f.reload({words}, {}));
    CHECK(f.holds("register", "register"));
}

TEST_CASE("A dry run asks what would be cut, and changes nothing")
{
    auto words = agent("words");
    words.acts_as = {{"keys", "words"}};
    fixture f{{words}};
    REQUIRE(f.start().has_value());
    const auto done = f.run(f.table->try_to_contain(of_agent("words"), f.order()));
    REQUIRE(done.has_value());
    CHECK(done->cut.calls == 3);
    REQUIRE(f.asked != nullptr);
    CHECK(f.asked->find_agent("words") != nullptr);
    CHECK(f.asked->principals.size() == 1);
    CHECK(f.published == nullptr);
    CHECK(f.told.empty());
    CHECK(f.trail.all.empty());
    CHECK(f.disk->names().empty());
}

TEST_CASE("There are 1,000 contained of each kind at most")
{
    fixture f{{}};
    REQUIRE(f.start().has_value());
    for (std::size_t i = 1; i <= containment_table::most; ++i) {
        const auto number = std::to_string(i);
        REQUIRE(f.contain(of_agent("a" + number)).has_value());
        REQUIRE(f.contain(of_principal("keys", number)).has_value());
    }
    const auto refused = f.contain(of_agent("one more"));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == errc::invalid_params);
    CHECK(refused.error().detail == "1000 agents are contained, which is the most");
    CHECK_FALSE(f.contain(of_principal("keys", "one more")).has_value());
    CHECK_FALSE(f.run(f.table->try_to_contain(of_agent("one more"), f.order())).has_value());
    CHECK(f.contain(of_agent("a1")).has_value());  // again
    REQUIRE(f.release(of_agent("a1")).has_value());
    CHECK(f.contain(of_agent("one more")).has_value());
    CHECK(f.disk->names().size() == 2 * containment_table::most);
}

TEST_CASE("Metrics count what is contained, and what that has cut")
{
    fixture f;
    const auto each = std::exchange(f.cuts, {});
    REQUIRE(f.start().has_value());
    REQUIRE(f.run_until([&] { return !f.table->busy(); }));
    f.cuts = each;
    REQUIRE(f.contain(of_agent("words")).has_value());
    REQUIRE(f.contain(of_principal("keys", "ann")).has_value());
    gateway::telemetry::metrics all;
    f.table->collect(all);
    const auto text = gateway::telemetry::text_of(all.take_process());
    for (const auto* line :
         {"cardea_contained{kind=\"agent\"} 1",
          "cardea_contained{kind=\"principal\"} 1",
          "cardea_contained_cut_total{kind=\"call\"} 6",
          "cardea_contained_cut_total{kind=\"stream\"} 4",
          "cardea_contained_cut_total{kind=\"session\"} 2"}) {
        CAPTURE(line);
        CHECK(text.find(line) != std::string::npos);
    }
}

TEST_SUITE_END();
