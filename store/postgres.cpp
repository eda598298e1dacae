#include "store/postgres.hpp"

#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "store/postgres_engine.hpp"
#include "store/postgres_schema.hpp"

#include <sys/random.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace store {
namespace {

using core::errc;
using namespace std::chrono_literals;

constexpr auto longest_start = 60s;  // until everything is read
constexpr auto first_connection = 5s;
constexpr auto refused_pause = 20ms;  // of a settlement

constexpr auto sql_agents = "SELECT id, definition, version, written FROM cardea.agents";
constexpr auto sql_documents = "SELECT kind, name, agent, text FROM cardea.documents WHERE text IS NOT NULL";
constexpr auto sql_tasks = "SELECT name, word, seen FROM cardea.tasks ORDER BY seen, name";

// The names that an agent claims; the registry has checked the definition.
std::vector<std::string> hosts_in(const std::string& definition)
{
    std::vector<std::string> names;
    const auto parsed = core::parse_json(definition);
    if (!parsed || !parsed->is_object() || !parsed->contains("hosts")) {
        return names;
    }
    for (const auto& each : parsed->at("hosts")) {
        if (each.is_string()) {
            names.push_back(core::in_lower_case(each.get_ref<const std::string&>()));
        }
    }
    return names;
}

record to_record(const pg_rows& rows, int row)
{
    return {rows.text(row, 0), rows.text(row, 1), rows.count(row, 2), rows.time(row, 3)};
}

kept_document to_document(const pg_rows& rows, int row)
{
    return {rows.text(row, 0), rows.text(row, 1), rows.text(row, 2), rows.text(row, 3)};
}

kept_task to_task(const pg_rows& rows, int row)
{
    return {rows.count(row, 0), rows.count(row, 1), rows.time(row, 2)};
}

change to_change(const pg_rows& rows, int row)
{
    const auto what = static_cast<action>(rows.number(row, 3));
    return {rows.count(row, 0), rows.time(row, 1), rows.text(row, 2), what, rows.text(row, 4)};
}

constexpr auto sql_feeds =
    "SELECT name, number, token, (SELECT token FROM cardea.changes ORDER BY version DESC LIMIT 1),"
    " (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM cardea.feeds";

feed_position position_of(const std::vector<feed_mark>& marks, std::string token)
{
    const auto number_of = [&](std::string_view feed) {
        const auto found = std::ranges::find(marks, feed, &feed_mark::feed);
        return found == marks.end() ? 0 : static_cast<std::uint64_t>(found->number);
    };
    return {
        number_of("agents"),
        std::move(token),
        number_of("cards"),
        number_of("tasks"),
        number_of("documents"),
        number_of("deliveries")
    };
}

// What a write's condition or its agent says; the others are in meaning_of().
core::error refusal_of(const pg_failure& why, const author& by)
{
    if (why.state == sql_state::conflict) {
        std::uint64_t there = 0;
        std::from_chars(why.message.data(), why.message.data() + why.message.size(), there);
        return check_version(by, there).error();
    }
    if (why.state == sql_state::not_found) {
        return core::caller_error(errc::agent_not_found);
    }
    return core::caller_error(errc::invalid_params, why.message);
}

bool refuses_the_caller(std::string_view state)
{
    return state == sql_state::conflict || state == sql_state::not_found || state == sql_state::host_taken;
}

}  // namespace

std::string random_bytes(std::size_t count)
{
    std::string bytes(count, '\0');
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        throw std::runtime_error{"getrandom"};
    }
    return bytes;
}

core::result<> postgres::migrate()
{
    const auto connected = session_.connection(std::chrono::steady_clock::now() + first_connection, true);
    return connected ? bring_up_to_date(session_, options_.url) : core::result<>{error_of(connected.error())};
}

core::result<> postgres::start(const std::string& unverified)
{
    auto ready = migrate();
    if (ready) {
        ready = prefetch();
    }
    if (ready) {
        ready = feed_.begin(start_.position, start_.marks, std::chrono::steady_clock::now() + first_connection);
    }
    if (!ready) {
        return ready;
    }
    connector_.journal().begin(options_.log);
    if (!unverified.empty() && options_.log != nullptr) {
        options_.log->write(core::log_level::warn, "store_unverified", {{"sslmode", unverified}});
    }
    return {};
}

// Everything in one snapshot, with the position behind which the feed goes on.
core::result<> postgres::prefetch()
{
    const auto by = std::chrono::steady_clock::now() + longest_start;
    const auto link = session_.connection(by, true);
    if (!link) {
        return error_of(link.error());
    }
    auto begun = (*link)->script("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", by);
    auto done = begun ? prefetch_within(**link, by) : pg_result<bool>{begun.error()};
    if (done) {
        if (auto ended = (*link)->script("COMMIT", by); !ended) {
            done = ended.error();
        }
    }
    if (!done) {
        session_.drop();
        return error_of(done.error());
    }
    session_.note(nullptr);
    return {};
}

