#include "store/copy.hpp"

#include "store/postgres_connector.hpp"
#include "store/postgres_schema.hpp"
#include "store/sqlite.hpp"
#include "store/sqlite_rows.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace store {
namespace {

using core::errc;
using namespace std::chrono_literals;

constexpr auto statement_patience = 60s;  // of one statement
constexpr std::size_t at_once = 1000;

enum class type : std::uint8_t { text, bytes, number };

struct column {
    std::string name;
    type is = type::text;
    bool summed = false;  // counts for SQLite's `sum`, in the order of the columns
};

// A table that both have.
struct table {
    std::string name;
    std::vector<column> columns;
    std::string order;           // by which column
    std::string more_columns{};  // that PostgreSQL has besides, and their values of row `n`
    std::string more_values{};
    const char* there = "";  // what PostgreSQL leaves out
    bool sums() const { return std::ranges::any_of(columns, &column::summed); }
};

const std::vector<table>& tables()
{
    using enum type;
    static const std::vector<table> all{
        {"agents",
         {{"id", text, true}, {"definition", text, true}, {"version", number, true}, {"written", number, true}},
         "id"},
        {"changes",
         {{"version", number}, {"at", number}, {"who", text}, {"action", number}, {"agent", text}},
         "version",
         ", replica, token",
         ", 0, '\\x00'"},
        {"keys", {{"name", text}, {"text", text, true}}, "name"},
        {"cards",
         {{"agent", text, true},
          {"source", text, true},
          {"document", bytes, true},
          {"url", text},
          {"etag", bytes},
          {"last_modified", bytes},
          {"fetched", number},
          {"fresh_for", number}},
         "agent",
         ", number",
         ", n"},
        {"card_versions",
         {{"agent", text, true},
          {"at", number, true},
          {"sha256", text, true},
          {"size", number, true},
          {"patch", bytes, true},
          {"document", bytes},
          {"bytes", number}},
         "number"},
        {"documents",
         {{"kind", text, true}, {"name", bytes, true}, {"agent", text, true}, {"text", bytes, true}},
         "kind, name",
         ", number",
         ", n",
         " WHERE text IS NOT NULL"},
        {"tasks", {{"name", number, true}, {"word", number, true}, {"seen", number, true}}, "name", ", number", ", n"},
        {"deliveries",
         {{"number", number},
          {"id", bytes, true},
          {"agent", text, true},
          {"lane", bytes, true},
          {"address", bytes, true},
          {"body", bytes, true},
          {"received", number, true}},
         "number",
         ", holder, moved, accepted",
         ", 0, number, 0"}
    };
    return all;
}

std::string names_of(const table& of)
{
    std::string names;
    for (const auto& each : of.columns) {
        names += (names.empty() ? "" : ", ") + each.name;
    }
    return names;
}

// A row: of each column the one or the other.
struct value {
    std::string text{};
    std::int64_t number = 0;
};
using row = std::vector<value>;

std::int64_t sum_of(const table& of, const row& values)
{
    checksum sum;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (of.columns[i].summed) {
            of.columns[i].is == type::number ? sum.with(values[i].number) : sum.with(values[i].text);
        }
    }
    return sum.value();
}

// Numbers that were given, also of what is gone.
struct latest {
    std::int64_t version = 0;
    std::int64_t delivery = 0;
};

constexpr auto sql_count =
    "SELECT (SELECT count(*) FROM agents) + (SELECT count(*) FROM changes) + (SELECT count(*) FROM tasks)"
    " + (SELECT count(*) FROM documents) + (SELECT count(*) FROM deliveries)";

core::error not_empty()
{
    return core::gateway_error(errc::config_invalid, "is not empty; expected a new store");
}

// A store of which everything is read, or an empty one that is filled. Once begun it is a transaction.
class side {
public:
    virtual ~side() = default;
    virtual core::result<> begin(bool to_be_filled) = 0;
    virtual core::result<std::vector<row>> read(const table& from) = 0;
    virtual core::result<> write(const table& to, const std::vector<row>& rows) = 0;
    virtual core::result<latest> numbers() = 0;
    virtual core::result<> set_numbers(latest to) = 0;
    virtual core::result<> end() = 0;
};

class sqlite_side final : public side {
public:
    explicit sqlite_side(std::string path)
        : path_{std::move(path)}
    {
    }

    core::result<> begin(bool to_be_filled) override
    {
        const auto there = look_for(path_);
        if (!there || (!to_be_filled && *there != presence::present)) {
            return there ? core::gateway_error(errc::config_invalid, "is missing") : there.error();
        }
        if (auto made = open_sqlite({.path = path_, .ballast = 0}); !made) {
            return std::move(made).error();
        }
        auto lock = file_lock::take(path_);
        if (!lock) {
            return std::move(lock).error();
        }
        lock_ = std::make_unique<file_lock>(std::move(*lock));
        auto opened = open_database(path_, {});
        if (!opened) {
            return std::move(opened).error();
        }
        db_ = std::move(*opened);
        if (auto begun = db_->run("BEGIN IMMEDIATE"); !begun || !to_be_filled) {
            return begun;
        }
        const auto count = db_->number(sql_count);
        return count ? *count == 0 ? core::result<>{} : not_empty() : count.error();
    }

