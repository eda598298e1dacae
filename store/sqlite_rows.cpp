#include "store/sqlite_rows.hpp"

#include <chrono>
#include <utility>

namespace store {
namespace {

using core::errc;

constexpr std::string_view session_key_name = "session";

std::int64_t to_number(core::wall_time at)
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

core::wall_time to_time(std::int64_t milliseconds)
{
    return core::wall_time{std::chrono::milliseconds{milliseconds}};
}

std::int64_t sum_of(const record& r)
{
    return checksum{}.with(r.id).with(r.definition).with(r.version).with(to_number(r.written)).value();
}

std::int64_t sum_of(const kept_task& t)
{
    return checksum{}.with(t.name).with(t.word).with(to_number(t.seen)).value();
}

// Without the times, which are renewed while the document stays.
std::int64_t sum_of(const kept_card& c)
{
    return checksum{}.with(c.agent).with(c.source).with(c.document).value();
}

std::int64_t sum_of(const kept_document& d)
{
    return checksum{}.with(d.kind).with(d.name).with(d.agent).with(d.text).value();
}

std::int64_t sum_of(const kept_delivery& d)
{
    return checksum{}
        .with(d.id)
        .with(d.agent)
        .with(d.lane)
        .with(d.address)
        .with(d.body)
        .with(to_number(d.received))
        .value();
}

// Without the document, which goes when the agent's next card comes.
std::int64_t sum_of(const card_version& v)
{
    return checksum{}
        .with(v.agent)
        .with(to_number(v.at))
        .with(v.sha256)
        .with(v.size)
        .with(v.patch.value_or(std::string{}))
        .value();
}

core::result<std::optional<record>> to_record(const query& row)
{
    record r{row.text(0), row.text(1), row.count(2), to_time(row.number(3))};
    if (row.number(4) != sum_of(r)) {
        return core::gateway_error(errc::store_failed, "is damaged: the record of an agent is not what was written");
    }
    return std::optional{std::move(r)};
}

// The rows that `read` returns; it returns nothing for one that is left out.
template <class T, class Read>
core::result<std::vector<T>> all_rows(query& rows, Read read)
{
    std::vector<T> all;
    auto more = rows.step();
    for (; more && *more; more = rows.step()) {
        core::result<std::optional<T>> each = read(rows);
        if (!each) {
            return std::move(each).error();
        }
        if (*each) {
            all.push_back(std::move(**each));
        }
    }
    if (!more) {
        return std::move(more).error();
    }
    return all;
}

// As all_rows(), for one row that may be absent.
template <class T, class Read>
core::result<std::optional<T>> one_row(query& row, Read read)
{
    const auto there = row.step();
    if (!there) {
        return there.error();
    }
    return *there ? core::result<std::optional<T>>{read(row)} : std::optional<T>{};
}

core::result<std::uint64_t> version_of(sqlite_connection& db, std::string_view id)
{
    query row{db, "SELECT version FROM agents WHERE id = ?"};
    const auto there = row.with(id).step();
    if (!there) {
        return there.error();
    }
    return *there ? row.count(0) : 0;
}

core::result<std::uint64_t> note(sqlite_connection& db, std::string_view id, action kind, const author& by)
{
    query line{db, "INSERT INTO changes (at, who, action, agent) VALUES (?, ?, ?, ?)"};
    auto done = line.with(to_number(by.at)).with(by.who).with(static_cast<std::int64_t>(kind)).with(id).done();
    if (!done) {
        return std::move(done).error();
    }
    const auto version = db.last_row();
    query old{db, "DELETE FROM changes WHERE version <= ?"};
    done = old.with(version - static_cast<std::int64_t>(changes_kept)).done();
    return done ? core::result<std::uint64_t>{static_cast<std::uint64_t>(version)} : std::move(done).error();
}

}  // namespace

core::result<std::vector<record>> read_records(sqlite_connection& db)
{
    query rows{db, "SELECT id, definition, version, written, sum FROM agents ORDER BY id"};
    return all_rows<record>(rows, to_record);
}

core::result<std::optional<record>> read_record(sqlite_connection& db, std::string_view id)
{
    query row{db, "SELECT id, definition, version, written, sum FROM agents WHERE id = ?"};
    return one_row<record>(row.with(id), to_record);
}

core::result<std::vector<change>> read_changes(sqlite_connection& db, std::uint64_t after, std::size_t most)
{
    query rows{db, "SELECT version, at, who, action, agent FROM changes WHERE version > ? ORDER BY version LIMIT ?"};
    return all_rows<change>(rows.with(after).with(most), [](const query& row) {
        const auto what = static_cast<action>(row.number(3));
        return std::optional{change{row.count(0), to_time(row.number(1)), row.text(2), what, row.text(4)}};
    });
}

core::result<std::optional<kept_card>> read_card(sqlite_connection& db, std::string_view agent)
{
    query one{
        db,
        "SELECT agent, source, document, url, etag, last_modified, fetched, fresh_for, sum FROM cards WHERE agent = ?"
    };
    return one_row<kept_card>(one.with(agent), [](const query& row) {
        kept_card found{row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5), {}, {}};
        found.fetched = to_time(row.number(6));
        found.fresh_for = core::duration{row.number(7)};
        return row.number(8) == sum_of(found) ? std::optional{std::move(found)} : std::nullopt;
    });
}

