#include "tests/unit/gateway/management/containment_rig.hpp"
#include "tests/unit/gateway/replicas/fake_feed.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/containment of a store that is shared");

namespace {

using namespace containment_rig;

// One of several replicas.
struct replica {
    replica() { REQUIRE(f.start().has_value()); }

    static std::unique_ptr<moody_store> shared(replicas_rig::fake_feed& with)
    {
        auto made = std::make_unique<moody_store>();
        made->feed = &with;
        return made;
    }

    std::vector<store::document_change> documents() const
    {
        std::vector<store::document_change> out;
        for (auto& each : f.disk->documents(std::string{store::containment_document}).value()) {
            out.push_back({each.kind, each.name, each});
        }
        return out;
    }

    bool learn(const std::vector<store::document_change>& all, store::feed_reload why = store::feed_reload::none)
    {
        f.now += 1ms;
        return f.table->learn_kept(all, why, f.now);
    }

    replicas_rig::fake_feed feed;
    fixture f{{agent("words"), agent("dice")}, shared(feed)};
};

store::document_change dropped(const std::string& name)
{
    return {std::string{store::containment_document}, name, std::nullopt};
}

}  // namespace

TEST_CASE("what one replica contains the others contain, and they neither write nor note it")
{
    replica one;
    replica two;
    REQUIRE(one.f.contain(of_agent("words")).has_value());
    REQUIRE(one.f.contain(of_principal("keys", "eve")).has_value());
    REQUIRE(two.learn(one.documents()));
    CHECK(two.f.holds("words"));
    CHECK(two.f.holds("keys", "eve"));
    CHECK(two.f.agents->find("words")->contained);
    CHECK(two.f.told == names{"words contained"});
    two.f.table->on_due();
    two.f.run_until([] { return false; }, 30ms);
    CHECK(two.f.disk->names().empty());
    CHECK(two.f.sink.all.empty());
    CHECK(two.f.trail.all.empty());
    CHECK(two.f.table->find(of_agent("words"))->by == "ann");
}

TEST_CASE("what one replica releases the others release")
{
    replica one;
    replica two;
    REQUIRE(one.f.contain(of_agent("words")).has_value());
    REQUIRE(two.learn(one.documents()));
    REQUIRE(two.learn({dropped("agent words")}));
    CHECK_FALSE(two.f.holds("words"));
    CHECK_FALSE(two.f.agents->find("words")->contained);
    CHECK(two.f.trail.all.empty());
    CHECK(two.learn({dropped("agent words"), dropped("agent dice"), dropped("principal keys eve")}));
}

namespace {

net::task<core::result<>> refresh_with(std::function<bool()> how)
{
    co_return how() ? core::result<>{} : core::result<>{core::gateway_error(errc::store_unreachable, "away")};
}

net::task<> at_once(std::uint64_t)
{
    co_return;
}

}  // namespace

TEST_CASE("a release of what another replica has just contained asks for it first, and fails when it cannot")
{
    replica one;
    replica two;
    bool up = true;
    two.f.agents->set_shared({at_once, [&] { return refresh_with([&] { return up && two.learn(one.documents()); }); }});
    REQUIRE(one.f.contain(of_agent("words")).has_value());
    for (auto& each : one.documents()) {
        REQUIRE(two.f.disk->keep_document(*each.now).has_value());
    }
    const auto done = two.f.release(of_agent("words"));
    REQUIRE(done.has_value());
    CHECK_FALSE(done->now.has_value());
    CHECK(two.f.disk->names().empty());
    CHECK(two.f.trail.count("released") == 1);
    up = false;
    CHECK(two.f.release(of_agent("dice")).error().code == errc::store_unreachable);
}

TEST_CASE("an echo of an own act changes nothing")
{
    replica one;
    REQUIRE(one.f.contain(of_agent("words")).has_value());
    one.f.published.reset();
    CHECK(one.learn(one.documents()));
    CHECK(one.f.published == nullptr);
    CHECK(one.f.table->find(of_agent("words")) != nullptr);
}

TEST_CASE("what was read before an own act does not undo it, and is wanted again")
{
    replica one;
    const auto began = one.f.now;
    one.f.now += 1ms;
    REQUIRE(one.f.contain(of_agent("words")).has_value());
    CHECK_FALSE(one.f.table->learn_kept({dropped("agent words")}, store::feed_reload::none, began));
    CHECK(one.f.holds("words"));
    CHECK_FALSE(one.f.table->learn_kept({}, store::feed_reload::trimmed, began));
    CHECK(one.f.holds("words"));
    const auto documents = one.documents();
    one.f.now += 1ms;
    REQUIRE(one.f.release(of_agent("words")).has_value());
    CHECK_FALSE(one.f.table->learn_kept(documents, store::feed_reload::none, began));
    CHECK_FALSE(one.f.holds("words"));
    CHECK(one.learn({dropped("agent dice")}));
}

