#include "store/postgres_engine.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace store {
namespace {

// The column of a list of things.
template <class Column, class T, class Read>
std::vector<Column> column_of(const std::vector<T>& things, Read read)
{
    std::vector<Column> all;
    all.reserve(things.size());
    std::ranges::transform(things, std::back_inserter(all), read);
    return all;
}

delivery_facts to_facts(const pg_rows& rows, int row)
{
    return {
        rows.count(row, 0),
        rows.text(row, 1),
        rows.text(row, 2),
        rows.text(row, 3),
        rows.count(row, 4),
        rows.time(row, 5)
    };
}

card_version to_version(const pg_rows& rows, int row, const std::string& agent)
{
    auto patch = rows.text(row, 3);
    return {
        .agent = agent,
        .at = rows.time(row, 0),
        .sha256 = rows.text(row, 1),
        .size = rows.count(row, 2),
        .patch = patch.empty() ? std::nullopt : std::optional{std::move(patch)},
        .document = rows.text(row, 4)
    };
}

}  // namespace

core::result<> postgres::keep_tasks(std::vector<kept_task> tasks)
{
    const auto names = column_of<std::int64_t>(tasks, [](const auto& t) { return static_cast<std::int64_t>(t.name); });
    const auto words = column_of<std::int64_t>(tasks, [](const auto& t) { return static_cast<std::int64_t>(t.word); });
    const auto seen =
        column_of<std::int64_t>(tasks, [&](const auto& t) { return milliseconds_of(feed_.to_store(t.seen)); });
    return write_rows(
        {"tasks", "SELECT cardea.keep_tasks($1, $2, $3, $4, $5, $6, $7, $8, $9)"},
        [&](pg_values& values) {
            values.numbers(names)
                .numbers(words)
                .numbers(seen)
                .number(task_owner_part)
                .number(task_home_part)
                .number(task_created_part);
        }
    );
}

core::result<> postgres::trim_tasks(core::wall_time since, std::size_t most)
{
    return write_rows({"tasks", "SELECT cardea.trim_tasks($1, $2, $3, $4, $5)"}, [&](pg_values& values) {
        values.time(feed_.to_store(since)).number(std::uint64_t{most});
    });
}

core::result<> postgres::keep_cards(std::vector<kept_card> cards)
{
    constexpr auto sql = "SELECT cardea.keep_cards($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    const auto texts = [&](std::string kept_card::* member) { return column_of<std::string>(cards, member); };
    return write_rows({"cards", sql}, [&](pg_values& values) {
        values.texts(texts(&kept_card::agent)).texts(texts(&kept_card::source));
        values.byte_strings(texts(&kept_card::document)).texts(texts(&kept_card::url));
        values.byte_strings(texts(&kept_card::etag)).byte_strings(texts(&kept_card::last_modified));
        values.numbers(column_of<std::int64_t>(cards, [&](const auto& c) {
            return milliseconds_of(feed_.to_store(c.fetched));
        }));
        values.numbers(column_of<std::int64_t>(cards, [](const auto& c) { return c.fresh_for.count(); }));
        values.number(feed_.applied());
    });
}

core::result<std::optional<kept_card>> postgres::card(std::string agent)
{
    const auto rows = read(
        "SELECT source, document, url, etag, last_modified, fetched, fresh_for FROM cardea.cards WHERE agent = $1",
        pg_values{}.text(agent)
    );
    if (!rows) {
        return rows.error();
    }
    if (rows->size() == 0) {
        return std::optional<kept_card>{};
    }
    kept_card found{
        std::move(agent),
        rows->text(0, 0),
        rows->text(0, 1),
        rows->text(0, 2),
        rows->text(0, 3),
        rows->text(0, 4),
        feed_.to_here(rows->time(0, 5)),
        core::duration{rows->number(0, 6)}
    };
    return std::optional{std::move(found)};
}

core::result<> postgres::keep_card_version(card_version version)
{
    constexpr auto sql = "SELECT cardea.keep_card_version($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    const auto kept = write_rows({"cards", sql}, [&](pg_values& values) {
        values.text(version.agent).time(feed_.to_store(version.at)).text(version.sha256).number(version.size);
        values.bytes(version.patch.value_or(std::string{})).bytes(version.document).number(bytes_of(version));
        values.number(std::uint64_t{card_versions_kept}).number(feed_.applied());
    });
    if (!kept) {
        return kept;
    }
    const auto trimmed = read("SELECT cardea.trim_card_versions($1)", pg_values{}.number(card_version_bytes));
    return trimmed ? core::result<>{} : core::result<>{trimmed.error()};
}

