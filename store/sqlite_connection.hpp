// SQLite's handles as values, and its errors as ours: store_full if the disk has no room, else store_failed. The file of a store: its
// directory, its lock, who may read it, and its schema.
#pragma once

#include "core/descriptor.hpp"
#include "core/error.hpp"

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace store {

class sqlite_connection {
public:
    // The file must be there. Nothing is read yet.
    static core::result<std::unique_ptr<sqlite_connection>> open(const std::string& path, const std::string& vfs);

    // Statements without parameters and without rows.
    core::result<> run(const std::string& sql);

    // The first column of the first row of a statement without parameters.
    core::result<std::int64_t> number(const std::string& sql);
    core::result<std::string> text(const std::string& sql);

    std::int64_t last_row() const noexcept { return sqlite3_last_insert_rowid(handle_.get()); }

    // FTS5 of this connection, for functions that rank; null: the library has none.
    fts5_api* full_text();

    bool in_transaction() const noexcept { return sqlite3_get_autocommit(handle_.get()) == 0; }

private:
    friend class query;

    struct closer {
        void operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }
    };
    struct finalizer {
        void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
    };

    core::error failure(int code, std::string_view sql) const;
    core::result<sqlite3_stmt*> prepared(std::string_view sql);

    std::unique_ptr<sqlite3, closer> handle_;
    std::map<std::string, std::unique_ptr<sqlite3_stmt, finalizer>, std::less<>> statements_;
};

// One use of a statement: bind in order, step, read columns. The statement itself is kept by the connection, which
// outlives the query; one query of a statement at a time.
class query {
public:
    query(sqlite_connection& connection, std::string_view sql);
    ~query();
    query(const query&) = delete;
    query& operator=(const query&) = delete;

    query& with(std::string_view text);  // not copied: it lives until the query is done
    query& with(std::int64_t number);
    query& with(std::uint64_t number) { return with(static_cast<std::int64_t>(number)); }

    // True: there is a row.
    core::result<bool> step();

    // A statement without rows.
    core::result<> done();

    std::string text(int column) const;
    std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
    std::uint64_t count(int column) const { return static_cast<std::uint64_t>(number(column)); }

private:
    sqlite_connection& connection_;
    std::string_view sql_;
    sqlite3_stmt* statement_ = nullptr;
    core::result<> prepared_;
    int bound_ = 0;
};

// Holds <path>.lock until it is destroyed; the kernel gives it back when a process dies.
class file_lock {
public:
    // Makes the directory too, if it does not exist. Waits a second for a process that has the lock, which may be ending. Fails with
    // config_invalid; the detail begins with the path.
    static core::result<file_lock> take(const std::string& path);

private:
    explicit file_lock(core::descriptor file) noexcept
        : file_{std::move(file)}
    {
    }

    core::descriptor file_;
};

enum class presence { absent, present, remains };  // remains: no database, but the log of one

// The detail of its errors begins with the path.
core::result<presence> look_for(const std::string& path);

// Makes a new file, which gets its name when it is whole: an empty file with a store's name is a damaged one.
core::result<> make_database(const std::string& path, const std::string& vfs);

// Ready for use, in the schema of this program: an older one is brought to it in one transaction. Fails with
// store_failed if it is newer or no store of ours.
core::result<std::unique_ptr<sqlite_connection>> open_database(const std::string& path, const std::string& vfs);

// Looks at every page. Fails with store_failed.
core::result<> check_database(sqlite_connection& db);

}  // namespace store