pg_result<bool> postgres::prefetch_within(pg_link& link, core::steady_time by)
{
    const auto feeds = link.run(sql_feeds, {}, by);
    if (!feeds) {
        return feeds.error();
    }
    feed_.see_clock(feeds->time(0, 4));
    start_.marks = all_of<feed_mark>(*feeds, [](const pg_rows& rows, int row) {
        return feed_mark{rows.text(row, 0), rows.number(row, 1), rows.text(row, 2)};
    });
    start_.position = position_of(start_.marks, feeds->text(0, 3));
    std::erase_if(start_.marks, [](const auto& each) { return each.feed == "agents" || each.feed == "tombstones"; });
    const auto agents = link.run((std::string{sql_agents} + " ORDER BY id").c_str(), {}, by);
    if (!agents) {
        return agents.error();
    }
    start_.records = all_of<record>(*agents, to_record);
    const auto documents = link.run((std::string{sql_documents} + " ORDER BY kind, name").c_str(), {}, by);
    if (!documents) {
        return documents.error();
    }
    for (const auto kind : document_kinds) {
        start_.documents.emplace(kind, std::vector<kept_document>{});
    }
    for (auto& each : all_of<kept_document>(*documents, to_document)) {
        start_.documents[each.kind].push_back(std::move(each));
    }
    const auto tasks = link.run(sql_tasks, {}, by);
    if (!tasks) {
        return tasks.error();
    }
    start_.tasks = all_of<kept_task>(*tasks, to_task);
    feed_.bring_here(*start_.tasks, &kept_task::seen);
    const auto key = link.run(sql_key, {}, by);
    if (!key) {
        return key.error();
    }
    start_.key = core::secret{key->size() == 0 ? std::string{} : key->text(0, 0)};
    start_.deliveries = true;
    return true;
}

core::result<pg_rows> postgres::read(const char* sql, const pg_values& values)
{
    auto rows = session_.run(sql, values, std::chrono::steady_clock::now() + options_.timeout);
    return rows ? core::result<pg_rows>{std::move(*rows)} : core::result<pg_rows>{error_of(rows.error())};
}

void postgres::forget_start(std::string_view feed)
{
    if (feed == "agents") {
        start_.records.reset();
    }
    if (feed == "agents" || feed == "documents") {
        start_.documents.clear();
    }
    if (feed == "tasks") {
        start_.tasks.reset();
    }
    start_.deliveries = start_.deliveries && feed != "deliveries";
}

// The call has three quarters of the time, and its settlement the rest.
pg_result<std::uint64_t> postgres::write(const call& what, const more_values& values)
{
    const auto begin = std::chrono::steady_clock::now();
    forget_start(what.feed);
    pg_values all;
    all.bytes(what.token).number(patience()).number(postgres_schema);
    values(all);
    auto rows = session_.run(what.sql, all, begin + options_.timeout * 3 / 4);
    auto& journal = connector_.journal();
    if (rows) {
        journal.healed(pg_journal::about::writes);
        return rows->count(0, 0);
    }
    const auto why = rows.error();
    if (why.what == pg_failure::kind::lost || why.what == pg_failure::kind::too_late) {
        return settle(what, why, begin + options_.timeout);
    }
    if (why.what == pg_failure::kind::refused && !refuses_the_caller(why.state)) {
        journal.trouble(pg_journal::about::writes, meaning_of(why).reason, error_of(why).detail);
    }
    return why;
}

// On another connection, as often as there is time for. Once a server has answered, the first call cannot happen any more, from wherever.
pg_result<std::uint64_t> postgres::settle(const call& what, const pg_failure& why, core::steady_time by)
{
    for (;;) {
        const auto left = std::chrono::ceil<core::duration>(by - std::chrono::steady_clock::now());
        if (left <= core::duration{0}) {
            return pg_failure{pg_failure::kind::lost, {}, "not settled: " + why.message};
        }
        pg_values values;
        values.text(what.feed).bytes(what.token).number(std::int64_t{left.count()});
        const auto known = session_.run("SELECT cardea.settle($1, $2, $3)", values, by, by);
        if (known) {
            const auto number = known->number(0, 0);
            return number >= 0 ? pg_result<std::uint64_t>{static_cast<std::uint64_t>(number)}
                               : pg_failure{pg_failure::kind::unsent, why.state, why.message};
        }
        if (known.error().what == pg_failure::kind::refused) {
            std::this_thread::sleep_for(std::min<core::duration>(left, refused_pause));
        }
    }
}

