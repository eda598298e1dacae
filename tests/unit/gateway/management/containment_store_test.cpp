#include "tests/unit/gateway/management/containment_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/containment");

namespace {

using namespace containment_rig;

}  // namespace

TEST_CASE("A release is written first, then lifts")
{
    fixture f;
    REQUIRE(f.start().has_value());
    REQUIRE(f.contain(of_agent("words")).has_value());
    f.disk->set_fails(true);
    const auto refused = f.release(of_agent("words"));
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == errc::store_full);
    CHECK(f.holds("words"));
    CHECK(f.agents->find("words")->contained);
    f.disk->set_fails(false);
    const auto done = f.release(of_agent("words"));
    REQUIRE(done.has_value());
    CHECK_FALSE(done->now);
    CHECK_FALSE(f.holds("words"));
    CHECK(f.told.back() == "words there");
    CHECK(f.disk->names().empty());
    CHECK(
        f.trail.all.find(R"("event":"agent_released","agent":"words","by":"bob","reason":"leak")") != std::string::npos
    );
    CHECK(f.release(of_agent("words")).has_value());  // again: nothing to do
    CHECK(f.trail.count("agent_released") == 1);
}

TEST_CASE("A disk that refuses leaves a containment that holds, and gets it later")
{
    fixture f;
    REQUIRE(f.start().has_value());
    f.disk->set_fails(true);
    const auto done = f.contain(of_agent("words"));
    REQUIRE(done.has_value());
    CHECK_FALSE(done->durable);
    CHECK(f.holds("words"));
    CHECK(f.table->unwritten().size() == 1);
    for (int i = 0; i < 3; ++i) {
        f.now += 1s;
        f.table->on_due();
        REQUIRE(f.run_until([&] { return !f.table->busy(); }));
    }
    CHECK(f.sink.count("containment_persist_failed") == 1);
    CHECK(
        f.sink.all.find(R"("event":"containment_persist_failed","agent":"words","code":"store_full")") !=
        std::string::npos
    );
    f.disk->set_fails(false);
    f.table->on_due();  // too early: the last attempt was less than a second ago
    REQUIRE(f.run_until([&] { return !f.table->busy(); }));
    CHECK(f.disk->names().empty());
    f.now += 1s;
    f.table->on_due();
    REQUIRE(f.run_until([&] { return !f.table->busy(); }));
    CHECK(f.disk->names() == names{"agent words"});
    CHECK(f.sink.count("containment_persisted") == 1);
    CHECK(f.table->unwritten().empty());
}

TEST_CASE("A disk that hangs is waited for one second, and the write that was begun counts")
{
    fixture f;
    REQUIRE(f.start().has_value());
    f.disk->set_hangs(true);
    const auto waits = f.begin(f.table->contain(of_agent("words"), f.order()));
    REQUIRE(f.run_until([&] { return f.holds("words"); }));
    f.now += 999ms;
    f.table->on_due();
    f.run_until([] { return false; }, 20ms);
    CHECK_FALSE(waits->has_value());
    f.now += 1ms;
    f.table->on_due();
    REQUIRE(f.run_until([&] { return waits->has_value(); }));
    CHECK_FALSE((**waits)->durable);
    CHECK(f.sink.count("containment_persist_failed") == 1);
    f.disk->set_hangs(false);
    REQUIRE(f.run_until([&] { return !f.table->busy(); }));
    CHECK(f.disk->names() == names{"agent words"});
    CHECK(f.sink.count("containment_persisted") == 1);
}

TEST_CASE("A containment is written and logged while a worker does not say what it cut")
{
    fixture f;
    REQUIRE(f.start().has_value());
    f.workers_hang = true;
    const auto waits = f.begin(f.table->contain(of_agent("words"), f.order()));
    REQUIRE(f.run_until([&] { return f.holds("words") && f.table->unwritten().empty(); }, 2s));
    CHECK(f.disk->names() == names{"agent words"});
    CHECK(f.sink.count(R"("event":"containment_changed","agent":"words","state":"contained")") == 1);
    CHECK_FALSE(waits->has_value());
    f.workers_hang = false;
    REQUIRE(f.run_until([&] { return waits->has_value(); }));
    CHECK((**waits)->durable);
    CHECK(f.trail.count(R"("cut":{"calls":3,"streams":2,"sessions":1})") == 1);
}

