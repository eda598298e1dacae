// One connection to a PostgreSQL: statements with a deadline, values in binary, and what the server says of a failure. libpq's calls that
// do not block, and poll(2).
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace store {

// The values of a statement, $1 and so on.
class pg_values {
public:
    // Text that PostgreSQL takes as it is: zero bytes and what is not UTF-8 become U+FFFD.
    pg_values& text(std::string_view value);
    pg_values& bytes(std::string_view value);
    pg_values& number(std::int64_t value);
    pg_values& number(std::uint64_t value) { return number(static_cast<std::int64_t>(value)); }
    pg_values& time(core::wall_time value);

    pg_values& texts(std::span<const std::string> values);
    pg_values& byte_strings(std::span<const std::string> values);
    pg_values& numbers(std::span<const std::int64_t> values);

private:
    friend class pg_link;
    pg_values& add(Oid type, std::string value);
    pg_values& array(Oid type, Oid element, std::span<const std::string> values);

    std::vector<Oid> types_;
    std::vector<std::string> values_;
};

// What a statement returned. Columns count from 0; a column that is NULL is empty, or 0.
class pg_rows {
public:
    explicit pg_rows(PGresult* result)
        : result_{result}
    {
    }

    int size() const noexcept { return PQntuples(result_.get()); }
    bool is_null(int row, int column) const noexcept { return PQgetisnull(result_.get(), row, column) != 0; }
    std::string text(int row, int column) const;
    std::int64_t number(int row, int column) const noexcept;  // of a bigint
    std::uint64_t count(int row, int column) const noexcept { return static_cast<std::uint64_t>(number(row, column)); }
    core::wall_time time(int row, int column) const noexcept;

private:
    struct clear {
        void operator()(PGresult* result) const noexcept { PQclear(result); }
    };
    std::unique_ptr<PGresult, clear> result_;
};

struct pg_failure {
    enum class kind : std::uint8_t {
        refused,   // the server said why, in `state`; nothing happened
        unsent,    // the connection had ended before
        lost,      // it ended, or said nothing sensible; what became of the statement is not known
        too_late,  // as lost: no answer at the deadline
    };
    kind what = kind::unsent;
    std::string state{};    // SQLSTATE
    std::string message{};  // the server's or libpq's
};

inline constexpr std::string_view no_answer = "no answer in time";

template <class T>
using pg_result = boost::system::result<T, pg_failure>;

[[noreturn]] void throw_exception_from_error(const pg_failure& why, const boost::source_location& where);

// After a failure that is not `refused` it is of no more use.
class pg_link {
public:
    // What PQconnectdbParams() takes. Gives up at the deadline, or when `cancel` becomes readable.
    static pg_result<std::unique_ptr<pg_link>>
    connect(std::span<const std::pair<std::string, std::string>> options, core::steady_time deadline, int cancel);

    ~pg_link() { PQfinish(connection_); }
    pg_link(const pg_link&) = delete;
    pg_link& operator=(const pg_link&) = delete;

    // One statement, unnamed and unprepared.
    pg_result<pg_rows> run(const char* sql, const pg_values& values, core::steady_time deadline);

    // Statements without values and without rows, as one transaction if they do not say otherwise.
    pg_result<pg_rows> script(const std::string& sql, core::steady_time deadline);

    // Whether notifications have come; they are forgotten. Looks without waiting.
    bool take_notifications();

    int socket() const noexcept { return PQsocket(connection_); }
    int server_process() const noexcept { return PQbackendPID(connection_); }  // a pooler gives another number
    bool ended() noexcept;

private:
    explicit pg_link(PGconn* connection) noexcept
        : connection_{connection}
    {
    }
    pg_result<pg_rows> answer(core::steady_time deadline);
    std::optional<pg_failure> wait(short events, core::steady_time deadline);
    std::string complaint() const { return PQerrorMessage(connection_); }

    PGconn* connection_;
};

std::int64_t milliseconds_of(core::wall_time at) noexcept;

}  // namespace store