TEST_CASE("an own act that is not written yet comes behind what others have written")
{
    replica one;
    replica two;
    REQUIRE(one.f.contain(of_agent("words"), {}, "theirs").has_value());
    two.f.disk->set_fails(true);
    REQUIRE(two.f.contain(of_agent("words"), {}, "mine").has_value());
    two.f.now += 1ms;
    CHECK(two.learn(one.documents()));
    CHECK(two.f.table->find(of_agent("words"))->reason == "mine");
    CHECK(two.learn({dropped("agent words")}));
    CHECK(two.learn({}, store::feed_reload::trimmed));
    CHECK(two.f.holds("words"));
    two.f.disk->set_fails(false);
    two.f.now += 2s;
    two.f.table->on_due();
    CHECK(two.f.run_until([&] { return !two.f.disk->names().empty(); }));
}

TEST_CASE("when everything was read again, what the store does not have is released")
{
    replica one;
    replica two;
    REQUIRE(one.f.contain(of_agent("words")).has_value());
    REQUIRE(one.f.contain(of_agent("dice")).has_value());
    REQUIRE(two.learn(one.documents()));
    REQUIRE(one.f.release(of_agent("dice")).has_value());
    REQUIRE(two.learn(one.documents(), store::feed_reload::trimmed));
    CHECK(two.f.holds("words"));
    CHECK_FALSE(two.f.holds("dice"));
}

TEST_CASE("what a database has lost is contained as before and written again, and what was dropped there is released")
{
    replica one;
    REQUIRE(one.f.contain(of_agent("words")).has_value());
    REQUIRE(one.f.contain(of_agent("dice")).has_value());
    for (const auto* const each : {"agent words", "agent dice"}) {
        REQUIRE(one.f.disk->drop_document(std::string{store::containment_document}, each).has_value());
    }
    CHECK(one.learn({dropped("agent dice")}, store::feed_reload::regressed));
    CHECK(one.f.holds("words"));
    CHECK_FALSE(one.f.holds("dice"));
    CHECK(one.f.sink.count(R"("level":"warn","event":"containment_restored","agent":"words")") == 1);
    one.f.now += 1s;
    one.f.table->on_due();
    CHECK(one.f.run_until([&] { return one.f.disk->names() == names{"agent words"}; }));
}

TEST_CASE("a document that cannot be read leaves what holds")
{
    replica one;
    replica two;
    REQUIRE(one.f.contain(of_agent("words")).has_value());
    REQUIRE(two.learn(one.documents()));
    auto broken = one.documents();
    broken[0].now->text = "{";
    CHECK(two.learn(broken));
    CHECK(two.f.holds("words"));
    CHECK(two.f.sink.count(R"("event":"containment_unusable","agent":"words")") == 1);
    CHECK(two.learn(broken, store::feed_reload::trimmed));
    CHECK(two.f.holds("words"));
}

TEST_CASE("other terms of another replica replace those here")
{
    replica one;
    replica two;
    REQUIRE(one.f.contain(of_agent("words"), {}, "leak").has_value());
    REQUIRE(two.learn(one.documents()));
    REQUIRE(one.f.contain(of_agent("words"), noon + 1h, "leak, for an hour").has_value());
    REQUIRE(two.learn(one.documents()));
    CHECK(two.f.table->find(of_agent("words"))->reason == "leak, for an hour");
    CHECK(two.f.table->find(of_agent("words"))->until == noon + 1h);
}

TEST_CASE("an end that comes with time is everybody's own, and nobody takes the document of the next act away")
{
    replica one;
    REQUIRE(one.f.contain(of_agent("words"), noon + 1s).has_value());
    one.f.wall += 1s;
    one.f.table->on_due();
    one.f.run_until([] { return false; }, 30ms);
    CHECK_FALSE(one.f.holds("words"));
    CHECK(one.f.disk->names() == names{"agent words"});
}

TEST_CASE("what has ended is not contained again when everything is read, and one that ends earlier than here does")
{
    replica one;
    replica two;
    REQUIRE(one.f.contain(of_agent("words"), noon + 1s).has_value());
    two.f.wall = noon + 1s;
    CHECK(two.learn(one.documents(), store::feed_reload::trimmed));
    CHECK_FALSE(two.f.holds("words"));
    CHECK(two.f.told.empty());
    two.f.wall = noon;
    CHECK(two.learn(one.documents(), store::feed_reload::trimmed));
    CHECK(two.f.holds("words"));
    two.f.wall = noon + 1s;
    CHECK(two.learn(one.documents(), store::feed_reload::trimmed));
    two.f.table->on_due();
    CHECK_FALSE(two.f.holds("words"));
    CHECK(two.f.trail.count(R"("by":"until")") == 1);
}

TEST_CASE("the name of a document says whose it is")
{
    using gateway::management::subject_named;
    for (const auto& each :
         {of_agent("words"), of_principal("keys", "eve"), of_principal("idp", "a name with blanks")}) {
        CHECK(subject_named(gateway::management::document_of(each, {}).name) == each);
    }
}

TEST_SUITE_END();
