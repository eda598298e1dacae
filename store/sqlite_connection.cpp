#include "store/sqlite_connection.hpp"

#include <cerrno>
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

}  // namespace store
