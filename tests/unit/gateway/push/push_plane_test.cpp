#include "tests/unit/gateway/push/push_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/push_plane");

using namespace push_test;

TEST_CASE("a notification is in the store once it is accepted, goes out once, and leaves the store")
{
    push_rig x;
    const auto id = x.accept(old_task);
    CHECK(id.size() == 22);
    CHECK(x.records->deliveries()->size() == 1);
    CHECK(x.receiver.asked.empty());
    x.pass(0s);
    REQUIRE(x.receiver.asked.size() == 1);
    CHECK(x.receiver.asked[0].url == "https://caller.test/hook");
    CHECK(x.receiver.asked[0].body == old_task);
    CHECK(field(x.receiver.asked[0], "Cardea-Delivery") == id);
    CHECK(field(x.receiver.asked[0], "X-A2A-Notification-Token") == "secret-token");
    CHECK(x.records->deliveries()->empty());
    CHECK(x.ended(push_end::delivered) == 1);
    CHECK(x.metric("cardea_push_queue") == 0);
    x.pass(1h);
    CHECK(x.receiver.asked.size() == 1);
    CHECK_FALSE(x.logged("secret-token"));
}

TEST_CASE("a notification that fails is repeated with the same id after 1, 2 and 4 seconds")
{
    push_rig x;
    x.receiver.answers = {
        scripted_receiver::status(500),
        core::upstream_error(errc::upstream_refused),
        scripted_receiver::status(429),
        scripted_receiver::status(204)
    };
    const auto id = x.accept(old_task);
    x.pass(0s);
    for (const auto& [wait, attempts] : std::vector<std::pair<core::duration, std::size_t>>{
             {999ms, 1},
             {1ms, 2},
             {1999ms, 2},
             {1ms, 3},
             {3999ms, 3},
             {1ms, 4},
             {1h, 4}
         }) {
        x.pass(wait);
        CHECK(x.receiver.asked.size() == attempts);
    }
    for (const auto& each : x.receiver.asked) {
        CHECK(field(each, "Cardea-Delivery") == id);
    }
    CHECK(x.attempts("retried") == 3);
    CHECK(x.ended(push_end::delivered) == 1);
    CHECK_FALSE(x.logged("push_failed"));
}

TEST_CASE("notifications of one task keep their order, and those of another task do not wait for them")
{
    push_rig x;
    x.receiver.answers = {scripted_receiver::status(500), scripted_receiver::status(200)};
    const auto first = x.accept(old_task);
    const auto second = x.accept(old_task);
    x.now += 1ms;  // so that the first is due first
    const auto other = x.accept(old_task, "2");
    x.pass(0s);
    REQUIRE(x.receiver.asked.size() == 2);
    CHECK(field(x.receiver.asked[0], "Cardea-Delivery") == first);
    CHECK(field(x.receiver.asked[1], "Cardea-Delivery") == other);
    x.pass(1s);
    x.pass(0s);
    REQUIRE(x.receiver.asked.size() == 4);
    CHECK(field(x.receiver.asked[2], "Cardea-Delivery") == first);
    CHECK(field(x.receiver.asked[3], "Cardea-Delivery") == second);
}