    core::result<std::vector<row>> read(const table& from) override
    {
        std::vector<row> all;
        query rows{
            *db_,
            "SELECT " + names_of(from) + (from.sums() ? ", sum" : "") + " FROM " + from.name + " ORDER BY " + from.order
        };
        auto more = rows.step();
        for (; more && *more; more = rows.step()) {
            row each;
            for (int i = 0; i < static_cast<int>(from.columns.size()); ++i) {
                const bool is_number = from.columns[static_cast<std::size_t>(i)].is == type::number;
                each.push_back(is_number ? value{{}, rows.number(i)} : value{rows.text(i)});
            }
            if (from.sums() && rows.number(static_cast<int>(from.columns.size())) != sum_of(from, each)) {
                return core::gateway_error(
                    errc::store_failed,
                    "is damaged: a row of " + from.name + " is not what was written"
                );
            }
            all.push_back(std::move(each));
        }
        return more ? core::result<std::vector<row>>{std::move(all)} : more.error();
    }

    core::result<> write(const table& to, const std::vector<row>& rows) override
    {
        std::string marks;
        for (std::size_t i = 0; i < to.columns.size() + (to.sums() ? 1 : 0); ++i) {
            marks += i == 0 ? "?" : ", ?";
        }
        const auto sql = "INSERT OR REPLACE INTO " + to.name + " (" + names_of(to) + (to.sums() ? ", sum" : "") +
                         ") VALUES (" + marks + ")";
        for (const auto& each : rows) {
            query insert{*db_, sql};
            for (std::size_t i = 0; i < each.size(); ++i) {
                to.columns[i].is == type::number ? insert.with(each[i].number) : insert.with(each[i].text);
            }
            if (to.sums()) {
                insert.with(sum_of(to, each));
            }
            if (auto done = insert.done(); !done) {
                return done;
            }
        }
        return {};
    }

    core::result<latest> numbers() override
    {
        const auto version = db_->number("SELECT max(seq) FROM sqlite_sequence WHERE name = 'changes'");
        const auto delivery = db_->number("SELECT max(seq) FROM sqlite_sequence WHERE name = 'deliveries'");
        return version && delivery ? latest{*version, *delivery}
                                   : core::result<latest>{(version ? delivery : version).error()};
    }

    core::result<> set_numbers(latest to) override
    {
        return db_->run(
            "DELETE FROM sqlite_sequence WHERE name IN ('changes', 'deliveries'); INSERT INTO sqlite_sequence (name, "
            "seq) VALUES ('changes', " +
            std::to_string(to.version) + "), ('deliveries', " + std::to_string(to.delivery) + ")"
        );
    }

    core::result<> end() override { return db_->run("COMMIT"); }

private:
    std::string path_;
    std::unique_ptr<file_lock> lock_;
    std::unique_ptr<sqlite_connection> db_;
};

class postgres_side final : public side {
public:
    postgres_side(postgres_options options, pg_target target)
        : options_{std::move(options)},
          connector_{std::move(target)},
          session_{connector_, pg_connector::use::store}
    {
    }

    core::result<> begin(bool to_be_filled) override
    {
        if (const auto link = session_.connection(later(), true); !link) {
            return error_of(link.error());
        }
        if (auto ready = bring_up_to_date(session_, options_.url); !ready) {
            return ready;
        }
        // Unqualified names, and no gateway that writes meanwhile.
        auto begun = script(
            to_be_filled ? "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path = cardea; SELECT FROM feeds "
                           "FOR UPDATE; DELETE FROM keys"
                         : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = cardea"
        );
        if (!begun || !to_be_filled) {
            return begun;
        }
        const auto count = run(sql_count, {});
        return count ? count->number(0, 0) == 0 ? core::result<>{} : not_empty() : count.error();
    }

    core::result<std::vector<row>> read(const table& from) override
    {
        std::string names;
        for (const auto& each : from.columns) {
            names += (names.empty() ? "" : ", ") + each.name + (each.is == type::number ? "::bigint" : "");
        }
        const auto rows = run("SELECT " + names + " FROM " + from.name + from.there + " ORDER BY " + from.order, {});
        std::vector<row> all;
        for (int r = 0; rows && r < rows->size(); ++r) {
            auto& each = all.emplace_back();
            for (int i = 0; i < static_cast<int>(from.columns.size()); ++i) {
                const bool is_number = from.columns[static_cast<std::size_t>(i)].is == type::number;
                each.push_back(is_number ? value{{}, rows->number(r, i)} : value{rows->text(r, i)});
            }
        }
        return rows ? core::result<std::vector<row>>{std::move(all)} : rows.error();
    }

