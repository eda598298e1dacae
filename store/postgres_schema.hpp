// Brings the schema of a PostgreSQL up to date.
#pragma once

#include "core/error.hpp"
#include "store/postgres_connector.hpp"

#include <string>

namespace store {

// Each migration is one transaction, behind a lock that is tried for 30 s. Nothing is written if the schema is up to date. Fails with
// config_invalid: the role may not (the detail names `cardea store migrate`), or the schema is of a newer version that this one cannot
// read; with store_unreachable; with store_failed.
core::result<> bring_up_to_date(pg_session& session, const std::string& url);

}  // namespace store
