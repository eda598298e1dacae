// What a store in PostgreSQL says and does while the database, or the way to it, is broken.
#include "store/postgres.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/store/postgres_rig.hpp"

#include <doctest/doctest.h>
#include <libpq-fe.h>

#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>

TEST_SUITE_BEGIN("store/postgres_faults");

using core::errc;
using store::author;
using namespace store::testing;
using test_support::at_limit;
using test_support::fault_proxy;

namespace {

// A session of somebody else's, which can hold a lock.
struct other_session {
    explicit other_session(const std::string& database)
        : connection{PQconnectdb(cluster().socket_url(database).c_str()), &PQfinish}
    {
    }
    void run(const char* sql) const
    {
        const std::unique_ptr<PGresult, decltype(&PQclear)> result{PQexec(connection.get(), sql), &PQclear};
        REQUIRE_MESSAGE(PQresultStatus(result.get()) == PGRES_COMMAND_OK, PQerrorMessage(connection.get()));
    }
    std::unique_ptr<PGconn, decltype(&PQfinish)> connection;
};

void end_sessions(const std::string& database)
{
    cluster().sql(
        "postgres",
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '" + database + "'"
    );
}

template <class Work>
std::chrono::steady_clock::duration time_of(const Work& work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::steady_clock::now() - begin;
}

bool writes(const replica& of)
{
    return of.put("probe").has_value();
}

struct cut {
    test_support::proxy_faults faults;
    std::chrono::milliseconds heals;
};

cut random_cut(std::mt19937& random)
{
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    cut made;
    auto& where = below(2) == 0 ? made.faults.to_agent : made.faults.to_caller;
    where.limit = below(500);
    constexpr at_limit ends[] =
        {at_limit::reset, at_limit::close, at_limit::half_close, at_limit::reset, at_limit::close};
    where.then = below(12) == 0 ? at_limit::silence : ends[below(5)];
    made.heals = std::chrono::milliseconds{5 + below(20)};
    return made;
}

}  // namespace

TEST_CASE("Calls that are cut at random points were carried out if they say so, and never if they say not")
{
    const auto database = cluster().make_database();
    fault_proxy proxy{cluster().port()};
    const replica one{cluster().url(database, proxy.port()), 300ms};
    const auto* wanted = std::getenv("CARDEA_FAULT_CALLS");
    const int calls = wanted == nullptr ? 300 : std::atoi(wanted);
    std::mt19937 random{7};
    std::map<std::string, core::result<store::record>> outcomes;
    for (int i = 0; i < calls; ++i) {
        REQUIRE(eventually([&] { return one.engine->find("a").has_value(); }));
        const auto made = random_cut(random);
        proxy.set(made.faults);
        std::thread healer{[&] {
            std::this_thread::sleep_for(made.heals);
            proxy.heal();
        }};
        const auto id = "id" + std::to_string(i);
        outcomes.emplace(id, one.put(id, "{\"i\":" + std::to_string(i) + "}"));
        healer.join();
    }
    std::this_thread::sleep_for(500ms);
    std::map<std::string, int> counts;
    std::map<std::string, std::string> there;
    for (const auto& row : cluster().sql(database, "SELECT id, version FROM cardea.agents")) {
        there[row[0]] = row[1];
    }
    for (const auto& [id, outcome] : outcomes) {
        CAPTURE(id);
        const auto found = there.find(id);
        if (outcome) {
            REQUIRE(found != there.end());
            CHECK(found->second == std::to_string(outcome->version));
        } else if (outcome.error().code != errc::write_unknown) {
            CHECK(outcome.error().code == errc::store_unreachable);
            CHECK(found == there.end());
        }
        ++counts[outcome ? "written" : std::string{core::name(outcome.error().code)}];
    }
    MESSAGE(
        counts["written"],
        " written, ",
        counts["store_unreachable"],
        " not, ",
        counts["write_unknown"],
        " unknown"
    );
    CHECK(counts["written"] > 0);
    CHECK(counts["store_unreachable"] > 0);
    CHECK(counts["write_unknown"] < calls / 10);
    CHECK(cluster().value(database, "SELECT count(*) FROM cardea.tokens WHERE number IS NULL") != "0");
    CHECK(
        cluster().value(database, "SELECT number FROM cardea.feeds WHERE name = 'agents'") ==
        cluster().value(database, "SELECT count(*) FROM cardea.changes")
    );
}

