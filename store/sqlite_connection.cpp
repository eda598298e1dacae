#include "store/sqlite_connection.hpp"

#include "store/sqlite.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace store {
namespace {

constexpr int patience = 5000;  // ms: how long another process may hold the file

bool is_no_room(int number) noexcept
{
    return number == ENOSPC || number == EDQUOT || number == EFBIG;
}

bool had_no_room(sqlite3_file* file) noexcept
{
    int number = 0;
    return file != nullptr && file->pMethods != nullptr &&
           file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK && is_no_room(number);
}

// SQLite has a code of its own for ENOSPC alone, and sqlite3_system_errno() knows nothing of what failed in a COMMIT: only
// the files themselves do.
bool no_room(sqlite3* handle, int code) noexcept
{
    const int kind = code & 0xff;
    if (kind != SQLITE_IOERR || code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ) {
        return kind == SQLITE_FULL;
    }
    sqlite3_file* log = nullptr;
    sqlite3_file* database = nullptr;
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, static_cast<void*>(&log));
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&database));
    return is_no_room(sqlite3_system_errno(handle)) || had_no_room(log) || had_no_room(database);
}

// A process that was killed holds its files until the kernel has taken it apart, also when its peers see that it is gone.
constexpr std::chrono::milliseconds longest_end{1000};
constexpr std::chrono::milliseconds look_again{5};

// errno as flock(2) leaves it.
bool lock(int file)
{
    const auto until = std::chrono::steady_clock::now() + longest_end;
    while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK || std::chrono::steady_clock::now() >= until) {
            return false;
        }
        std::this_thread::sleep_for(look_again);
    }
    return true;
}

core::error unusable(std::string_view problem, int number)
{
    return core::gateway_error(
        core::errc::config_invalid,
        std::string{problem} + ": " + std::generic_category().message(number)
    );
}

std::filesystem::path directory_of(const std::string& path)
{
    const auto directory = std::filesystem::path{path}.parent_path();
    return directory.empty() ? std::filesystem::path{"."} : directory;
}

// With access for nobody else: definitions hold credentials.
core::result<> make_directories(const std::filesystem::path& directory)
{
    if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) {
        return {};
    }
    if (errno == ENOENT && directory.has_parent_path() && directory.parent_path() != directory) {
        if (auto parent = make_directories(directory.parent_path()); !parent) {
            return parent;
        }
        if (::mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST) {
            return {};
        }
    }
    return unusable(directory.string() + ": cannot be made", errno);
}

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
    "CREATE TABLE card_versions (number INTEGER PRIMARY KEY AUTOINCREMENT, agent TEXT NOT NULL, at INTEGER NOT NULL,"
    " sha256 TEXT NOT NULL, size INTEGER NOT NULL, patch TEXT NOT NULL, document TEXT NOT NULL, bytes INTEGER NOT NULL,"
    " sum INTEGER NOT NULL) STRICT;"
    "CREATE INDEX card_versions_by_agent ON card_versions (agent, number, bytes);",
    "CREATE TABLE documents (kind TEXT NOT NULL, name TEXT NOT NULL, agent TEXT NOT NULL, text TEXT NOT NULL,"
    " sum INTEGER NOT NULL, PRIMARY KEY (kind, name)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX documents_by_agent ON documents (agent);",
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

// An empty file for a new database; removes the rest of an attempt that was cut off.
core::result<> make_empty(const std::string& path)
{
    for (const auto* part : {"", "-wal", "-shm", "-journal"}) {
        ::unlink((path + part).c_str());
    }
    const core::descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    return file.open() ? core::result<>{} : core::result<>{unusable("cannot be made", errno)};
}

