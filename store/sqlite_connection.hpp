// SQLite's handles as values, and its errors as ours: store_full if the disk has no room, else store_failed.
#pragma once

#include "core/error.hpp"

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

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

    // True: there is a row.
    core::result<bool> step();

    // A statement without rows.
    core::result<> done();

    std::string text(int column) const;
    std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }

private:
    sqlite_connection& connection_;
    std::string_view sql_;
    sqlite3_stmt* statement_ = nullptr;
    core::result<> prepared_;
    int bound_ = 0;
};

}  // namespace store