TEST_CASE("A write that was settled as not written is refused when it comes after all")
{
    const auto database = cluster().make_database();
    const replica one{cluster().url(database)};
    const auto sql = [&](const std::string& text) { return cluster().value(database, text); };
    const std::string put = ", 1000, 1, 1, 'a', '{}', '{}', 'test', 0, -1)";
    CHECK(sql(R"(SELECT cardea.settle('agents', '\x01', 1000))") == "-1");
    CHECK_THROWS_WITH(sql(R"(SELECT cardea.put('\x01')" + put), doctest::Contains("given up"));
    CHECK(sql(R"(SELECT cardea.put('\x02')" + put) == "1");
    CHECK(sql(R"(SELECT cardea.settle('agents', '\x02', 1000))") == "1");
    CHECK_THROWS(sql(R"(SELECT cardea.put('\x02')" + put));
    CHECK(sql("SELECT number FROM cardea.feeds WHERE name = 'agents'") == "1");
}

TEST_CASE("A frozen server costs a write its timeout, the next ones 10 ms, and nothing once it goes on")
{
    const auto url = fresh_database();
    replica one{url, 600ms};
    one.poll();
    cluster().freeze();
    core::error why;
    const auto first = time_of([&] { why = one.put("a").error(); });
    CHECK(why.code == errc::write_unknown);
    CHECK(first < 750ms);
    const auto next = time_of([&] { why = one.put("b").error(); });
    CHECK(why.code == errc::store_unreachable);
    CHECK(next < 60ms);
    CHECK(one.feed().poll(one.at).has_error());
    CHECK_FALSE(one.feed().is_up());
    cluster().thaw();
    CHECK(eventually([&] { return writes(one); }));
    CHECK(eventually([&] { return one.feed().poll(one.at).has_value(); }));
    CHECK(one.feed().is_up());
    CHECK_FALSE(one.engine->find("b")->has_value());
    CHECK(one.lines.count("\"store_unreachable\"") >= 1);
    CHECK(one.lines.count("\"store_reachable\"") >= 1);
}

TEST_CASE("A killed server is noticed before a call is sent, its reason is logged once, and it heals without a restart")
{
    const auto url = fresh_database();
    replica one{url};
    REQUIRE(writes(one));
    one.poll();
    cluster().kill();
    for (int i = 0; i < 20; ++i) {
        const auto refused = one.put("a");
        CHECK(refused.error().code == errc::store_unreachable);
        CHECK(one.engine->load().has_error());
        one.feed().wait(1ms);
    }
    CHECK(one.lines.count("\"store_unreachable\"") <= 2);  // the end, and that nobody listens
    cluster().start();
    CHECK(eventually([&] { return writes(one); }));
    CHECK_FALSE(one.engine->find("a")->has_value());
    CHECK(one.lines.count("\"store_reachable\"") == 1);
}

TEST_CASE("Connections that the server has ended while nobody used them cost no write")
{
    const auto database = cluster().make_database();
    replica one{cluster().url(database)};
    for (int i = 0; i < 5; ++i) {
        REQUIRE(eventually([&] { return writes(one); }));
        end_sessions(database);
        const auto outcome = one.put("a");
        CHECK_MESSAGE(outcome.has_value(), outcome.error().detail);
    }
}

TEST_CASE("A server that only reads refuses writes, reads go on, and it heals")
{
    const auto database = cluster().make_database();
    replica one{cluster().url(database)};
    REQUIRE(writes(one));
    cluster().sql("postgres", "ALTER DATABASE " + database + " SET default_transaction_read_only = on");
    end_sessions(database);
    CHECK(eventually([&] { return one.put("a").error().detail.starts_with("read_only"); }));
    CHECK(one.put("a").error().code == errc::store_unreachable);
    CHECK(eventually([&] { return one.engine->find("probe").has_value(); }));
    CHECK(one.lines.count("\"store_writes_refused\"") == 1);
    const replica two{cluster().url(database)};
    CHECK(two.engine->load()->size() == 1);
    cluster().sql("postgres", "ALTER DATABASE " + database + " RESET default_transaction_read_only");
    CHECK(eventually([&] { return writes(one); }));
    CHECK(one.lines.count("\"store_writes_accepted\"") == 1);
}

