// Replicas beside a newer Cardea, which is here a schema with a higher number, and a role that may not make the schema.
#include "tests/replicas/faults.hpp"
#include "tests/replicas/rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>

TEST_SUITE_BEGIN("replicas/versions");

using namespace replicas;

namespace {

std::string code_of_write(const replica& at)
{
    return manager{at.admin()}.ask("agents/upsert", write_of("x")).code;
}

}  // namespace

TEST_CASE(
    "beside a newer schema that it cannot write a replica serves on, refuses writes and does not start; back again it "
    "writes"
)
{
    shared_store store{3};
    rig x{3, [&](auto i) { return store.url(i); }};
    steady_load load{x.members, {"plain", "steady"}};
    CHECK(code_of_write(*x.members[0]) == "");
    store.database.sql(store.name, "UPDATE cardea.meta SET schema = schema + 1, reader = schema + 1");
    for (const auto& each : x.members) {
        CHECK(code_of_write(*each) == "store_newer");
        CHECK(each->status_of("/readyz") == 200);
        CHECK(list_of(*each).value().contains("steady"));
    }
    x.members[2]->kill();
    x.members[2]->start();
    CHECK(x.members[2]->wait() == 2);
    CHECK(x.members[2]->log().find("newer Cardea") != std::string::npos);

    store.database.sql(store.name, "UPDATE cardea.meta SET reader = schema - 1");
    CHECK(code_of_write(*x.members[0]) == "");
    x.members[2]->start();
    CHECK_MESSAGE(x.members[2]->wait_until_ready(), x.members[2]->log());
    CHECK(code_of_write(*x.members[2]) == "");
    CHECK(wait_until([&] { return x.agree(); }, 2s));
    load.stop();
    check_calls(load);
}

TEST_CASE("a role that may not make the schema ends a start with 2 and the command that helps, and then it helps")
{
    shared_store store{1};
    auto& database = store.database;
    database.sql(store.name, "CREATE ROLE plain LOGIN");
    const auto url = "postgresql://plain@127.0.0.1:" + std::to_string(database.port()) + "/" + store.name;
    replica at{"r1", url, "workers: 1\n"};
    at.start();
    CHECK(at.wait() == 2);
    CHECK_MESSAGE(at.log().find("cardea store migrate") != std::string::npos, at.log());

    flow::child_process migration{CARDEA_BIN, {"store", "migrate", "--store", database.url(store.name)}};
    CHECK_MESSAGE(migration.wait() == 0, migration.err());
    database.sql(
        store.name,
        "GRANT USAGE ON SCHEMA cardea TO plain; "
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA cardea TO plain"
    );
    at.start();
    CHECK_MESSAGE(at.wait_until_ready(), at.log());
    CHECK(code_of_write(at) == "");
}

TEST_SUITE_END();
