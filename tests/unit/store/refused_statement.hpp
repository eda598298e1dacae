// A statement that SQLite refuses when a test says so. One thread.
#pragma once

#include <string>

namespace store::testing {

// Connections that are opened from now on refuse a statement of this kind (SQLITE_TRANSACTION, SQLITE_PRAGMA) and name
// ("ROLLBACK", "wal_autocheckpoint"), once: after `skip` of them.
void refuse_once(int kind, std::string name, int skip = 0);

// Whether that statement came.
bool has_been_refused();

}  // namespace store::testing
