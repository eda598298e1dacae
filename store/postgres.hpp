// A store in PostgreSQL that several gateways share, none of which is special (docs/operations/replicas.md). It has two connections, for
// the thread of the engine and for that of the feed, which a third thread makes.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "store/engine.hpp"
#include "store/feed.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace store {

struct postgres_options {
    std::string url;              // postgresql://..., without a password
    std::string password_file{};  // read at each connection; empty: libpq's own places
    core::duration timeout = std::chrono::seconds{3};
    bool notify = true;
    replica_id self = 0;
    const core::logger* log = nullptr;  // outlives the store; null: it says nothing
};

// Whether a configuration's `store` means this store.
bool names_postgres(std::string_view store) noexcept;

// Connects, brings the schema up to date, and reads all that the functions of the start give: they cannot fail any more. Fails with
// store_unreachable, which may be tried again, and with config_invalid: the role may not make the schema (the detail names
// `cardea store migrate`), or the schema is of a newer version that this one cannot read.
core::result<std::unique_ptr<engine>> open_postgres(postgres_options options);

// Brings the schema up to date. Fails as open_postgres() does.
core::result<> migrate_postgres(postgres_options options);

}  // namespace store
