#include "store/sqlite_schema.hpp"

#include "store/sqlite.hpp"
#include "store/sqlite_file.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace store {
namespace {

using core::errc;

constexpr std::int64_t application = 0x43726461;  // "Crda", in the header of the file: whose it is

// migrations[n] makes schema n + 1 of schema n. What has been released never changes.
constexpr std::array migrations{
    "CREATE TABLE agents (id TEXT PRIMARY KEY, definition TEXT NOT NULL, version INTEGER NOT NULL,"
    " written INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT;"
    "CREATE TABLE changes (version INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, who TEXT NOT NULL,"
    " action INTEGER NOT NULL, agent TEXT NOT NULL) STRICT;"
    "CREATE TABLE cards (agent TEXT PRIMARY KEY, source TEXT NOT NULL, document TEXT NOT NULL, url TEXT NOT NULL,"
    " etag TEXT NOT NULL, last_modified TEXT NOT NULL, fetched INTEGER NOT NULL, fresh_for INTEGER NOT NULL,"
    " sum INTEGER NOT NULL) STRICT;",
    "CREATE TABLE keys (name TEXT PRIMARY KEY, text TEXT NOT NULL, sum INTEGER NOT NULL) STRICT;",
    "CREATE TABLE deliveries (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, agent TEXT NOT NULL,"
    " lane TEXT NOT NULL, address TEXT NOT NULL, body TEXT NOT NULL, received INTEGER NOT NULL, sum INTEGER NOT NULL)"
    " STRICT;",
    "CREATE TABLE tasks (name INTEGER PRIMARY KEY, word INTEGER NOT NULL, seen INTEGER NOT NULL,"
    " sum INTEGER NOT NULL) STRICT;"
    "CREATE INDEX tasks_by_time ON tasks (seen, name);",
};

core::error not_usable(std::string why)
{
    return core::gateway_error(errc::store_failed, std::move(why));
}

core::result<> migrate(sqlite_connection& db, std::size_t from)
{
    std::string all = "BEGIN IMMEDIATE;";
    for (auto i = from; i < migrations.size(); ++i) {
        all += migrations[i];
    }
    all += "PRAGMA user_version=" + std::to_string(migrations.size()) + ";COMMIT";
    return db.run(all);
}

core::result<> set_up(sqlite_connection& db)
{
    auto done = db.run(
        "PRAGMA synchronous=FULL;PRAGMA secure_delete=ON;PRAGMA trusted_schema=OFF;PRAGMA cell_size_check=ON;"
        "PRAGMA temp_store=MEMORY"
    );
    if (!done) {
        return done;
    }
    const auto journal = db.text("PRAGMA journal_mode=WAL");
    if (!journal) {
        return journal.error();
    }
    if (*journal != "wal") {
        return not_usable("cannot have a write-ahead log on this file system");
    }
    return {};
}

}  // namespace

std::uint64_t sqlite_schema() noexcept
{
    return migrations.size();
}

core::result<> make_database(const std::string& path, const std::string& vfs)
{
    const auto temporary = path + ".new";
    if (auto created = make_empty(temporary); !created) {
        return created;
    }
    {
        auto db = sqlite_connection::open(temporary, vfs);
        if (!db) {
            return std::move(db).error();
        }
        auto done = (*db)->run("PRAGMA synchronous=FULL;PRAGMA application_id=" + std::to_string(application));
        if (done) {
            done = migrate(**db, 0);
        }
        if (!done) {
            return done;
        }
    }
    return rename_durably(temporary, path);
}

core::result<std::unique_ptr<sqlite_connection>> open_database(const std::string& path, const std::string& vfs)
{
    auto opened = sqlite_connection::open(path, vfs);
    if (!opened) {
        return opened;
    }
    auto& db = **opened;
    const auto owner = db.number("PRAGMA application_id");
    if (!owner) {
        return owner.error();
    }
    if (*owner != application) {
        return not_usable("is not a store of cardea");
    }
    const auto schema = db.number("PRAGMA user_version");
    if (!schema) {
        return schema.error();
    }
    const auto known = static_cast<std::int64_t>(migrations.size());
    if (*schema < 1 || *schema > known) {
        const std::string_view advice =
            *schema > known ? "; start the newer Cardea that wrote it, or put back a copy from before the upgrade" : "";
        return not_usable(
            "has the schema " + std::to_string(*schema) + ", and this Cardea reads 1 to " + std::to_string(known) +
            std::string{advice}
        );
    }
    auto done = set_up(db);
    if (done && *schema < known) {
        done = migrate(db, static_cast<std::size_t>(*schema));
    }
    if (!done) {
        return std::move(done).error();
    }
    return opened;
}

core::result<> check_database(sqlite_connection& db)
{
    const auto verdict = db.text("PRAGMA integrity_check(1)");
    if (!verdict) {
        return verdict.error();
    }
    return *verdict == "ok" ? core::result<>{} : core::result<>{not_usable("is damaged: " + *verdict)};
}

}  // namespace store