    core::result<> write(const table& to, const std::vector<row>& rows) override
    {
        std::string marks;
        for (std::size_t i = 1; i <= to.columns.size(); ++i) {
            marks += (i == 1 ? "$" : ", $") + std::to_string(i);
        }
        const auto before = "$" + std::to_string(to.columns.size() + 1);
        const auto sql = "INSERT INTO " + to.name + " (" + names_of(to) + to.more_columns + ") SELECT " + names_of(to) +
                         to.more_values + " FROM (SELECT " + names_of(to) + ", " + before + " + its AS n FROM unnest(" +
                         marks + ") WITH ORDINALITY AS each (" + names_of(to) + ", its)) AS all_of";
        for (std::size_t from = 0; from < rows.size(); from += at_once) {
            const auto many = std::min(at_once, rows.size() - from);
            pg_values values;
            for (std::size_t i = 0; i < to.columns.size(); ++i) {
                add_column(values, to.columns[i].is, {rows.data() + from, many}, i);
            }
            if (const auto done = run(sql, values.number(std::uint64_t{from})); !done) {
                return done.error();
            }
        }
        return {};
    }

    core::result<latest> numbers() override
    {
        const auto rows = run("SELECT number FROM feeds WHERE name IN ('agents', 'deliveries') ORDER BY name", {});
        return rows ? core::result<latest>{latest{rows->number(0, 0), rows->number(1, 0)}} : rows.error();
    }

    core::result<> set_numbers(latest to) override
    {
        const auto hosts =
            run("INSERT INTO hosts SELECT lower(name), id FROM agents, "
                "json_array_elements_text(definition::json->'hosts') AS name"
                " WHERE json_typeof(definition::json->'hosts') = 'array' ON CONFLICT DO NOTHING",
                {});
        if (!hosts) {
            return hosts.error();
        }
        const auto done =
            run("UPDATE feeds SET number = CASE name WHEN 'agents' THEN $1 WHEN 'deliveries' THEN $2"
                " WHEN 'cards' THEN (SELECT count(*) FROM cards) WHEN 'tasks' THEN (SELECT count(*) FROM tasks)"
                " WHEN 'documents' THEN (SELECT count(*) FROM documents) ELSE number END",
                pg_values{}.number(to.version).number(to.delivery));
        return done ? core::result<>{} : core::result<>{done.error()};
    }

    core::result<> end() override { return script("COMMIT"); }

private:
    static core::steady_time later() { return std::chrono::steady_clock::now() + statement_patience; }

    static void add_column(pg_values& values, type is, std::span<const row> rows, std::size_t column)
    {
        std::vector<std::int64_t> numbers;
        std::vector<std::string> texts;
        for (const auto& each : rows) {
            is == type::number ? numbers.push_back(each[column].number) : texts.push_back(each[column].text);
        }
        is == type::number ? values.numbers(numbers)
        : is == type::text ? values.texts(texts)
                           : values.byte_strings(texts);
    }

    core::result<> script(const char* sql)
    {
        const auto link = session_.connection(later(), true);
        const auto done = link ? (*link)->script(sql, later()) : pg_result<pg_rows>{link.error()};
        return done ? core::result<>{} : core::result<>{error_of(done.error())};
    }

    core::result<pg_rows> run(const std::string& sql, const pg_values& values)
    {
        auto rows = session_.link()->run(sql.c_str(), values, later());
        return rows ? core::result<pg_rows>{std::move(*rows)} : core::result<pg_rows>{error_of(rows.error())};
    }

    postgres_options options_;
    pg_connector connector_;
    pg_session session_;
};

core::result<std::unique_ptr<side>> side_of(const place& where)
{
    if (!where.sqlite.empty()) {
        return std::unique_ptr<side>{std::make_unique<sqlite_side>(where.sqlite)};
    }
    auto target = read_target(where.postgres);
    if (!target) {
        return std::move(target).error();
    }
    return std::unique_ptr<side>{std::make_unique<postgres_side>(where.postgres, std::move(*target))};
}

core::error about(const place& where, core::error why)
{
    why.detail = (where.sqlite.empty() ? where.postgres.url : where.sqlite) + ": " + why.detail;
    return why;
}

}  // namespace

core::result<copied> copy(const place& from, const place& to)
{
    auto source = side_of(from);
    auto target = side_of(to);
    if (!source || !target) {
        return source ? about(to, target.error()) : about(from, source.error());
    }
    if (auto begun = (*source)->begin(false); !begun) {
        return about(from, begun.error());
    }
    if (auto begun = (*target)->begin(true); !begun) {
        return about(to, begun.error());
    }
    copied done;
    for (const auto& each : tables()) {
        const auto rows = (*source)->read(each);
        if (!rows) {
            return about(from, rows.error());
        }
        if (auto written = (*target)->write(each, *rows); !written) {
            return about(to, written.error());
        }
        done.agents = each.name == "agents" ? rows->size() : done.agents;
        done.changes = each.name == "changes" ? rows->size() : done.changes;
        done.deliveries = each.name == "deliveries" ? rows->size() : done.deliveries;
    }
    const auto numbers = (*source)->numbers();
    if (!numbers) {
        return about(from, numbers.error());
    }
    auto ended = (*target)->set_numbers(*numbers);
    ended = ended ? (*target)->end() : std::move(ended);
    return ended ? core::result<copied>{done} : core::result<copied>{about(to, ended.error())};
}

}  // namespace store