TEST_CASE("Each containment has its audit line before that of what comes after it")
{
    fixture f;
    REQUIRE(f.start().has_value());
    f.workers_hang = true;
    const auto first = f.begin(f.table->contain(of_agent("words"), f.order({}, "leak")));
    f.run_until([] { return false; }, 10ms);
    const auto second = f.begin(f.table->contain(of_agent("words"), f.order({}, "worse")));
    f.run_until([] { return false; }, 10ms);
    const auto released = f.begin(f.table->release(of_agent("words"), "bob"));
    REQUIRE(f.run_until([&] { return released->has_value(); }));
    f.workers_hang = false;
    REQUIRE(f.run_until([&] { return first->has_value() && second->has_value() && !f.table->busy(); }));
    CHECK(f.trail.count("agent_contained") == 2);
    CHECK(f.trail.count("agent_released") == 1);
    const auto leak = f.trail.all.find(R"("event":"agent_contained","agent":"words","by":"ann","reason":"leak")");
    const auto worse = f.trail.all.find(R"("event":"agent_contained","agent":"words","by":"ann","reason":"worse")");
    REQUIRE(worse != std::string::npos);
    CHECK(leak < worse);
    CHECK(worse < f.trail.all.find("agent_released"));
}

TEST_CASE("A graceful stop writes what the disk has not taken")
{
    fixture f;
    REQUIRE(f.start().has_value());
    f.disk->set_fails(true);
    REQUIRE(f.contain(of_agent("words")).has_value());
    f.disk->set_fails(false);
    f.table->stop();
    CHECK(f.table->busy());
    REQUIRE(f.run_until([&] { return !f.table->busy(); }));
    CHECK(f.disk->names() == names{"agent words"});
}

TEST_CASE("A table looks again only where there is something to come, by its own clock")
{
    fixture f;
    REQUIRE(f.start().has_value());
    CHECK(f.table->due() == net::never);
    REQUIRE(f.contain(of_agent("words")).has_value());
    REQUIRE(f.run_until([&] { return !f.table->busy(); }));
    CHECK(f.table->due() == net::never);  // it is written, and has no end
    REQUIRE(f.contain(of_principal("keys", "ci"), noon + 1h).has_value());
    CHECK(f.table->due() == f.now + 250ms);
}

TEST_CASE("A containment that comes while a release is written stays")
{
    fixture f;
    REQUIRE(f.start().has_value());
    REQUIRE(f.contain(of_agent("words")).has_value());
    f.disk->set_hangs(true);
    const auto released = f.begin(f.table->release(of_agent("words"), "bob"));
    f.run_until([] { return false; }, 20ms);
    const auto again = f.begin(f.table->contain(of_agent("words"), f.order({}, "worse")));
    f.run_until([] { return false; }, 20ms);
    f.disk->set_hangs(false);
    REQUIRE(f.run_until([&] { return released->has_value() && again->has_value(); }));
    REQUIRE((**released)->now);
    CHECK((**released)->now->reason == "worse");
    CHECK((**again)->durable);
    CHECK(f.holds("words"));
    CHECK(f.disk->names() == names{"agent words"});
}

TEST_CASE("Nothing writes a containment again whose release is under way")
{
    fixture f;
    REQUIRE(f.start().has_value());
    f.disk->set_fails(true);
    REQUIRE(f.contain(of_agent("words")).has_value());
    f.disk->set_fails(false);
    f.disk->set_hangs(true);
    const auto released = f.begin(f.table->release(of_agent("words"), "bob"));
    f.run_until([] { return false; }, 20ms);
    f.now += 5s;
    f.table->on_due();
    f.disk->set_hangs(false);
    REQUIRE(f.run_until([&] { return released->has_value() && !f.table->busy(); }));
    CHECK_FALSE((**released)->now);
    CHECK(f.disk->names().empty());
    CHECK_FALSE(f.holds("words"));
}

TEST_CASE("An end that the disk does not take lifts all the same, and is written later")
{
    fixture f;
    REQUIRE(f.start().has_value());
    REQUIRE(f.contain(of_agent("words"), noon + 1h).has_value());
    f.disk->set_fails(true);
    f.wall = noon + 1h;
    f.table->on_due();
    REQUIRE(f.run_until([&] { return !f.table->busy(); }));
    CHECK_FALSE(f.holds("words"));
    CHECK(f.disk->names().size() == 1);
    f.disk->set_fails(false);
    f.now += 1s;
    f.table->on_due();
    REQUIRE(f.run_until([&] { return !f.table->busy(); }));
    CHECK(f.disk->names().empty());
}

TEST_CASE("A restart changes nothing of what is contained, but for ends that have come")
{
    fixture f;
    REQUIRE(f.start().has_value());
    REQUIRE(f.contain(of_agent("words"), noon + 2h).has_value());
    REQUIRE(f.contain(of_agent("words"), noon + 2h).has_value());
    REQUIRE(f.contain(of_principal("keys", "an n"), noon + 1h).has_value());

    fixture next{{agent("words")}, disk_of(f)};
    next.wall = noon + 1h;
    REQUIRE(next.start().has_value());
    CHECK(next.holds("words"));
    CHECK(*next.table->find(of_agent("words")) == f.order(noon + 2h));
    CHECK(next.agents->find("words")->contained);
    CHECK_FALSE(next.holds("keys", "an n"));
    next.table->on_due();
    REQUIRE(next.run_until([&] { return !next.table->busy(); }));
    CHECK(next.disk->names() == names{"agent words"});
}

