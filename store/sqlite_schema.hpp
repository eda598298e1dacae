// What the file of a store looks like, and how it is made.
#pragma once

#include "core/error.hpp"
#include "store/sqlite_connection.hpp"

#include <memory>
#include <string>

namespace store {

// A new file. It gets its name when it is whole, so that an empty file with a store's name is a damaged one.
core::result<> make_database(const std::string& path, const std::string& vfs);

// Ready for use, in the schema of this program: an older one is brought to it in one transaction. Fails with
// store_failed if it is newer or no store of ours.
core::result<std::unique_ptr<sqlite_connection>> open_database(const std::string& path, const std::string& vfs);

// Looks at every page. Fails with store_failed.
core::result<> check_database(sqlite_connection& db);

}  // namespace store