TEST_CASE("a receiver that refuses, redirects or may not be reached ends the delivery, and operators are told")
{
    for (const auto& [answer, end, detail] :
         std::vector<std::tuple<core::result<net::fetch_response>, push_end, std::string>>{
             {scripted_receiver::status(404), push_end::rejected, "status 404"},
             {scripted_receiver::status(307), push_end::redirected, "status 307"},
             {core::upstream_error(errc::upstream_forbidden, "10.0.0.1"), push_end::forbidden, "upstream_forbidden"},
         }) {
        push_rig x;
        x.receiver.answers = {answer};
        const auto id = x.accept(old_task);
        x.pass(0s);
        x.pass(1h);
        CHECK(x.receiver.asked.size() == 1);
        CHECK(x.ended(end) == 1);
        CHECK(x.records->deliveries()->empty());
        CHECK(x.logged(R"("event":"push_failed")"));
        CHECK(x.logged(R"("reason":")" + std::string{name(end)} + '"'));
        CHECK(x.logged(R"("detail":")" + detail + '"'));
        CHECK(x.logged(id));
        CHECK_FALSE(x.logged("caller.test"));
    }
}

TEST_CASE("a delivery is signed with its body and id if there is a signer, and waits for one that fails")
{
    push_rig x;
    bool fails = true;
    x.plane->set_signer([&fails](std::string body, std::string id) { return signed_text(fails, body + '+' + id); });
    const auto id = x.accept(old_task);
    x.pass(0s);
    CHECK(x.receiver.asked.empty());
    CHECK(x.attempts("retried") == 1);
    fails = false;
    x.pass(1s);
    REQUIRE(x.receiver.asked.size() == 1);
    CHECK(field(x.receiver.asked[0], "Cardea-Signature") == old_task + '+' + id);
}

TEST_CASE("a delivery ends with the last attempt of the limit")
{
    for (const std::uint64_t most : {1U, 2U, 3U}) {
        CAPTURE(most);
        push_rig x;
        x.settings.limits.push_attempts = most;
        x.receiver.answers = {scripted_receiver::status(500)};
        x.accept(old_task);
        for (std::uint64_t i = 1; i <= most; ++i) {
            CHECK(x.ended(push_end::exhausted) == 0);
            x.pass(5min);
            CHECK(x.receiver.asked.size() == i);
        }
        CHECK(x.ended(push_end::exhausted) == 1);
        x.pass(1h);
        CHECK(x.receiver.asked.size() == most);
        CHECK(x.records->deliveries()->empty());
    }
}

TEST_CASE("a delivery whose attempts throw ends after as many of them, and the next of its lane goes out")
{
    push_rig x;
    x.settings.limits.push_attempts = 2;
    x.lookup_throws = true;
    x.accept(old_task);
    const auto next = x.accept(old_task);
    x.pass(0s);
    x.pass(5min);
    CHECK(x.ended(push_end::exhausted) == 0);
    CHECK(x.records->deliveries()->size() == 2);
    x.lookup_throws = false;
    x.pass(5min);
    CHECK(x.ended(push_end::exhausted) == 1);
    CHECK(x.logged(R"("detail":"the attempts were broken off")"));
    CHECK(x.records->deliveries()->empty());
    REQUIRE(x.receiver.asked.size() == 1);
    CHECK(field(x.receiver.asked[0], "Cardea-Delivery") == next);
    CHECK_FALSE(x.plane->busy());
}

TEST_CASE("a delivery ends with the attempt that fails at the age of the limit, and not before")
{
    for (const auto& [age, expired] : {std::pair{1h - 1ms, false}, {core::duration{1h}, true}, {1h + 1ms, true}}) {
        CAPTURE(age.count());
        push_rig x;
        x.settings.timeouts.push_age = 1h;
        x.receiver.answers = {scripted_receiver::status(500)};
        x.accept(old_task);
        x.pass(age);
        CHECK(x.receiver.asked.size() == 1);
        CHECK(x.ended(push_end::expired) == (expired ? 1 : 0));
        CHECK(x.metric("cardea_push_queue") == (expired ? 0 : 1));
    }
}

TEST_CASE("The page of metrics says how many wait, for how long and how large they are")
{
    push_rig x;
    CHECK(x.metric("cardea_push_oldest_seconds") == 0);
    x.receiver.answers = {scripted_receiver::status(500)};
    x.accept(old_task);
    x.pass(90s);
    x.accept(old_task, "2");
    CHECK(x.metric("cardea_push_queue") == 2);
    CHECK(x.metric("cardea_push_queue_bytes") == static_cast<double>(2 * old_task.size()));
    CHECK(x.metric("cardea_push_oldest_seconds") == 90);
}

TEST_CASE("Notifications of a contained agent wait without attempts, grow older, and go on after the release")
{
    push_rig x;
    x.settings.limits.push_attempts = 3;
    x.settings.timeouts.push_age = 1h;
    x.accept(old_task, "1");
    x.set_contained(true);
    x.entry = nullptr;  // as no plane has it
    for (int i = 0; i < 100; ++i) {
        x.pass(10s);
    }
    CHECK(x.receiver.asked.empty());
    CHECK(x.metric("cardea_push_queue") == 1);
    CHECK(x.attempts("retried") == 0);
    x.set_contained(false);
    x.entry = std::make_shared<gateway::model::agent_entry>();
    x.pass(2s);
    CHECK(x.receiver.asked.size() == 1);
    CHECK(x.ended(push_end::delivered) == 1);

    x.accept(old_task, "2");
    x.set_contained(true);
    x.pass(1h - 2s);
    CHECK(x.metric("cardea_push_queue") == 1);
    x.pass(2s);
    x.pass(2s);
    CHECK(x.metric("cardea_push_queue") == 0);
    CHECK(x.ended(push_end::expired) == 1);
    CHECK(x.receiver.asked.size() == 1);
    CHECK(x.records->deliveries()->empty());
}

TEST_CASE(
    "Notifications that a contained principal has asked for wait, also one whose body is being made, and grow older"
)
{
    push_rig x;
    x.settings.timeouts.push_age = 1h;
    auto principals = std::make_shared<gateway::model::containments>();
    principals->principals.emplace(core::principal_name{"keys", "ci"}, gateway::model::containment_terms{});
    x.wanted.owner = gateway::model::push_owner("keys", "other");
    x.plane->set_containments(principals);
    x.accept(old_task, "1");
    x.pass(1s);
    CHECK(x.receiver.asked.size() == 1);

    x.plane->set_containments(nullptr);
    x.wanted.owner = gateway::model::push_owner("keys", "ci");
    x.receiver.answers = {scripted_receiver::status(200, R"({"jsonrpc":"2.0","id":1,"result":)" + old_task + "}")};
    x.receiver.silent = true;
    x.accept(new_update, "1");
    x.pass(1s);
    REQUIRE(x.receiver.asked.size() == 2);  // the agent is asked for the task
    x.plane->set_containments(principals);
    x.receiver.release();
    x.turn();
    x.pass(10s);
    CHECK(x.receiver.asked.size() == 2);
    CHECK(x.attempts("retried") == 0);
    CHECK(x.metric("cardea_push_queue") == 1);

    x.accept(old_task, "2");
    x.pass(1h - 12s);
    CHECK(x.metric("cardea_push_queue") == 2);
    x.pass(4s);
    CHECK(x.metric("cardea_push_queue") == 1);
    CHECK(x.ended(push_end::expired) == 1);
    x.plane->set_containments(nullptr);
    x.pass(2s);
    CHECK(x.receiver.asked.size() == 3);
    CHECK(x.metric("cardea_push_queue") == 0);
}

TEST_SUITE_END();
