// The place of a store in the file system: its directory, its lock, who may read it.
#pragma once

#include "core/descriptor.hpp"
#include "core/error.hpp"

#include <string>
#include <utility>

namespace store {

// Holds <path>.lock until it is destroyed; the kernel gives it back when a process dies.
class file_lock {
public:
    // Makes the directory too, if it is not there. Waits for a process that has the lock, for a second: it may be ending. Fails with config_invalid; the detail begins with the path.
    static core::result<file_lock> take(const std::string& path);

private:
    explicit file_lock(core::descriptor file) noexcept
        : file_{std::move(file)}
    {
    }

    core::descriptor file_;
};

enum class presence { absent, present, remains };  // remains: no database, but the log of one

// The detail of its errors begins with the path; that of the two below does not.
core::result<presence> look_for(const std::string& path);

// An empty file for a database that is made; what an attempt that was cut off has left there is gone.
core::result<> make_empty(const std::string& path);

// Gives the database its name, for good.
core::result<> rename_durably(const std::string& from, const std::string& to);

}  // namespace store