// Gives the database its name, for good.
core::result<> rename_durably(const std::string& from, const std::string& to)
{
    if (::rename(from.c_str(), to.c_str()) != 0) {
        return unusable("cannot be made", errno);
    }
    const core::descriptor directory{::open(directory_of(to).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    const bool synced = directory.open() && ::fsync(directory.number()) == 0;
    return synced ? core::result<>{} : core::result<>{unusable("cannot be made durable", errno)};
}

}  // namespace

core::result<std::unique_ptr<sqlite_connection>>
sqlite_connection::open(const std::string& path, const std::string& vfs)
{
    auto connection = std::make_unique<sqlite_connection>();
    sqlite3* handle = nullptr;
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    const int code = sqlite3_open_v2(path.c_str(), &handle, flags, vfs.empty() ? nullptr : vfs.c_str());
    connection->handle_.reset(handle);
    if (code != SQLITE_OK) {
        return connection->failure(code, "open");
    }
    sqlite3_busy_timeout(handle, patience);
    return connection;
}

core::result<> sqlite_connection::run(const std::string& sql)
{
    const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
    return code == SQLITE_OK ? core::result<>{} : core::result<>{failure(code, sql)};
}

core::result<std::int64_t> sqlite_connection::number(const std::string& sql)
{
    query asked{*this, sql};
    auto row = asked.step();
    if (!row) {
        return std::move(row).error();
    }
    return *row ? asked.number(0) : 0;
}

core::result<std::string> sqlite_connection::text(const std::string& sql)
{
    query asked{*this, sql};
    auto row = asked.step();
    if (!row) {
        return std::move(row).error();
    }
    return *row ? asked.text(0) : std::string{};
}

fts5_api* sqlite_connection::full_text()
{
    fts5_api* found = nullptr;
    if (const auto statement = prepared("SELECT fts5(?1)")) {
        sqlite3_bind_pointer(*statement, 1, static_cast<void*>(&found), "fts5_api_ptr", nullptr);
        sqlite3_step(*statement);
        sqlite3_reset(*statement);
    }
    return found;
}

core::error sqlite_connection::failure(int code, std::string_view sql) const
{
    // The statement's first word and SQLite's own words: neither has a value of ours in it.
    return core::gateway_error(
        no_room(handle_.get(), code) ? core::errc::store_full : core::errc::store_failed,
        std::string{sql.substr(0, sql.find(' '))} + ": " + sqlite3_errmsg(handle_.get()) + " (" + std::to_string(code) +
            ")"
    );
}

core::result<sqlite3_stmt*> sqlite_connection::prepared(std::string_view sql)
{
    auto found = statements_.find(sql);
    if (found == statements_.end()) {
        sqlite3_stmt* statement = nullptr;
        const int code = sqlite3_prepare_v3(
            handle_.get(),
            sql.data(),
            static_cast<int>(sql.size()),
            SQLITE_PREPARE_PERSISTENT,
            &statement,
            nullptr
        );
        if (code != SQLITE_OK) {
            return failure(code, sql);
        }
        found = statements_.emplace(std::string{sql}, statement).first;
    }
    return found->second.get();
}

query::query(sqlite_connection& connection, std::string_view sql)
    : connection_{connection},
      sql_{sql}
{
    auto statement = connection_.prepared(sql);
    if (statement) {
        statement_ = *statement;
    } else {
        prepared_ = std::move(statement).error();
    }
}

query::~query()
{
    if (statement_ != nullptr) {
        sqlite3_reset(statement_);
        sqlite3_clear_bindings(statement_);
    }
}

query& query::with(std::string_view text)
{
    if (statement_ != nullptr) {
        // A null pointer would bind NULL, and an empty view may have one.
        const char* bytes = text.empty() ? "" : text.data();
        sqlite3_bind_text64(statement_, ++bound_, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8);
    }
    return *this;
}

query& query::with(std::int64_t number)
{
    if (statement_ != nullptr) {
        sqlite3_bind_int64(statement_, ++bound_, number);
    }
    return *this;
}

core::result<bool> query::step()
{
    if (!prepared_) {
        return prepared_.error();
    }
    const int code = sqlite3_step(statement_);
    if (code == SQLITE_ROW || code == SQLITE_DONE) {
        return code == SQLITE_ROW;
    }
    return connection_.failure(code, sql_);
}

core::result<> query::done()
{
    auto row = step();
    return row ? core::result<>{} : core::result<>{std::move(row).error()};
}

std::string query::text(int column) const
{
    const auto* bytes = sqlite3_column_text(statement_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes == nullptr ? std::string{} : std::string(reinterpret_cast<const char*>(bytes), size);
}

core::result<file_lock> file_lock::take(const std::string& path)
{
    if (auto directories = make_directories(directory_of(path)); !directories) {
        return std::move(directories).error();
    }
    const auto name = path + ".lock";
    file_lock held{core::descriptor{::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)}};
    if (!held.file_.open()) {
        return unusable(name + ": cannot be opened", errno);
    }
    if (!lock(held.file_.number())) {
        if (errno == EWOULDBLOCK) {
            return core::gateway_error(core::errc::config_invalid, path + ": is in use by another process");
        }
        return unusable(name + ": cannot be locked", errno);
    }
    return held;
}

core::result<presence> look_for(const std::string& path)
{
    struct stat found{};
    if (::stat(path.c_str(), &found) == 0) {
        if (!S_ISREG(found.st_mode)) {
            return core::gateway_error(core::errc::config_invalid, path + ": is no file");
        }
        return presence::present;
    }
    if (errno != ENOENT) {
        return unusable(path + ": cannot be looked at", errno);
    }
    return ::stat((path + "-wal").c_str(), &found) == 0 ? presence::remains : presence::absent;
}

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