core::result<std::uint64_t> write_record(sqlite_connection& db, record& wanted, const author& by)
{
    const auto there = version_of(db, wanted.id);
    if (!there) {
        return there.error();
    }
    if (auto expected = check_version(by, *there); !expected) {
        return std::move(expected).error();
    }
    auto version = note(db, wanted.id, *there == 0 ? action::created : action::updated, by);
    if (!version) {
        return version;
    }
    wanted.version = *version;
    query row{
        db,
        "INSERT INTO agents (id, definition, version, written, sum) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET definition = excluded.definition, version = excluded.version,"
        " written = excluded.written, sum = excluded.sum"
    };
    row.with(wanted.id).with(wanted.definition).with(wanted.version);
    auto done = row.with(to_number(wanted.written)).with(sum_of(wanted)).done();
    return done ? version : core::result<std::uint64_t>{std::move(done).error()};
}

core::result<std::uint64_t> remove_record(sqlite_connection& db, std::string_view id, const author& by)
{
    const auto there = version_of(db, id);
    if (!there) {
        return there.error();
    }
    if (*there == 0) {
        return core::caller_error(errc::agent_not_found);
    }
    if (auto expected = check_version(by, *there); !expected) {
        return std::move(expected).error();
    }
    for (const auto* sql :
         {"DELETE FROM agents WHERE id = ?",
          "DELETE FROM cards WHERE agent = ?",
          "DELETE FROM card_versions WHERE agent = ?",
          "DELETE FROM documents WHERE agent = ?"}) {
        query rows{db, sql};
        if (auto done = rows.with(id).done(); !done) {
            return std::move(done).error();
        }
    }
    return note(db, id, action::deleted, by);
}

core::result<> write_tasks(sqlite_connection& db, const std::vector<kept_task>& tasks)
{
    for (const auto& each : tasks) {
        query row{db, "INSERT OR REPLACE INTO tasks (name, word, seen, sum) VALUES (?, ?, ?, ?)"};
        row.with(each.name).with(each.word);
        if (auto done = row.with(to_number(each.seen)).with(sum_of(each)).done(); !done) {
            return done;
        }
    }
    return {};
}

core::result<> remove_tasks(sqlite_connection& db, core::wall_time since, std::size_t most)
{
    query old{db, "DELETE FROM tasks WHERE seen < ?"};
    if (auto done = old.with(to_number(since)).done(); !done) {
        return done;
    }
    query beyond{
        db,
        "DELETE FROM tasks WHERE name IN (SELECT name FROM tasks ORDER BY seen DESC, name DESC LIMIT -1 OFFSET ?)"
    };
    return beyond.with(most).done();
}

