// Two gateways on one PostgreSQL: what one of them is told, fetches or learns, the other one knows.
#include "tests/flow/access_fixture.hpp"
#include "tests/support/postgres_cluster.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

TEST_SUITE_BEGIN("flow/shared_writes");

namespace {

using namespace flow;
using namespace std::chrono_literals;
using core::json;

test_support::postgres_cluster& cluster()
{
    static test_support::postgres_cluster only;
    return only;
}

// Every task is that of the latest message.
test_support::script agent_with_tasks(const test_support::recorded_request& asked)
{
    if (asked.method != "POST") {
        return test_support::answer_json(std::string{words_card});
    }
    return test_support::answer_json(
        R"({"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t1","contextId":"c","status":{"state":"working"}}})"
    );
}

struct two_replicas {
    explicit two_replicas(std::chrono::milliseconds timeout = 3s)
        : database{cluster().make_database()},
          timeout_{timeout}
    {
    }

    config::settings settings(const std::string& name) const
    {
        auto out = guarded(agent.url("/rpc"));
        out.agents = {flow::agent("declared", agent.url("/rpc"), anyone, anyone)};
        out.store = cluster().url(database);
        out.store_options.timeout = timeout_;
        out.replica.name = name;
        out.public_url = "https://agents.example";
        return out;
    }

    json written(const running_gateway& by, const std::string& id)
    {
        return manage(
            by,
            "agents/upsert",
            {{"id", id}, {"agent", {{"url", agent.url("/rpc")}, {"discover", "anyone"}}}}
        );
    }

    static std::string ids(const running_gateway& of, bool fresh)
    {
        std::string all;
        const auto listed = manage(of, "agents/list", {{"fresh", fresh}});
        for (const auto& each : listed.at("agents")) {
            all += each.at("id").get<std::string>() + ' ';
        }
        return all;
    }

    static unsigned called(const running_gateway& at, std::string_view id)
    {
        return call(at.port(), id, nobody).status;
    }

    test_support::scripted_agent agent{agent_with_tasks};
    std::string database;
    std::chrono::milliseconds timeout_;
    running_gateway one{settings("one")};
    running_gateway two{settings("two")};
};

}  // namespace

TEST_CASE("A write on one replica is served by the other, at once for whoever asks for what is fresh")
{
    two_replicas x;
    CHECK(x.written(x.one, "a").at("version") == 1);
    CHECK(two_replicas::ids(x.two, true) == "a declared ");
    CHECK(x.written(x.two, "b").at("version") == 2);
    CHECK(becomes_true([&] { return two_replicas::ids(x.one, false) == "a b declared "; }));
    CHECK(manage(x.one, "agents/delete", {{"id", "a"}, {"ifVersion", 1}}).at("version") == 3);
    CHECK(two_replicas::ids(x.two, true) == "b declared ");
    const auto trail = manage(x.two, "agents/changes", {{"fresh", true}}).at("changes");
    CHECK(trail.size() == 3);
    const auto conflict = error_of(x.two, "agents/upsert", R"({"id":"b","ifVersion":1,"agent":{"url":"http://h/"}})");
    CHECK(conflict.at("data").at("code") == "version_conflict");
    CHECK(conflict.at("data").at("version") == 2);
    const auto has = [](const running_gateway& in, std::string_view id) {
        const auto wanted = R"("event":"agent_changed","agent":")" + std::string{id} + '"';
        for (const auto& each : in.log().all()) {
            if (each.find(wanted) != std::string::npos) {
                return true;
            }
        }
        return false;
    };
    CHECK(has(x.one, "a"));
    CHECK_FALSE(has(x.two, "a"));
    CHECK(has(x.two, "b"));
    CHECK_FALSE(has(x.one, "b"));
}

TEST_CASE("What one replica contains is refused by the other, until either releases it")
{
    two_replicas x;
    REQUIRE(two_replicas::called(x.two, "declared") == 200);
    CHECK(manage(x.one, "agents/contain", {{"id", "declared"}, {"reason", "leak"}}).at("durable") == true);
    CHECK(becomes_true([&] { return two_replicas::called(x.two, "declared") == 403; }));
    CHECK(manage(x.two, "agents/release", {{"id", "declared"}}).at("contained").is_null());
    CHECK(becomes_true([&] { return two_replicas::called(x.one, "declared") == 200; }));
    CHECK(two_replicas::called(x.two, "declared") == 200);
    // The next process hears of it from the store.
    manage(x.one, "agents/contain", {{"id", "declared"}, {"reason", "leak"}});
    running_gateway three{x.settings("three")};
    CHECK(two_replicas::called(three, "declared") == 403);
}

