// A store in one SQLite file (WAL, synchronous=FULL): a write that has returned survives the end of the process and of
// the machine. One process at a time has it; others may read it with SQLite's own tools meanwhile.
#pragma once

#include "core/error.hpp"
#include "store/engine.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace store {

struct sqlite_options {
    std::string path;
    std::uint64_t ballast = 16 * 1024 * 1024;  // bytes held back on disk, so that a full one lets agents be deleted
    std::string vfs{};                         // SQLite's name of how files are reached; empty: its default
};

// Makes the file and its directory if they are not there, with access for nobody else. Fails with config_invalid if the
// place cannot be used (not writable, in use by another process for a second), and with store_failed if what is there may not be
// used: damaged, written by a newer version, no store at all. The detail says which, beginning with the path.
core::result<std::unique_ptr<engine>> open_sqlite(sqlite_options options);

// The schema that this program gives a file, and the newest that it reads.
std::uint64_t sqlite_schema() noexcept;

}  // namespace store