TEST_CASE("A server that only follows is asked seldom, is named once, and serves once it is promoted")
{
    test_support::postgres_cluster own;
    const auto database = own.make_database();
    replica one{own.url(database)};
    REQUIRE(writes(one));
    one.poll();
    own.stop();
    test_support::write_whole(own.directory() + "/data/standby.signal", "");
    own.start();
    const auto connections = [&] {
        return std::stoi(own.value(database, "SELECT sessions FROM pg_stat_database WHERE datname = current_database()")
        );
    };
    const auto before = connections();
    const auto until = std::chrono::steady_clock::now() + 3s;
    while (std::chrono::steady_clock::now() < until) {
        CHECK(one.feed().poll(one.at).has_error());
        one.feed().wait(1s);
    }
    CHECK(connections() - before <= 20);
    CHECK(one.lines.count("\"read_only\"") == 1);
    CHECK_FALSE(one.feed().is_up());
    own.promote();
    CHECK(eventually([&] { return one.feed().poll(one.at).has_value() && writes(one); }));
    REQUIRE(one.beat().has_value());
    CHECK(one.feed().is_up());
}

TEST_CASE("A password comes from its file at each connection, and a wrong one is named")
{
    const test_support::scratch_directory scratch;
    const auto database = cluster().make_database();
    cluster().sql("postgres", "CREATE ROLE locked LOGIN SUPERUSER");
    cluster().require_password("locked", "hunter2");
    store::postgres_options options;
    options.url = "postgresql://locked@127.0.0.1:" + std::to_string(cluster().port()) + "/" + database;
    options.password_file = scratch.file("password");
    const auto missing = store::open_postgres(options);
    CHECK(missing.error().code == errc::store_unreachable);
    CHECK(missing.error().detail.find("password_file") != std::string::npos);
    test_support::write_whole(options.password_file, "hunter1\n");
    const auto wrong = store::open_postgres(options);
    CHECK(wrong.error().code == errc::store_unreachable);
    CHECK(wrong.error().detail.starts_with("login_refused (28P01)"));
    CHECK(wrong.error().detail.find("hunter") == std::string::npos);
    test_support::write_whole(options.password_file, "hunter2\n");
    const auto right = store::open_postgres(options);
    REQUIRE_MESSAGE(right.has_value(), right.error().detail);
    cluster().require_password("locked", "hunter3");
    end_sessions(database);
    CHECK(eventually([&] { return (*right)->put("a", "{}", {"test", noon, {}}).has_error(); }));
    test_support::write_whole(options.password_file, "hunter3");
    CHECK(eventually([&] { return (*right)->put("a", "{}", {"test", noon, {}}).has_value(); }));
}

TEST_CASE("A role with too few connections, and one that may not make the schema, are told so")
{
    const auto database = cluster().make_database();
    cluster().sql("postgres", "CREATE ROLE worker LOGIN CONNECTION LIMIT 1");
    store::postgres_options options;
    options.url = "postgresql://worker@127.0.0.1:" + std::to_string(cluster().port()) + "/" + database;
    const auto no_rights = store::open_postgres(options);
    CHECK(no_rights.error().code == errc::config_invalid);
    CHECK(no_rights.error().detail.find("cardea store migrate --store " + options.url) != std::string::npos);
    REQUIRE(store::migrate_postgres({.url = cluster().url(database)}).has_value());
    CHECK(store::open_postgres(options).error().code == errc::config_invalid);
    cluster().sql(
        database,
        "GRANT USAGE ON SCHEMA cardea TO worker;"
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA cardea TO worker"
    );
    const auto full = store::open_postgres(options);
    CHECK(full.error().code == errc::store_unreachable);
    CHECK(full.error().detail.starts_with("too_many_connections"));
    cluster().sql("postgres", "ALTER ROLE worker CONNECTION LIMIT 2");
    CHECK(eventually([&] {
        const auto opened = store::open_postgres(options);
        return opened && (*opened)->put("a", "{}", {"test", noon, {}}).has_value();
    }));
}