TEST_CASE("A card is fetched once, and served by both with the same bytes and ETag")
{
    two_replicas x;
    x.written(x.one, "a");
    CHECK(becomes_true([&] { return x.agent.request_count() == 1; }));
    CHECK(becomes_true([&] {
        const auto known = manage(x.two, "agents/get", {{"id", "a"}, {"fresh", true}});
        return known.at("card_status").at("state") == "fresh";
    }));
    const auto here = get_card(x.one, "a", ci);
    const auto there = get_card(x.two, "a", ci);
    CHECK(here.status == 200);
    CHECK(here.body == there.body);
    CHECK(here.header("ETag") == there.header("ETag"));
    CHECK(x.agent.request_count() == 1);
}

TEST_CASE("A task that one replica has seen is nobody else's on the other")
{
    two_replicas x;
    REQUIRE(call(x.one.port(), "declared", ci).status == 200);
    const auto task_of = [&](const running_gateway& at, const field_list& who) {
        auto headers = who;
        headers.emplace_back("Content-Type", "application/json");
        const auto answer = request(
            at.port(),
            "POST",
            "/agents/declared",
            headers,
            R"({"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t1"}})"
        );
        return parsed(answer.body).contains("error") ? "hidden" : "shown";
    };
    const auto begun = std::chrono::steady_clock::now();
    CHECK(becomes_true([&] { return x.two.metric("cardea_store_writes_total{outcome=\"ok\"}").has_value(); }));
    std::this_thread::sleep_until(begun + 350ms);
    CHECK(std::string_view{task_of(x.two, mallory)} == "hidden");
    CHECK(std::string_view{task_of(x.two, ci)} == "shown");
    CHECK(std::string_view{task_of(x.one, mallory)} == "hidden");
}

TEST_CASE("Replicas are listed while they live, and one that ends is gone at once")
{
    two_replicas x;
    const auto names = [](const running_gateway& at) {
        std::string all;
        const auto listed = manage(at, "replicas/list", json::object());
        for (const auto& each : listed.at("replicas")) {
            all += each.at("name").get<std::string>() + (each.at("self") == true ? "* " : " ");
        }
        return all;
    };
    CHECK(becomes_true([&] { return names(x.one) == "one* two "; }));
    CHECK(becomes_true([&] { return names(x.two) == "one two* "; }));
    const auto listed = manage(x.one, "replicas/list", json::object()).at("replicas");
    CHECK(listed[0].at("configuration") == listed[1].at("configuration"));
    CHECK(listed[0].at("id").get<std::string>().size() == 16);
    CHECK(x.one.wait_for_metric("cardea_replicas", 2));
    CHECK(x.one.wait_for_metric("cardea_store_up", 1));
    x.two.stop();
    CHECK(becomes_true([&] { return names(x.one) == "one* "; }));
}

TEST_CASE("Without the database all is served, nothing is written, and both go on by themselves afterwards")
{
    test_support::postgres_cluster own;
    const auto database = own.make_database();
    two_replicas x;  // for its agent and settings
    auto settings = x.settings("alone");
    settings.store = own.url(database);
    settings.store_options.timeout = 500ms;
    running_gateway gateway{settings};
    manage(gateway, "agents/upsert", {{"id", "a"}, {"agent", {{"url", x.agent.url("/rpc")}}}});
    own.freeze();
    const auto begun = std::chrono::steady_clock::now();
    const auto stale = error_of(gateway, "agents/list", R"({"fresh":true})");
    CHECK(stale.at("data").at("code") == "store_unreachable");
    CHECK(std::chrono::steady_clock::now() - begun < 1500ms);
    const auto refused = error_of(gateway, "agents/upsert", R"({"id":"b","agent":{"url":"http://h/"}})");
    CHECK(refused.at("data").at("code").get<std::string>().starts_with("store_unreachable"));
    CHECK(two_replicas::ids(gateway, false) == "a declared ");
    CHECK(two_replicas::called(gateway, "declared") == 200);
    CHECK(request(gateway.admin_port(), "GET", "/healthz").status == 200);
    CHECK(request(gateway.admin_port(), "GET", "/readyz").status == 200);
    CHECK(gateway.wait_for_metric("cardea_store_up", 0));
    CHECK(manage(gateway, "gateway/info", json::object()).at("store").at("failure") == "store_unreachable");
    own.thaw();
    CHECK(becomes_true([&] { return error_of(gateway, "agents/list", R"({"fresh":true})").is_null(); }));
    CHECK(x.written(gateway, "b").at("durable") == true);
}

TEST_CASE("A name that an agent has is refused to another one on every replica")
{
    two_replicas x;
    const auto wanted = R"({"url":"http://h/","hosts":["words.example"]})";
    REQUIRE(error_of(x.one, "agents/upsert", R"({"id":"a","agent":)" + std::string{wanted} + "}").is_null());
    const auto refused = error_of(x.two, "agents/upsert", R"({"id":"b","agent":)" + std::string{wanted} + "}");
    CHECK(refused.at("data").at("code") == "invalid_params");
    CHECK(refused.at("data").at("problems")[0].at("path").get<std::string>().starts_with("agent.hosts"));
}

TEST_SUITE_END();