TEST_CASE("A damaged table lets nothing start")
{
    SUBCASE("one that the store cannot read")
    {
        auto made = std::make_unique<moody_store>();
        made->unreadable = true;
        fixture f{{}, std::move(made)};
        const auto started = f.start();
        REQUIRE_FALSE(started.has_value());
        CHECK(started.error().detail == "store: what is contained cannot be read, so nothing may be served: the disk");
    }
    for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
             {"agent words", "no JSON"},
             {"agent words", "{}"},
             {"agent words",
              R"({"agent":"other","since":1,"reason":"r","by":"b","notice":"","acts_as":[],"registrants":[]})"},
             {"agent words",
              R"({"agent":"words","since":-1,"reason":"r","by":"b","notice":"","acts_as":[],"registrants":[]})"},
             {"agent words", R"({"agent":"words","since":1,"by":"b","notice":"","acts_as":[],"registrants":[]})"},
             {"agent words",
              R"({"agent":"words","since":1,"reason":"r","by":"b","notice":"","acts_as":[{}],"registrants":[]})"},
             {"principal  x", R"({"provider":"","principal":"x","since":1,"reason":"r","by":"b","notice":""})"}
         }) {
        CAPTURE(text);
        fixture f{{}, with_document(name, text)};
        const auto started = f.start();
        REQUIRE_FALSE(started.has_value());
        CHECK(started.error().code == errc::store_failed);
        CHECK(started.error().detail == "store: '" + name + "' is not a containment, so nothing may be served");
    }
}

TEST_CASE("What an earlier process could not write holds from the start, and is written")
{
    fixture f;
    REQUIRE(f.start().has_value());
    f.disk->set_fails(true);
    REQUIRE(f.contain(of_agent("words"), noon + 1h).has_value());
    const auto unwritten = f.table->unwritten();
    REQUIRE(unwritten.size() == 1);

    fixture next;
    REQUIRE(next.start(unwritten).has_value());
    CHECK(next.holds("words"));
    next.table->on_due();
    REQUIRE(next.run_until([&] { return !next.table->busy(); }));
    CHECK(next.disk->names() == names{"agent words"});
}

TEST_CASE("After a hand-over the heir gets what the store has not taken, also what it was about to write")
{
    fixture f;
    REQUIRE(f.start().has_value());
    f.disk->set_fails(true);
    REQUIRE(f.contain(of_agent("words")).has_value());
    f.disk->set_hangs(true);
    const auto waits = f.begin(f.table->contain(of_principal("keys", "ann"), f.order()));
    REQUIRE(f.run_until([&] { return f.holds("keys", "ann"); }));
    names heard;
    f.table->set_heir([&](const store::kept_document& document) { heard.push_back(document.name); });
    CHECK(heard == names{"agent words"});
    f.disk->set_hangs(false);  // and fails
    REQUIRE(f.run_until([&] { return waits->has_value(); }));
    CHECK_FALSE((**waits)->durable);
    CHECK(heard == names{"agent words", "principal keys ann"});
    f.now += 5s;
    f.table->on_due();
    CHECK(heard.size() == 2);
}

TEST_CASE("After a hand-over the heir gets what comes, and learns it")
{
    fixture f;
    fixture next;
    REQUIRE(f.start().has_value());
    REQUIRE(next.start().has_value());
    f.table->set_heir([&](const store::kept_document& document) { next.table->learn(document); });
    const auto done = f.contain(of_agent("words"));
    REQUIRE(done.has_value());
    CHECK_FALSE(done->durable);
    CHECK(f.disk->names().empty());
    CHECK(next.holds("words"));
    next.table->on_due();
    REQUIRE(next.run_until([&] { return !next.table->busy(); }));
    CHECK(next.disk->names() == names{"agent words"});
}

TEST_CASE("A process that still drains hears of what is contained after it, and nothing comes back from there")
{
    fixture old;
    fixture next;
    REQUIRE(old.start().has_value());
    REQUIRE(next.start().has_value());
    std::size_t back = 0;
    old.table->set_heir([&](const store::kept_document&) { ++back; });
    next.table->set_predecessor([&](const store::kept_document& document) { old.table->learn(document); });
    next.workers_hang = true;
    const auto waits = next.begin(next.table->contain(of_agent("words"), next.order()));
    REQUIRE(next.run_until([&] { return old.holds("words"); }, 2s));
    next.workers_hang = false;
    CHECK(old.agents->find("words")->contained);
    REQUIRE(next.run_until([&] { return waits->has_value(); }));
    old.now += 2s;
    old.table->on_due();
    REQUIRE(old.run_until([&] { return !old.table->busy(); }));
    CHECK(back == 0);
    CHECK(old.trail.all.empty());
    const auto published = old.published;
    old.table->learn({std::string{store::containment_document}, "agent words", {}, "broken"});
    CHECK(old.published == published);
}

TEST_SUITE_END();