TEST_CASE("Transactions that are not read committed are refused, and commits are never asynchronous")
{
    const auto database = cluster().make_database();
    const replica one{cluster().url(database)};
    REQUIRE(writes(one));
    cluster().sql("postgres", "ALTER DATABASE " + database + " SET default_transaction_isolation = 'repeatable read'");
    end_sessions(database);
    CHECK(eventually([&] { return one.put("a").error().code == errc::store_failed; }));
    CHECK(one.put("a").error().detail.find("expected read committed") != std::string::npos);
    cluster().sql("postgres", "ALTER DATABASE " + database + " RESET default_transaction_isolation");
    cluster().sql("postgres", "ALTER DATABASE " + database + " SET synchronous_commit = off");
    cluster().sql(
        database,
        "CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN"
        " INSERT INTO seen VALUES (current_setting(''synchronous_commit''), current_setting(''lock_timeout'')); RETURN "
        "NULL; END';"
        "CREATE TABLE seen (mode text, patience text);"
        "CREATE TRIGGER spy AFTER INSERT ON cardea.changes EXECUTE FUNCTION spy()"
    );
    end_sessions(database);
    REQUIRE(eventually([&] { return writes(one); }));
    CHECK(
        cluster().sql(database, "SELECT DISTINCT mode, patience FROM seen") ==
        std::vector<std::vector<std::string>>{{"on", "2s"}}
    );
}

TEST_CASE("A feed whose row somebody else has locked makes a write fail in time, and the connection stays")
{
    const auto database = cluster().make_database();
    const replica one{cluster().url(database), 300ms};
    REQUIRE(writes(one));
    const other_session other{database};
    other.run("BEGIN");
    other.run("UPDATE cardea.feeds SET number = number WHERE name = 'agents'");
    core::error why;
    const auto took = time_of([&] { why = one.put("a").error(); });
    CHECK(why.code == errc::store_unreachable);
    CHECK(why.detail.starts_with("locked (55P03)"));
    CHECK(took >= 200ms);
    CHECK(took < 300ms);
    CHECK(one.lines.count("\"store_unreachable\"") == 0);
    other.run("ROLLBACK");
    CHECK(writes(one));
    CHECK_FALSE(one.engine->find("a")->has_value());
}

TEST_CASE("A pooler in transaction mode serves a store, and its end is survived")
{
    const auto database = cluster().make_database();
    test_support::postgres_pooler pooler{cluster()};
    replica one{cluster().url(database, pooler.port())};
    replica two{cluster().url(database, pooler.port())};
    CHECK(one.put("a")->version == 1);
    CHECK(two.poll().changes.size() == 1);
    CHECK(two.engine->keep_document({"pins", "a", "a", "{}"}).has_value());
    CHECK(one.poll().documents.size() == 1);
    REQUIRE(one.beat().has_value());
    CHECK(two.poll().replicas.size() == 1);
    pooler.kill();
    CHECK(one.put("b").error().code == errc::store_unreachable);
    pooler.start();
    CHECK(eventually([&] { return one.put("c").has_value(); }));
    CHECK_FALSE(one.engine->find("b")->has_value());
    cluster().kill();
    CHECK(one.put("b").has_error());
    cluster().start();
    CHECK(eventually([&] { return one.put("c").has_value(); }, 20s));
    if (std::getenv("CARDEA_FAULTS_FULL") != nullptr) {  // LISTEN succeeds there, and nothing is heard
        CHECK(eventually([&] { return one.feed().poll(one.at).has_value(); }));
        const auto until = std::chrono::steady_clock::now() + 25s;
        while (one.feed().is_notified() && std::chrono::steady_clock::now() < until) {
            REQUIRE(one.beat().has_value());
            one.feed().wait(2s);
            std::this_thread::sleep_for(1s);  // its own beat ends the wait at once
        }
        CHECK_FALSE(one.feed().is_notified());
        CHECK(one.lines.count("\"store_notify_silent\"") == 1);
    }
}

TEST_SUITE_END();
