// What replicas that share a PostgreSQL see of each other.
#include "store/postgres.hpp"

#include "tests/unit/store/postgres_rig.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("store/postgres");

using core::errc;
using store::author;
using namespace store::testing;

TEST_CASE("A replica sees what another one wrote, with its record, its author and its replica")
{
    const auto url = fresh_database();
    replica one{url};
    replica two{url};
    CHECK(two.poll().changes.empty());
    REQUIRE(one.put("a", R"({"url":"http://a/"})")->version == 1);
    const auto batch = two.poll();
    REQUIRE(batch.changes.size() == 1);
    CHECK(batch.changes[0].what == store::change{1, noon, "test", store::action::created, "a"});
    CHECK(batch.changes[0].by == one.options.self);
    REQUIRE(batch.records.size() == 1);
    CHECK(batch.records[0] == one.engine->find("a").value());
    CHECK(batch.reached.agents == 1);
    CHECK(batch.reached.token.size() == 16);
    CHECK_FALSE(batch.more);
    CHECK(two.poll().changes.empty());
    REQUIRE(two.engine->remove("a", {"test", noon, {}}).value() == 2);
    const auto removed = one.poll();
    REQUIRE(removed.changes.size() == 2);
    CHECK(removed.changes[1].what.what == store::action::deleted);
    CHECK(removed.records.empty());
}

TEST_CASE("A notification ends the wait of another replica, and wake() that of its own")
{
    const auto url = fresh_database();
    replica one{url};
    replica two{url};
    two.poll();
    two.feed().wait(0ms);
    const auto begin = std::chrono::steady_clock::now();
    std::thread writer{[&] {
        std::this_thread::sleep_for(50ms);
        static_cast<void>(one.put("a"));
    }};
    two.feed().wait(5s);
    CHECK(std::chrono::steady_clock::now() - begin < 2s);
    writer.join();
    CHECK(two.poll().changes.size() == 1);
    CHECK(two.feed().is_notified());
    std::thread waker{[&] {
        std::this_thread::sleep_for(50ms);
        two.feed().wake();
    }};
    two.feed().wait(0ms);
    two.feed().wait(5s);
    waker.join();
    CHECK(std::chrono::steady_clock::now() - begin < 4s);
}

TEST_CASE("Replicas that beat are in each other's list until they leave")
{
    const auto url = fresh_database();
    replica one{url};
    replica two{url};
    CHECK(one.poll().replicas.empty());
    REQUIRE(one.beat().has_value());
    REQUIRE(two.beat().has_value());
    const auto both = one.poll().replicas;
    REQUIRE(both.size() == 2);
    CHECK(both[0].facts.id == one.options.self);
    CHECK(both[0].facts.url == "http://r");
    CHECK(both[1].silent < 5s);
    REQUIRE(one.feed().leave().has_value());
    CHECK(two.poll().replicas.size() == 1);
}

TEST_CASE("Replicas that write at once give dense versions, and each feed has them in order")
{
    const auto url = fresh_database();
    replica one{url};
    replica two{url};
    constexpr int each = 100;
    std::atomic<int> conflicts = 0;
    const auto work = [&](replica& by) {
        for (int i = 0; i < each; ++i) {
            const auto id = "a" + std::to_string(i % 10);
            const auto there = by.engine->find(id).value();
            const author who{"test", noon, there ? there->version : 0};
            const auto written = by.engine->put(id, "{}", who);
            if (!written) {
                CHECK(written.error().code == errc::version_conflict);
                ++conflicts;
            }
        }
    };
    std::thread other{[&] { work(two); }};
    work(one);
    other.join();
    const auto expected = static_cast<std::uint64_t>(2 * each - conflicts);
    for (auto* reader : {&one, &two}) {
        std::uint64_t latest = 0;
        for (const auto& change : reader->poll().changes) {
            CHECK(change.what.version == ++latest);
        }
        CHECK(latest == expected);
    }
}

TEST_CASE("A feed gives at most a thousand changes at once, and says that there are more")
{
    const auto database = cluster().make_database();
    replica one{cluster().url(database)};
    cluster().sql(
        database,
        "DO $$ BEGIN FOR i IN 1..1001 LOOP PERFORM cardea.put(int8send(i), 1000, 1, 1, 'a' || i, '{}', '{}', 'test', "
        "0, -1);"
        " END LOOP; END $$"
    );
    const auto first = one.poll();
    CHECK(first.changes.size() == 1000);
    CHECK(first.records.size() == 1000);
    CHECK(first.reached.agents == 1000);
    CHECK(first.more);
    const auto second = one.poll();
    CHECK(second.changes.size() == 1);
    CHECK_FALSE(second.more);
}

TEST_CASE("A feed whose trail was trimmed gives everything, and one whose database went back says so")
{
    const auto database = cluster().make_database();
    replica one{cluster().url(database)};
    replica two{cluster().url(database)};
    REQUIRE(one.put("a").has_value());
    REQUIRE(one.engine->keep_document({"pins", "a", "a", "{}"}).has_value());
    REQUIRE(one.engine->keep_document({"pins", "b", "b", "{}"}).has_value());
    REQUIRE(one.engine->drop_document("pins", "b").has_value());
    REQUIRE(one.poll().changes.size() == 1);
    REQUIRE(one.put("b").has_value());
    REQUIRE(one.put("c").has_value());
    const auto here = one.at;
    cluster().sql(database, "DELETE FROM cardea.changes WHERE version < 3");
    const auto trimmed = one.poll();
    CHECK(trimmed.reload == store::feed_reload::trimmed);
    CHECK(trimmed.records == one.engine->load().value());
    REQUIRE(trimmed.documents.size() == 2);
    CHECK(trimmed.documents[0].now.has_value());
    CHECK_FALSE(trimmed.documents[1].now.has_value());  // it was dropped a moment ago
    CHECK(trimmed.changes.empty());
    CHECK(trimmed.reached.agents == 3);
    CHECK(one.poll().reload == store::feed_reload::none);
    CHECK(two.poll().reload == store::feed_reload::trimmed);  // it had applied nothing

    cluster().sql(database, R"(UPDATE cardea.changes SET token = '\x00' WHERE version = 3)");
    const auto other_token = one.poll();
    CHECK(other_token.reload == store::feed_reload::regressed);
    CHECK(other_token.records.size() == 3);
    CHECK(one.poll().reload == store::feed_reload::none);

    cluster().sql(database, "UPDATE cardea.feeds SET number = 1 WHERE name = 'agents'");
    CHECK(one.poll().reload == store::feed_reload::regressed);
    one.at = here;
    cluster().sql(database, "UPDATE cardea.feeds SET number = 0 WHERE name = 'documents'");
    CHECK(one.poll().reload == store::feed_reload::regressed);
}

TEST_CASE(
    "A replica that missed how the database lost writes of a feed reads everything again, though others have written "
    "as many"
)
{
    const auto database = cluster().make_database();
    replica one{cluster().url(database)};
    replica two{cluster().url(database)};
    const auto contain = [](const replica& by, const std::string& agent) {
        REQUIRE(by.engine->keep_document({"containment", agent, "", "{}"}).has_value());
    };
    contain(two, "d0");
    contain(two, "d1");
    CHECK(one.poll().documents.size() == 2);
    cluster().sql(
        database,
        "DELETE FROM cardea.documents; DELETE FROM cardea.tokens;"
        "UPDATE cardea.feeds SET number = 0, token = '' WHERE name = 'documents'"
    );
    contain(two, "d2");
    contain(two, "d3");
    const auto equal = one.poll();
    CHECK(equal.reload == store::feed_reload::regressed);
    CHECK(equal.documents.size() == 2);
    CHECK(equal.documents[0].name == "d2");
    const auto first = two.poll();  // it had applied nothing
    CHECK(first.reload == store::feed_reload::none);
    CHECK(first.documents.size() == 2);
    cluster().sql(
        database,
        R"(DELETE FROM cardea.tokens; UPDATE cardea.feeds SET number = 1, token = '\x01' WHERE name = 'documents')"
    );
    contain(two, "d4");
    contain(two, "d5");
    CHECK(one.poll().reload == store::feed_reload::regressed);  // one more than before
    contain(two, "d6");
    contain(two, "d7");
    cluster().sql(database, "DELETE FROM cardea.tokens WHERE number < 5");
    CHECK(one.poll().reload == store::feed_reload::trimmed);  // it was away for longer than tokens live
    contain(two, "d8");
    CHECK(one.poll().reload == store::feed_reload::none);
    cluster().sql(database, "DELETE FROM cardea.feeds WHERE name = 'tasks'");
    CHECK(one.feed().poll(one.at).error().code == errc::store_unreachable);
}

TEST_CASE("A reload may take longer than an operation, and changes come in pages of 16 MiB")
{
    const auto database = cluster().make_database();
    replica one{cluster().url(database), 300ms};
    replica three{cluster().url(database)};
    const std::string large(1'000'000, 'x');
    for (int i = 0; i < 20; ++i) {
        REQUIRE(three.put("large" + std::to_string(i), '"' + large + '"').has_value());
    }
    three.at = {};
    const auto page = three.poll();
    CHECK(page.records.size() == 17);
    CHECK(page.more);
    CHECK(three.poll().records.size() == 3);
    cluster().sql(
        database,
        "INSERT INTO cardea.agents SELECT 'slow' || i, repeat(md5(i::text), 100), 1000 + i, 0 FROM generate_series(1, "
        "20000) AS i;"
        "UPDATE cardea.changes SET token = '\\x00'"
    );
    one.at.agents = 20;
    one.at.token = "another";
    const auto batch = one.poll();
    CHECK(batch.reload == store::feed_reload::regressed);
    CHECK(batch.records.size() == 20'020);
}

TEST_CASE("A name of a host belongs to one agent over all replicas until it gives it up")
{
    const auto url = fresh_database();
    const replica one{url};
    const replica two{url};
    REQUIRE(one.put("a", R"({"hosts":["A.example","b.example"]})").has_value());
    const auto taken = two.put("b", R"({"hosts":["c.example","a.example"]})");
    CHECK(taken.error().code == errc::invalid_params);
    CHECK(taken.error().detail == R"("a.example" is a name of the agent a; expected another name)");
    CHECK(one.engine->changes(0, 10)->size() == 1);
    REQUIRE(one.put("a", R"({"hosts":["b.example"]})").has_value());
    REQUIRE(two.put("b", R"({"hosts":["a.example","c.example"]})").has_value());
    REQUIRE(one.engine->remove("a", {"test", noon, {}}).has_value());
    REQUIRE(two.put("b", R"({"hosts":["a.example","b.example"]})").has_value());
}

TEST_CASE("Documents that were kept, dropped, or removed with their agent reach the other replicas")
{
    const auto database = cluster().make_database();
    replica one{cluster().url(database)};
    replica two{cluster().url(database)};
    replica late{cluster().url(database)};
    REQUIRE(one.put("a").has_value());
    const store::kept_document pins{"pins", "a", "a", "{}"};
    REQUIRE(one.engine->keep_document(pins).has_value());
    REQUIRE(one.engine->keep_document({"containment", "agent a", "", ""}).has_value());
    const auto kept = two.poll().documents;
    REQUIRE(kept.size() == 2);
    CHECK(kept[0].now == pins);
    CHECK(kept[1].now->text.empty());
    REQUIRE(one.engine->drop_document("containment", "agent a").has_value());
    REQUIRE(one.engine->remove("a", {"test", noon, {}}).has_value());
    const auto dropped = two.poll().documents;
    REQUIRE(dropped.size() == 2);
    CHECK_FALSE(dropped[0].now.has_value());
    CHECK(dropped[1].name == "a");
    CHECK_FALSE(dropped[1].now.has_value());
    CHECK(one.engine->documents("pins")->empty());

    cluster().sql(database, "UPDATE cardea.documents SET dropped = dropped - interval '61 min'");
    REQUIRE(one.beat().has_value());
    CHECK(cluster().value(database, "SELECT count(*) FROM cardea.documents") == "0");
    CHECK(two.poll().reload == store::feed_reload::none);
    const auto everything = late.poll();
    CHECK(everything.reload == store::feed_reload::trimmed);
    CHECK(everything.documents.empty());
}

TEST_CASE("Cards that were fetched or confirmed reach the other replicas whole, and a version of a card is kept once")
{
    const auto url = fresh_database();
    const replica one{url};
    replica two{url};
    store::kept_card card{"a", "s", R"({"name":"ä"})", "http://a/", "\"\xff\"", "then", noon, 5min};
    REQUIRE(one.engine->keep_cards({card, {"b", "s", "{}", "", "", "", noon, {}}}).has_value());
    const auto fetched = two.poll().cards;
    REQUIRE(fetched.size() == 2);
    CHECK(fetched[0] == card);
    auto confirmed = card;
    confirmed.document.clear();
    confirmed.fetched += 1h;
    REQUIRE(one.engine->keep_cards({confirmed}).has_value());
    const auto renewed = two.poll().cards;
    REQUIRE(renewed.size() == 1);
    CHECK(renewed[0].document == card.document);
    CHECK(renewed[0].fetched == noon + 1h);
    for (const auto* by : {&one, const_cast<const replica*>(&two)}) {
        REQUIRE(by->engine->keep_card_version({"a", noon, "0a", 2, {}, "{}"}).has_value());
    }
    CHECK(one.engine->card_versions("a")->size() == 1);
}

TEST_CASE("The first owner of a task stays, and every replica hears of it")
{
    const auto url = fresh_database();
    replica one{url};
    replica two{url};
    constexpr std::uint64_t first = 0x1000;
    constexpr std::uint64_t second = 0x2000;
    REQUIRE(one.engine->keep_tasks({{5, first, noon}}).has_value());
    CHECK(two.poll().tasks == std::vector<store::kept_task>{{5, first, noon}});
    one.poll();
    REQUIRE(two.engine->keep_tasks({{5, second | 0x200U, noon + 1s}}).has_value());
    const std::vector<store::kept_task> corrected{{5, first | 0x200U, noon + 1s}};
    CHECK(one.poll().tasks == corrected);
    CHECK(two.poll().tasks == corrected);
    REQUIRE(one.engine->keep_tasks({{5, first | 0x300U, noon}}).has_value());  // its state alone
    CHECK(two.poll().tasks.empty());
    REQUIRE(one.engine->keep_tasks({{5, first | 0x307U, noon}}).has_value());  // where it lives
    CHECK(two.poll().tasks == std::vector<store::kept_task>{{5, first | 0x307U, noon + 1s}});
    CHECK(one.engine->tasks()->front().word == (first | 0x307U));
}

TEST_CASE("Who has seen how a task was created owns it, though another one named it first")
{
    const auto url = fresh_database();
    replica one{url};
    replica two{url};
    constexpr std::uint64_t guessed = 0x2000;
    constexpr std::uint64_t created = 0x1080;
    REQUIRE(two.engine->keep_tasks({{5, guessed | 0x03U, noon}}).has_value());
    REQUIRE(one.engine->keep_tasks({{5, created | 0x203U, noon}}).has_value());
    const std::vector<store::kept_task> right{{5, created | 0x203U, noon}};
    CHECK(two.poll().tasks == right);
    REQUIRE(two.engine->keep_tasks({{5, guessed | 0x203U, noon}}).has_value());
    CHECK(two.poll().tasks == right);
    REQUIRE(two.engine->keep_tasks({{5, 0x3080U | 0x203U, noon}}).has_value());  // among equals the first
    CHECK(one.engine->tasks()->front().word == (created | 0x203U));
}

TEST_CASE(
    "What a replica keeps of an agent that was removed meanwhile is left out, and an agent that comes back begins anew"
)
{
    const auto database = cluster().make_database();
    replica one{cluster().url(database)};
    replica two{cluster().url(database)};
    const auto keep = [](const replica& by) {
        REQUIRE(
            by.engine->keep_cards({{"a", "s", "{}", "", "", "", noon, {}}, {"file", "s", "{}", "", "", "", noon, {}}}
            ).has_value()
        );
        REQUIRE(by.engine->keep_card_version({"a", noon, "0a", 2, {}, "{}"}).has_value());
        REQUIRE(by.engine->keep_document({"pins", "a", "a", "{}"}).has_value());
    };
    REQUIRE(one.put("a").has_value());
    one.poll();
    keep(one);
    CHECK(one.engine->card("a")->has_value());
    REQUIRE(two.engine->remove("a", {"test", noon, {}}).has_value());
    REQUIRE(two.put("a").has_value());
    keep(one);
    CHECK_FALSE(one.engine->card("a")->has_value());
    CHECK(one.engine->card("file")->has_value());
    CHECK(one.engine->card_versions("a")->empty());
    CHECK(one.engine->documents("pins")->empty());
    one.poll();
    one.feed().wait(0ms);  // it has applied that
    keep(one);
    CHECK(one.engine->card("a")->has_value());
    CHECK(one.engine->documents("pins")->size() == 1);
}

TEST_CASE("Time in which no replica could beat is nobody's silence")
{
    const auto database = cluster().make_database();
    replica one{cluster().url(database)};
    replica two{cluster().url(database)};
    const auto pass = [&](const std::string& time, store::replica_id of = 0) {
        const auto where = of == 0 ? std::string{} : " WHERE id = " + std::to_string(of);
        cluster().sql(database, "UPDATE cardea.replicas SET at = at - interval '" + time + "'" + where);
    };
    REQUIRE(one.beat().has_value());
    REQUIRE(two.beat().has_value());
    REQUIRE(one.engine->keep_delivery({0, "d1", "a", "x", "sealed", "{}", noon}).has_value());
    pass("1 h");
    CHECK(two.poll().replicas.size() == 2);  // nobody has beaten since
    REQUIRE(two.beat().has_value());
    CHECK(two.poll().replicas.size() == 2);
    CHECK(two.poll().deliveries.empty());
    cluster().sql(database, "UPDATE cardea.meta SET resumed = resumed - interval '16 s'");
    REQUIRE(two.beat().has_value());
    const auto batch = two.poll();
    CHECK(batch.replicas.size() == 1);
    CHECK(batch.deliveries.size() == 1);
    REQUIRE(one.beat().has_value());
    pass("16 s", one.options.self);
    REQUIRE(two.beat().has_value());
    CHECK(two.poll().replicas.size() == 1);
}

TEST_CASE("Clocks that differ by minutes change no age of what replicas share")
{
    const auto database = cluster().make_database();
    cluster().sql(
        database,
        "CREATE SCHEMA fake; CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS"
        " $$SELECT pg_catalog.clock_timestamp() + interval '5 min'$$; ALTER DATABASE " +
            database + " SET search_path = fake, pg_catalog"
    );
    replica one{cluster().url(database)};
    replica two{cluster().url(database)};
    const auto near = [](core::wall_time a, core::wall_time b) { return std::chrono::abs(a - b) < 1s; };
    CHECK(std::chrono::abs(one.feed().clock_ahead() - 5min) < 1s);
    REQUIRE(one.engine->keep_tasks({{5, 0x1000, noon}}).has_value());
    REQUIRE(one.engine->keep_cards({{"a", "s", "{}", "", "", "", noon, {}}}).has_value());
    REQUIRE(one.put("a").has_value());
    CHECK(one.engine->changes(0, 1)->front().at > noon + 4min);
    const auto batch = two.poll();
    CHECK(near(batch.tasks.at(0).seen, noon));
    CHECK(near(batch.cards.at(0).fetched, noon));
    CHECK(near(two.engine->card("a").value()->fetched, noon));
    CHECK(two.engine->tasks()->empty());  // from the start
    CHECK(near(two.engine->tasks()->front().seen, noon));
    REQUIRE(two.engine->trim_tasks(noon - 1min, 10).has_value());
    CHECK(two.engine->tasks()->size() == 1);
    REQUIRE(two.engine->trim_tasks(noon + 1min, 10).has_value());
    CHECK(two.engine->tasks()->empty());
}

TEST_CASE("Deliveries of a lane have one holder, and go to another replica when it leaves or is silent")
{
    const auto database = cluster().make_database();
    replica one{cluster().url(database)};
    replica two{cluster().url(database)};
    REQUIRE(one.beat().has_value());
    REQUIRE(two.beat().has_value());
    const auto row = [](std::string id, std::string lane) {
        return store::kept_delivery{0, std::move(id), "a", std::move(lane), "sealed", "{}", noon};
    };
    REQUIRE(one.engine->keep_delivery(row("d1", "x")).value() == 1);
    CHECK(one.poll().deliveries.empty());  // it knows
    CHECK_FALSE(two.engine->keep_delivery(row("d2", "x"))->has_value());
    REQUIRE(two.engine->keep_delivery(row("d3", "y")).value() == 3);
    CHECK(two.poll().deliveries.empty());
    const auto given = one.poll().deliveries;
    REQUIRE(given.size() == 1);
    CHECK(given[0].id == "d2");
    CHECK_FALSE(two.engine->keep_delivery(row("d4", "x"))->has_value());
    CHECK_FALSE(one.engine->keep_delivery(row("d5", "x"))->has_value());  // it has not heard of the one before
    const auto in_order = one.poll().deliveries;
    REQUIRE(in_order.size() == 2);
    CHECK(in_order[0].id == "d4");
    CHECK(in_order[1].id == "d5");
    CHECK(one.engine->deliveries()->size() == 4);
    CHECK_FALSE(two.engine->delivery(1)->has_value());

    cluster().sql(
        database,
        "UPDATE cardea.replicas SET at = at - interval '16 s' WHERE id = " + std::to_string(one.options.self)
    );
    REQUIRE(two.beat().has_value());
    const auto taken = two.poll().deliveries;
    REQUIRE(taken.size() == 4);
    CHECK(taken[0].id == "d1");
    CHECK(taken[3].id == "d5");
    CHECK_FALSE(one.engine->delivery(1)->has_value());
    CHECK(two.engine->delivery(1).value()->body == "{}");
    REQUIRE(one.beat().has_value());
    CHECK(one.poll().deliveries.empty());

    REQUIRE(two.feed().leave().has_value());
    CHECK_FALSE(two.engine->delivery(3)->has_value());
    CHECK_FALSE(one.engine->keep_delivery(row("d6", "x"))->has_value());  // until the next beat
    REQUIRE(one.beat().has_value());
    CHECK(one.poll().deliveries.size() == 6);
    REQUIRE(one.engine->drop_delivery(1).has_value());
    CHECK(one.engine->deliveries()->size() == 5);
}

TEST_CASE("Replicas that start at once make one schema and one key")
{
    const auto url = fresh_database();
    std::vector<std::string> keys(4);
    std::vector<std::thread> threads;
    for (auto& key : keys) {
        threads.emplace_back([&key, &url] {
            auto opened = store::open_postgres({.url = url});
            const core::secret mine{"of " + std::to_string(reinterpret_cast<std::uintptr_t>(&key))};
            key = opened ? (*opened)->session_key(mine)->reveal() : opened.error().detail;
        });
    }
    for (auto& each : threads) {
        each.join();
    }
    for (const auto& each : keys) {
        CHECK(each.starts_with("of "));
        CHECK(each == keys[0]);
    }
}

TEST_CASE(
    "A key of sessions that the database lost is given back, one that differs is named, and a damaged one is replaced"
)
{
    const auto database = cluster().make_database();
    replica one{cluster().url(database)};
    REQUIRE(one.put("a").has_value());
    REQUIRE(one.engine->session_key(core::secret{"first"})->reveal() == "first");
    one.poll();
    const auto regress = [&](const std::string& with) {
        cluster().sql(database, with + R"(; UPDATE cardea.changes SET token = token || '\x00')");
        CHECK(one.poll().reload == store::feed_reload::regressed);
    };
    regress("DELETE FROM cardea.keys");
    CHECK(replica{cluster().url(database)}.engine->session_key(core::secret{"other"})->reveal() == "first");
    CHECK(one.lines.count("session_key_differs") == 0);
    regress("UPDATE cardea.keys SET text = 'other'");
    CHECK(one.lines.count("session_key_differs") == 1);
    cluster().sql(database, "UPDATE cardea.keys SET text = 'zz'");
    CHECK(replica{cluster().url(database)}.engine->session_key(core::secret{"again"})->reveal() == "again");
}

TEST_CASE("A newer schema is read as long as it may be, and a running replica then writes nothing")
{
    const auto database = cluster().make_database();
    const auto url = cluster().url(database);
    replica one{url};
    cluster().sql(database, "UPDATE cardea.meta SET schema = 7");
    CHECK(one.put("a").has_value());
    CHECK(store::open_postgres({.url = url}).has_value());
    cluster().sql(database, "UPDATE cardea.meta SET reader = 7");
    const auto refused = one.put("a");
    CHECK(refused.error().code == errc::store_newer);
    CHECK(one.lines.count("\"newer_schema\"") == 1);
    CHECK(one.engine->find("a")->has_value());
    CHECK(one.poll().changes.size() == 1);
    const auto start = store::open_postgres({.url = url});
    CHECK(start.error().code == errc::config_invalid);
    CHECK(start.error().detail.find("start the newer Cardea") != std::string::npos);
}

TEST_CASE("Bytes that PostgreSQL's text does not take are kept or replaced")
{
    const replica one{fresh_database()};
    const std::string odd{"\xff\0'\"", 4};
    REQUIRE(one.engine->keep_document({"containment", odd, "", odd}).has_value());
    CHECK(
        one.engine->documents("containment").value() == std::vector<store::kept_document>{{"containment", odd, "", odd}}
    );
    REQUIRE(one.engine->drop_document("containment", odd).has_value());
    CHECK(one.engine->documents("containment")->empty());
    REQUIRE(one.engine->put("a", "{}", {odd, noon, {}}).has_value());
    CHECK(one.engine->changes(0, 1)->front().who == "\xEF\xBF\xBD\xEF\xBF\xBD'\"");
}

TEST_CASE("A URL that is not one, and a server that is not verified, are named")
{
    CHECK(store::names_postgres("postgresql://a/b"));
    CHECK(store::names_postgres("postgres://a/b"));
    CHECK_FALSE(store::names_postgres("sqlite:postgres"));
    const auto bad = store::open_postgres({.url = "postgresql://[::1/x"});
    CHECK(bad.error().code == errc::config_invalid);
    const auto nobody = store::open_postgres({.url = "postgresql://127.0.0.1:1/x"});
    CHECK(nobody.error().code == errc::store_unreachable);
    CHECK(nobody.error().detail.starts_with("unreachable: "));
    CHECK(store::open_postgres({.url = "postgresql://?service=x"}).error().code == errc::config_invalid);
}

TEST_SUITE_END();