core::error postgres::error_of_write(const pg_failure& why)
{
    if (why.what == pg_failure::kind::lost) {
        return core::gateway_error(errc::write_unknown, why.message);
    }
    if (why.what == pg_failure::kind::unsent) {
        return core::gateway_error(errc::store_unreachable, error_of(why).detail);
    }
    return error_of(why);
}

core::result<> postgres::write_rows(const call& what, const more_values& values)
{
    const auto written = write(what, values);
    return written ? core::result<>{} : core::result<>{error_of_write(written.error())};
}

core::result<std::vector<record>> postgres::load()
{
    if (auto first = std::exchange(start_.records, std::nullopt)) {
        return std::move(*first);
    }
    const auto rows = read((std::string{sql_agents} + " ORDER BY id").c_str(), {});
    return rows ? core::result<std::vector<record>>{all_of<record>(*rows, to_record)} : rows.error();
}

core::result<std::optional<record>> postgres::find(std::string id)
{
    const auto rows = read((std::string{sql_agents} + " WHERE id = $1").c_str(), pg_values{}.text(id));
    if (!rows) {
        return rows.error();
    }
    return rows->size() == 0 ? std::optional<record>{} : std::optional{to_record(*rows, 0)};
}

core::result<record> postgres::put(std::string id, std::string definition, author by)
{
    record wanted{std::move(id), std::move(definition), 0, whole_milliseconds(by.at)};
    const auto written =
        write({"agents", "SELECT cardea.put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"}, [&](pg_values& values) {
            values.number(options_.self).text(wanted.id).text(wanted.definition).texts(hosts_in(wanted.definition));
            values.text(by.who)
                .time(feed_.to_store(by.at))
                .number(by.if_version ? static_cast<std::int64_t>(*by.if_version) : -1);
        });
    if (!written) {
        const auto& why = written.error();
        return refuses_the_caller(why.state) ? refusal_of(why, by) : error_of_write(why);
    }
    wanted.version = *written;
    return wanted;
}

core::result<std::uint64_t> postgres::remove(std::string id, author by)
{
    const auto written =
        write({"agents", "SELECT cardea.remove($1, $2, $3, $4, $5, $6, $7, $8)"}, [&](pg_values& values) {
            values.number(options_.self).text(id).text(by.who).time(feed_.to_store(by.at));
            values.number(by.if_version ? static_cast<std::int64_t>(*by.if_version) : -1);
        });
    if (!written) {
        const auto& why = written.error();
        return refuses_the_caller(why.state) ? refusal_of(why, by) : error_of_write(why);
    }
    return *written;
}

core::result<std::vector<change>> postgres::changes(std::uint64_t after, std::size_t most)
{
    const auto rows = read(
        "SELECT version, at, who, action::bigint, agent FROM cardea.changes WHERE version > greatest($1,"
        " (SELECT number FROM cardea.feeds WHERE name = 'agents') - $3) ORDER BY version LIMIT $2",
        pg_values{}.number(after).number(std::uint64_t{most}).number(changes_kept)
    );
    return rows ? core::result<std::vector<change>>{all_of<change>(*rows, to_change)} : rows.error();
}

core::result<std::vector<kept_task>> postgres::tasks()
{
    if (auto first = std::exchange(start_.tasks, std::nullopt)) {
        return std::move(*first);
    }
    const auto rows = read(sql_tasks, {});
    if (!rows) {
        return rows.error();
    }
    auto all = all_of<kept_task>(*rows, to_task);
    feed_.bring_here(all, &kept_task::seen);
    return all;
}

core::result<std::vector<kept_document>> postgres::documents(std::string kind)
{
    if (auto first = start_.documents.extract(kind)) {
        return std::move(first.mapped());
    }
    const auto sql = std::string{sql_documents} + " AND kind = $1 ORDER BY name";
    const auto rows = read(sql.c_str(), pg_values{}.text(kind));
    return rows ? core::result<std::vector<kept_document>>{all_of<kept_document>(*rows, to_document)} : rows.error();
}

core::result<std::unique_ptr<engine>> open_postgres(postgres_options options)
{
    auto target = read_target(options);
    if (!target) {
        return std::move(target).error();
    }
    const auto unverified = target->unverified;
    auto opened = std::make_unique<postgres>(std::move(options), std::move(*target));
    if (auto ready = opened->start(unverified); !ready) {
        return std::move(ready).error();
    }
    return std::unique_ptr<engine>{std::move(opened)};
}

core::result<> migrate_postgres(postgres_options options)
{
    auto target = read_target(options);
    if (!target) {
        return std::move(target).error();
    }
    return postgres{std::move(options), std::move(*target)}.migrate();
}

}  // namespace store
