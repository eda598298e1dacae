#include "tests/unit/gateway/push/push_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

TEST_SUITE_BEGIN("gateway/push of a store that is shared");

namespace {

using namespace push_test;

struct shared_rig : push_rig {
    shared_rig()
    {
        shared = true;
        make_plane();
    }

    // What another replica has accepted, and this one is to deliver.
    store::delivery_facts accepted_elsewhere(const std::string& task, const std::string& body = old_task)
    {
        store::kept_delivery made;
        made.id = "id of " + task;
        made.agent = "a";
        made.lane = gateway::model::push_lane("a", wanted, task);
        made.address = addresses->seal("a", wanted);
        made.body = body;
        made.received = clock;
        const auto number = records->keep_delivery(made).value().value();
        return {number, made.id, made.agent, made.lane, made.body.size(), made.received};
    }

    bool has(std::uint64_t number) { return records->delivery(number).value().has_value(); }
};

}  // namespace

TEST_CASE("What comes from another replica is delivered, in order, and once however often it comes")
{
    shared_rig x;
    const auto one = x.accepted_elsewhere("1");
    const auto two = x.accepted_elsewhere("1");
    x.plane->take_over({one, two});
    x.plane->take_over({two, one});
    CHECK(x.metric("cardea_push_queue") == 2);
    x.pass(1s);
    x.pass(1s);
    CHECK(x.receiver.asked.size() == 2);
    CHECK(x.ended(push_end::delivered) == 2);
    CHECK_FALSE(x.has(one.number));
    CHECK_FALSE(x.has(two.number));
    CHECK(x.metric("cardea_push_queue") == 0);
}

TEST_CASE("What the feed has brought before the store has answered is in the queue once")
{
    shared_rig x;
    x.receiver.silent = true;
    REQUIRE(x.accept(old_task) != "overloaded");
    const auto all = x.records->deliveries().value();
    x.plane->take_over(all);
    CHECK(x.metric("cardea_push_queue") == 1);
    x.pass(1s);
    x.plane->take_over(all);
    CHECK(x.metric("cardea_push_queue") == 1);
    x.receiver.release();
    x.turn();
    CHECK(x.ended(push_end::delivered) == 1);
}

TEST_CASE("A delivery that another replica has now goes without a word, and those behind it go out")
{
    shared_rig x;
    const auto one = x.accepted_elsewhere("1");
    const auto two = x.accepted_elsewhere("1");
    REQUIRE(x.records->drop_delivery(one.number).has_value());
    x.plane->take_over({one, two});
    x.pass(1s);
    x.pass(1s);
    CHECK(x.receiver.asked.size() == 1);
    CHECK(x.ended(push_end::unreadable) == 0);
    CHECK(x.ended(push_end::delivered) == 1);
    CHECK_FALSE(x.logged("push_failed"));
    CHECK(x.metric("cardea_push_queue") == 0);
}

TEST_CASE("A store that does not answer costs a delivery no attempt, however long that takes")
{
    shared_rig x;
    x.settings.limits.push_attempts = 2;
    const auto one = x.accepted_elsewhere("1");
    x.plane->take_over({one});
    x.faults.read = true;
    x.faults.why = errc::store_unreachable;
    for (int i = 0; i < 10; ++i) {
        x.pass(3s);
    }
    CHECK(x.attempts("retried") == 0);
    CHECK(x.ended(push_end::exhausted) == 0);
    x.faults.read = false;
    x.pass(3s);
    CHECK(x.ended(push_end::delivered) == 1);
}

TEST_CASE("What was delivered while the store did not answer is forgotten there afterwards")
{
    shared_rig x;
    const auto one = x.accepted_elsewhere("1");
    const auto two = x.accepted_elsewhere("2");
    x.plane->take_over({one, two});
    x.faults.drop = true;
    x.pass(1s);
    CHECK(x.ended(push_end::delivered) == 2);
    x.pass(2s);
    CHECK(x.has(one.number));
    x.faults.drop = false;
    x.pass(2s);
    x.pass(2s);
    CHECK_FALSE(x.has(one.number));
    CHECK_FALSE(x.has(two.number));
    CHECK_FALSE(x.plane->busy());
    CHECK(x.receiver.asked.size() == 2);
}

TEST_CASE("A plane that has stopped takes nothing over")
{
    shared_rig x;
    const auto one = x.accepted_elsewhere("1");
    x.plane->stop();
    x.plane->take_over({one});
    CHECK(x.metric("cardea_push_queue") == 0);
}

TEST_SUITE_END();
