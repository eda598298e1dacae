// A standby takes the place of a PostgreSQL that replicas share.
#include "tests/replicas/faults.hpp"
#include "tests/replicas/rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

TEST_SUITE_BEGIN("replicas/failover");

using namespace replicas;
using test_support::postgres_cluster;

namespace {

constexpr auto writes_again_in = 5s;

// A primary and its standby, each with the other replicas' database.
struct pair_of_databases {
    std::string url() const
    {
        const auto port = [](const auto& of) { return "127.0.0.1:" + std::to_string(of.port()); };
        return "postgresql://cardea@" + port(primary) + "," + port(*standby) + "/" + name;
    }

    void require_standby()
    {
        primary.sql("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
        primary.sql("postgres", "SELECT pg_reload_conf()");
        const auto follows = [&] {
            return primary.value("postgres", "SELECT sync_state FROM pg_stat_replication") == "sync";
        };
        REQUIRE(wait_until(follows, 10s));
    }

    // What is written from now on, the standby does not get.
    void leave_standby_behind() const
    {
        standby->sql("postgres", "ALTER SYSTEM SET primary_conninfo = ''");
        standby->sql("postgres", "SELECT pg_reload_conf()");
        const auto gone = [&] { return primary.sql("postgres", "SELECT FROM pg_stat_replication").empty(); };
        REQUIRE(wait_until(gone, 10s));
    }

    // The primary's part is over.
    void fail_over()
    {
        primary.kill();
        standby->sql("postgres", "ALTER SYSTEM RESET synchronous_standby_names");
        standby->promote();
    }

    postgres_cluster primary;
    const std::string name{primary.make_database()};
    std::unique_ptr<postgres_cluster> standby = postgres_cluster::standby_of(primary);
};

bool writes_to(const replica& at, const std::string& id)
{
    return manager{at.admin()}.ask("agents/upsert", write_of(id)).code.empty();
}

}  // namespace

TEST_CASE("with a synchronous standby a failover loses no acknowledged write, and writes go on within five seconds")
{
    pair_of_databases both;
    both.require_standby();
    rig x{3, [&](auto) { return both.url(); }};
    steady_load load{x.members, {"plain", "steady"}};
    crowd clients{x.lines, x.members, twenty_keys(), std::random_device{}()};
    std::this_thread::sleep_for(2s);
    both.fail_over();
    clients.hold(true);
    client probe{x.lines, x.members, 11};
    const auto all_write = [&] {
        for (std::size_t i = 0; i < x.members.size(); ++i) {
            if (!probe.write(i, "probe", std::nullopt)) {
                return false;
            }
        }
        return true;
    };
    const auto back = wait_until(all_write, writes_again_in);
    CHECK(back);
    clients.hold(false);
    std::this_thread::sleep_for(2s);
    clients.stop();
    load.stop();
    const auto all = x.take_history();
    check_history(x, all);
    check_calls(load);
    CHECK(writes(all, outcome::done) > 50);
    for (const auto& each : x.members) {
        CHECK(each->logged("store_regressed") == 0);
    }
    MESSAGE(
        "synchronous failover: " << writes(all, outcome::done) << " acknowledged writes, 0 lost, "
                                 << writes(all, outcome::unknown) << " unknown; all write again after "
                                 << back.value_or(-1ms).count() << " ms"
    );
}

TEST_CASE("after a failover that lost writes every replica says so, and all list what the database has")
{
    pair_of_databases both;
    rig x{3, [&](auto) { return both.url(); }};
    steady_load load{x.members, {"plain", "steady"}};
    REQUIRE(writes_to(*x.members[0], "kept"));
    both.leave_standby_behind();
    REQUIRE(writes_to(*x.members[1], "lost"));
    REQUIRE(writes_to(*x.members[2], "kept"));
    const auto all_have = [&] {
        return std::ranges::all_of(x.members, [](const auto& at) {
            const auto there = list_of(*at);
            return there && there->contains("lost");
        });
    };
    REQUIRE(wait_until(all_have, 2s));
    both.fail_over();
    const auto back = x.until_all_write(writes_again_in);
    CHECK(back);
    x.set_truth([&] { return shared_store::versions_in(*both.standby, both.name); });
    CHECK(wait_until([&] { return x.agree(); }, 2s));
    CHECK_FALSE(list_of(*x.members[0]).value().contains("lost"));
    CHECK(list_of(*x.members[0], /*fresh=*/true).value().contains("kept"));
    for (const auto& each : x.members) {
        CHECK_MESSAGE(each->logged("store_regressed") >= 1, each->log());
    }
    load.stop();
    check_calls(load);
    MESSAGE("asynchronous failover: all write again after " << back.value_or(-1ms).count() << " ms, and agree");
}

TEST_SUITE_END();