core::result<std::vector<kept_task>> read_tasks(sqlite_connection& db)
{
    query rows{db, "SELECT name, word, seen, sum FROM tasks ORDER BY seen, name"};
    return all_rows<kept_task>(rows, [](const query& row) {
        const kept_task each{row.count(0), row.count(1), to_time(row.number(2))};
        return row.number(3) == sum_of(each) ? std::optional{each} : std::nullopt;
    });
}

core::result<> write_card(sqlite_connection& db, const kept_card& card)
{
    const bool renewed = card.document.empty();
    query row{
        db,
        renewed ? "UPDATE cards SET url = ?, etag = ?, last_modified = ?, fetched = ?, fresh_for = ?"
                  " WHERE agent = ? AND source = ?"
                : "INSERT OR REPLACE INTO cards"
                  " (url, etag, last_modified, fetched, fresh_for, agent, source, document, sum)"
                  " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    };
    row.with(card.url).with(card.etag).with(card.last_modified).with(to_number(card.fetched));
    row.with(card.fresh_for.count()).with(card.agent).with(card.source);
    const auto sum = sum_of(card);
    if (!renewed) {
        row.with(card.document).with(sum);
    }
    return row.done();
}

core::result<> write_card_version(sqlite_connection& db, const card_version& version)
{
    query before{
        db,
        "UPDATE card_versions SET document = '', bytes = bytes - length(CAST(document AS BLOB))"
        " WHERE agent = ? AND document <> ''"
    };
    if (auto done = before.with(version.agent).done(); !done) {
        return done;
    }
    query row{
        db,
        "INSERT INTO card_versions (agent, at, sha256, size, patch, document, bytes, sum)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    };
    const auto patch = version.patch.value_or(std::string{});
    const auto sum = sum_of(version);
    row.with(version.agent).with(to_number(version.at)).with(version.sha256).with(version.size).with(patch);
    if (auto done = row.with(version.document).with(bytes_of(version)).with(sum).done(); !done) {
        return done;
    }
    query beyond{
        db,
        "DELETE FROM card_versions WHERE number IN"
        " (SELECT number FROM card_versions WHERE agent = ? ORDER BY number DESC LIMIT -1 OFFSET ?)"
    };
    return beyond.with(version.agent).with(card_versions_kept).done();
}

core::result<std::uint64_t> size_of_card_versions(sqlite_connection& db)
{
    const auto all = db.number("SELECT coalesce(sum(bytes), 0) FROM card_versions INDEXED BY card_versions_by_agent");
    return all ? core::result<std::uint64_t>{static_cast<std::uint64_t>(*all)} : all.error();
}

core::result<> remove_card_versions(sqlite_connection& db, std::uint64_t most)
{
    const auto all = size_of_card_versions(db);
    if (!all) {
        return all.error();
    }
    auto over = static_cast<std::int64_t>(*all) - static_cast<std::int64_t>(most);
    while (over > 0) {
        query oldest{
            db,
            "DELETE FROM card_versions WHERE number = (SELECT min(number) FROM card_versions) RETURNING bytes"
        };
        const auto there = oldest.step();
        if (!there) {
            return there.error();
        }
        if (!*there) {
            break;
        }
        over -= oldest.number(0);
        if (auto done = oldest.done(); !done) {
            return done;
        }
    }
    return {};
}

core::result<std::vector<card_version>> read_card_versions(sqlite_connection& db, std::string_view agent)
{
    query rows{
        db,
        "SELECT at, sha256, size, patch, document, sum FROM card_versions WHERE agent = ? ORDER BY number DESC"
    };
    return all_rows<card_version>(rows.with(agent), [agent](const query& row) {
        auto patch = row.text(3);
        card_version found{
            .agent = std::string{agent},
            .at = to_time(row.number(0)),
            .sha256 = row.text(1),
            .size = row.count(2),
            .patch = patch.empty() ? std::nullopt : std::optional{std::move(patch)},
            .document = row.text(4)
        };
        return row.number(5) == sum_of(found) ? std::optional{std::move(found)} : std::nullopt;
    });
}

core::result<std::uint64_t> write_delivery(sqlite_connection& db, const kept_delivery& delivery)
{
    query row{
        db,
        "INSERT INTO deliveries (id, agent, lane, address, body, received, sum) VALUES (?, ?, ?, ?, ?, ?, ?)"
    };
    row.with(delivery.id).with(delivery.agent).with(delivery.lane).with(delivery.address).with(delivery.body);
    auto done = row.with(to_number(delivery.received)).with(sum_of(delivery)).done();
    return done ? core::result<std::uint64_t>{static_cast<std::uint64_t>(db.last_row())}
                : core::result<std::uint64_t>{std::move(done).error()};
}

core::result<std::vector<delivery_facts>> read_deliveries(sqlite_connection& db)
{
    query rows{
        db,
        "SELECT number, id, agent, lane, length(CAST(body AS BLOB)), received FROM deliveries ORDER BY number"
    };
    return all_rows<delivery_facts>(rows, [](const query& row) {
        return std::optional{
            delivery_facts{row.count(0), row.text(1), row.text(2), row.text(3), row.count(4), to_time(row.number(5))}
        };
    });
}

core::result<std::optional<kept_delivery>> read_delivery(sqlite_connection& db, std::uint64_t number)
{
    query one{db, "SELECT id, agent, lane, address, body, received, sum FROM deliveries WHERE number = ?"};
    return one_row<kept_delivery>(one.with(number), [number](const query& row) {
        kept_delivery
            found{number, row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), to_time(row.number(5))};
        return row.number(6) == sum_of(found) ? std::optional{std::move(found)} : std::nullopt;
    });
}

core::result<> remove_delivery(sqlite_connection& db, std::uint64_t number)
{
    query row{db, "DELETE FROM deliveries WHERE number = ?"};
    return row.with(number).done();
}

core::result<> write_document(sqlite_connection& db, const kept_document& document)
{
    query row{db, "INSERT OR REPLACE INTO documents (kind, name, agent, text, sum) VALUES (?, ?, ?, ?, ?)"};
    row.with(document.kind).with(document.name).with(document.agent).with(document.text);
    return row.with(sum_of(document)).done();
}

core::result<> remove_document(sqlite_connection& db, std::string_view kind, std::string_view name)
{
    query row{db, "DELETE FROM documents WHERE kind = ? AND name = ?"};
    return row.with(kind).with(name).done();
}

core::result<std::vector<kept_document>> read_documents(sqlite_connection& db, std::string_view kind)
{
    query rows{db, "SELECT name, agent, text, sum FROM documents WHERE kind = ? ORDER BY name"};
    bool damaged = false;
    auto all = all_rows<kept_document>(rows.with(kind), [&](const query& row) {
        kept_document found{std::string{kind}, row.text(0), row.text(1), row.text(2)};
        damaged = damaged || row.number(3) != sum_of(found);
        return std::optional{std::move(found)};
    });
    if (all && damaged) {
        return core::gateway_error(core::errc::store_failed, "read: a document is not what was written");
    }
    return all;
}

core::result<std::optional<core::secret>> read_session_key(sqlite_connection& db)
{
    query one{db, "SELECT text, sum FROM keys WHERE name = ?"};
    return one_row<core::secret>(one.with(session_key_name), [](const query& row) {
        core::secret found{row.text(0)};
        const bool whole = row.number(1) == checksum{}.with(found.reveal()).value();
        return whole ? std::optional{std::move(found)} : std::nullopt;
    });
}

core::result<> write_session_key(sqlite_connection& db, const core::secret& text)
{
    query row{db, "INSERT OR REPLACE INTO keys (name, text, sum) VALUES (?, ?, ?)"};
    return row.with(session_key_name).with(text.reveal()).with(checksum{}.with(text.reveal()).value()).done();
}

}  // namespace store
