// The schema `cardea` of a PostgreSQL: its tables, and the functions that write. A write is one call of one function, which is a transaction
// of its own: it raises the number of its feed first, and that row's lock puts commits in the order of the numbers, without gaps.
#pragma once

#include "core/error.hpp"
#include "store/postgres_connector.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace store {

// migrations[n] makes schema n + 1 of schema n, and only adds. What has been released never changes.
struct postgres_migration {
    std::string_view schema;  // tables, and functions that write
    std::string_view feed;    // functions of the feed
};
extern const std::array<postgres_migration, 1> postgres_migrations;
extern const std::string_view first_feed_functions;

// The newest schema that this program needs; a database whose `meta.reader` is higher belongs to a newer program.
inline constexpr std::int64_t postgres_schema = 1;

// States of its own that a function fails with (SQLSTATE).
namespace sql_state {
inline constexpr std::string_view isolation = "ZC001";  // transactions are not read committed
inline constexpr std::string_view newer = "ZC002";      // the schema is of a newer version
inline constexpr std::string_view voided = "ZC003";     // settle() has found that this write did not happen
inline constexpr std::string_view conflict = "ZC004";   // the message is the version that is there
inline constexpr std::string_view not_found = "ZC005";
inline constexpr std::string_view host_taken = "ZC006";  // the message says by whom
inline constexpr std::string_view busy = "ZC007";        // another process migrates
inline constexpr std::string_view migrated = "ZC008";    // another process has migrated
}  // namespace sql_state

// Each migration is one transaction, behind a lock that is tried for 30 s. Nothing is written if the schema is up to date. Fails with
// config_invalid: the role may not (the detail names `cardea store migrate`), or the schema is of a newer version that this one cannot
// read; with store_unreachable; with store_failed.
core::result<> bring_up_to_date(pg_session& session, const std::string& url);

}  // namespace store