core::result<std::vector<card_version>> postgres::card_versions(std::string agent)
{
    const auto rows = read(
        "SELECT at, sha256, size, patch, document FROM cardea.card_versions WHERE agent = $1 ORDER BY number DESC",
        pg_values{}.text(agent)
    );
    if (!rows) {
        return rows.error();
    }
    return all_of<card_version>(*rows, [&](const pg_rows& all, int row) { return to_version(all, row, agent); });
}

core::result<> postgres::keep_document(kept_document document)
{
    return write_rows(
        {"documents", "SELECT cardea.keep_document($1, $2, $3, $4, $5, $6, $7, $8)"},
        [&](pg_values& values) {
            values.text(document.kind).bytes(document.name).text(document.agent).bytes(document.text);
            values.number(feed_.applied());
        }
    );
}

core::result<> postgres::drop_document(std::string kind, std::string name)
{
    return write_rows({"documents", "SELECT cardea.drop_document($1, $2, $3, $4, $5)"}, [&](pg_values& values) {
        values.text(kind).bytes(name);
    });
}

core::result<core::secret> postgres::session_key(core::secret made)
{
    auto key = std::exchange(start_.key, {});
    if (key.reveal().size() != made.reveal().size()) {
        auto kept =
            write_rows({"tombstones", "SELECT cardea.keep_session_key($1, $2, $3, $4)"}, [&](pg_values& values) {
                values.text(made.reveal());
            });
        if (!kept) {
            return std::move(kept).error();
        }
        const auto rows = read(sql_key, {});
        if (!rows) {
            return rows.error();
        }
        key = core::secret{rows->text(0, 0)};
    }
    feed_.set_key(key);
    return key;
}

// One that was refused because its outcome was not known is sent again by its agent.
void postgres::forget_unknown()
{
    while (!unknown_.empty() && session_.is_up()) {
        const auto by = std::chrono::steady_clock::now() + options_.timeout / 4;
        const auto settled = settle({"deliveries", "", unknown_.back()}, {}, by);
        if (!settled && settled.error().what == pg_failure::kind::lost) {
            return;
        }
        if (settled && !drop_delivery(*settled)) {
            return;
        }
        unknown_.pop_back();
    }
}

core::result<std::optional<std::uint64_t>> postgres::keep_delivery(kept_delivery delivery)
{
    constexpr auto sql = "SELECT cardea.keep_delivery($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    forget_unknown();
    const call what{"deliveries", sql};
    const auto written = write(what, [&](pg_values& values) {
        values.number(options_.self).bytes(delivery.id).text(delivery.agent).bytes(delivery.lane);
        values.bytes(delivery.address).bytes(delivery.body).time(feed_.to_store(delivery.received));
    });
    if (!written) {
        if (written.error().what == pg_failure::kind::lost) {
            unknown_.push_back(what.token);
        }
        return error_of_write(written.error());
    }
    return *written == 0 ? std::nullopt : std::optional{*written};
}

core::result<std::vector<delivery_facts>> postgres::deliveries()
{
    if (std::exchange(start_.deliveries, false)) {
        return std::vector<delivery_facts>{};
    }
    const auto rows = read(
        "SELECT number, id, agent, lane, octet_length(body)::bigint, received FROM cardea.deliveries WHERE holder = $1"
        " ORDER BY number",
        pg_values{}.number(options_.self)
    );
    if (!rows) {
        return rows.error();
    }
    auto all = all_of<delivery_facts>(*rows, to_facts);
    feed_.bring_here(all, &delivery_facts::received);
    return all;
}

core::result<std::optional<kept_delivery>> postgres::delivery(std::uint64_t number)
{
    const auto rows = read(
        "SELECT id, agent, lane, address, body, received FROM cardea.deliveries WHERE number = $1 AND holder = $2",
        pg_values{}.number(number).number(options_.self)
    );
    if (!rows) {
        return rows.error();
    }
    if (rows->size() == 0) {
        return std::optional<kept_delivery>{};
    }
    kept_delivery found{
        number,
        rows->text(0, 0),
        rows->text(0, 1),
        rows->text(0, 2),
        rows->text(0, 3),
        rows->text(0, 4),
        feed_.to_here(rows->time(0, 5))
    };
    return std::optional{std::move(found)};
}

core::result<> postgres::drop_delivery(std::uint64_t number)
{
    const auto done = read("DELETE FROM cardea.deliveries WHERE number = $1", pg_values{}.number(number));
    return done ? core::result<>{} : core::result<>{done.error()};
}

}  // namespace store
