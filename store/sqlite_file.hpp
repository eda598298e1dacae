// The file of a store: its directory, its lock, who may read it, and its schema.
#pragma once

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "store/sqlite_connection.hpp"

#include <memory>
#include <string>
#include <utility>

namespace store {

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

// An empty file for a new database; removes the rest of an attempt that was cut off.
core::result<> make_empty(const std::string& path);

// Gives the database its name, for good.
core::result<> rename_durably(const std::string& from, const std::string& to);

// Makes a new file, which gets its name when it is whole: an empty file with a store's name is a damaged one.
core::result<> make_database(const std::string& path, const std::string& vfs);

// Ready for use, in the schema of this program: an older one is brought to it in one transaction. Fails with
// store_failed if it is newer or no store of ours.
core::result<std::unique_ptr<sqlite_connection>> open_database(const std::string& path, const std::string& vfs);

// Looks at every page. Fails with store_failed.
core::result<> check_database(sqlite_connection& db);

}  // namespace store
