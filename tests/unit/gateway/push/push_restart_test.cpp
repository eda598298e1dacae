#include "tests/unit/gateway/push/push_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/push_restart");

using namespace push_test;

TEST_CASE("what was not delivered is delivered by the next process, with its id and in its order")
{
    push_rig x;
    x.receiver.answers = {scripted_receiver::status(500)};
    const auto first = x.accept(old_task);
    const auto second = x.accept(old_task);
    x.pass(0s);
    x.make_plane();
    x.receiver.answers = {scripted_receiver::status(200)};
    x.receiver.asked.clear();
    CHECK(x.metric("cardea_push_queue") == 2);
    x.pass(0s);
    x.pass(0s);
    REQUIRE(x.receiver.asked.size() == 2);
    CHECK(field(x.receiver.asked[0], "Cardea-Delivery") == first);
    CHECK(field(x.receiver.asked[1], "Cardea-Delivery") == second);
    CHECK(x.records->deliveries()->empty());
}

TEST_CASE("what is under way when the gateway stops stays in the store, unless it was delivered")
{
    for (const bool delivered : {true, false}) {
        CAPTURE(delivered);
        push_rig x;
        x.receiver.silent = true;
        x.receiver.answers = {
            delivered ? scripted_receiver::status(200) : core::caller_error(errc::caller_gone, "the fetcher has ended")
        };
        x.accept(old_task);
        x.pass(0s);
        CHECK(x.plane->busy());
        x.plane->stop();
        CHECK(x.accept(old_task) == "draining");
        x.receiver.release();
        x.turn();
        CHECK_FALSE(x.plane->busy());
        CHECK(x.records->deliveries()->size() == (delivered ? 0 : 1));
        CHECK_FALSE(x.logged("push_failed"));
        x.pass(1h);
        CHECK(x.receiver.asked.size() == 1);
    }
}

TEST_CASE("a notification is not accepted if the store does not take it, and takes no place then")
{
    push_rig x;
    x.settings.limits.push_queue = 1;
    x.make_plane();
    x.faults.keep = true;
    CHECK(x.accept(old_task) == "store_failed");
    x.faults.keep = false;
    CHECK(x.accept(old_task).size() == 22);
    CHECK(x.accept(old_task) == "overloaded");
}

TEST_CASE("a notification whose write throws takes no place, and the plane does not wait for it")
{
    push_rig x;
    x.settings.limits.push_queue = 1;
    x.make_plane();
    x.keep_throws = true;
    bool threw = false;
    net::asio::co_spawn(
        x.io.get_executor(),
        x.plane->accept({.agent = "a", .address = "s", .lane = "l", .body = old_task}),
        [&threw](const std::exception_ptr& bug, const core::result<std::string>&) { threw = bug != nullptr; }
    );
    x.turn();
    CHECK(threw);
    CHECK_FALSE(x.plane->busy());
    x.keep_throws = false;
    CHECK(x.accept(old_task) != "overloaded");
    CHECK(x.metric("cardea_push_queue_bytes") == static_cast<double>(old_task.size()));
}

TEST_CASE("a store that cannot be read has a delivery repeated, and one that cannot be written has it made again later")
{
    push_rig x;
    x.accept(old_task);
    x.faults.read = true;
    x.pass(0s);
    CHECK(x.receiver.asked.empty());
    CHECK(x.attempts("retried") == 1);
    x.faults = {.drop = true};
    x.pass(1s);
    CHECK(x.receiver.asked.size() == 1);
    CHECK(x.logged("push_persist_failed"));
    CHECK(x.metric("cardea_push_queue") == 0);
    x.faults = {};
    x.make_plane();
    x.pass(0s);
    CHECK(x.receiver.asked.size() == 2);
    CHECK(x.records->deliveries()->empty());
}

TEST_CASE("an address that no key opens and a body that is no notification end their deliveries")
{
    push_rig x;
    x.accept({.agent = "a", .address = "AAAA", .lane = "1", .body = old_task});
    x.accept("not json", "2");
    x.pass(0s);
    CHECK(x.receiver.asked.empty());
    CHECK(x.ended(push_end::unreadable) == 2);
    CHECK(x.records->deliveries()->empty());
}

TEST_CASE("nothing goes out while addresses cannot be opened, or for an agent that is not served")
{
    push_rig x;
    x.plane->set_addresses(nullptr);
    x.accept(old_task);
    x.pass(1h);
    CHECK(x.receiver.asked.empty());
    CHECK(x.attempts("retried") == 0);
    x.plane->set_addresses(x.addresses);
    const auto served = std::exchange(x.entry, nullptr);
    x.pass(0s);
    CHECK(x.receiver.asked.empty());
    CHECK(x.attempts("retried") == 1);
    x.entry = served;
    x.pass(1s);
    CHECK(x.receiver.asked.size() == 1);
}

TEST_CASE("a caller of 1.0 gets the task of an agent of 0.3 in its own form")
{
    push_rig x;
    x.wanted.version = a2a::generation::v1;
    x.accept(old_task);
    x.pass(0s);
    REQUIRE(x.receiver.asked.size() == 1);
    CHECK(x.receiver.asked[0].body == R"({"task":{"id":"1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})");
}

TEST_CASE("a caller of 0.3 gets the whole task for an update of 1.0, which the agent is asked for")
{
    push_rig x;
    x.receiver.answers = {
        scripted_receiver::status(503),
        scripted_receiver::status(
            200,
            R"({"jsonrpc":"2.0","id":1,"result":{"id":"1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})"
        ),
        scripted_receiver::status(200)
    };
    x.accept(new_update);
    x.pass(0s);
    CHECK(x.receiver.asked.size() == 1);
    CHECK(x.attempts("retried") == 1);
    x.pass(1s);
    REQUIRE(x.receiver.asked.size() == 3);
    CHECK(x.receiver.asked[1].url == "http://agent.test/");
    CHECK(x.receiver.asked[2].url == "https://caller.test/hook");
    CHECK(x.receiver.asked[2].body == old_task);
}

TEST_CASE("an update of 1.0 goes to a caller of 1.0 as it came")
{
    push_rig x;
    x.wanted.version = a2a::generation::v1;
    x.accept(new_update);
    x.pass(0s);
    REQUIRE(x.receiver.asked.size() == 1);
    CHECK(x.receiver.asked[0].body == new_update);
}

TEST_SUITE_END();
