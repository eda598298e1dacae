// Files for SQLite that fail when a test says so: a layer above its own ones, counting every operation. One thread.
#pragma once

#include <cerrno>
#include <cstdint>
#include <filesystem>

namespace store::testing {

inline constexpr const char* failing_vfs = "cardea-failing";

enum class fault { none, once, from_then_on, until_closed };  // until_closed: up to the close of the database file

// Makes the layer known to SQLite; again is nothing.
void install_failing_vfs();

// The `step`-th operation from now on fails (counted from 1). A failing sync has synced: the bytes are there, and
// nobody has been told.
void fail_at(std::uint64_t step, fault how);

// Whether that operation was reached.
bool has_failed();

void heal();

// A file below `directory` cannot grow while all that is there takes more than `bytes`; 0: no limit. The disk says so with
// this errno.
void limit_room(const std::filesystem::path& directory, std::uint64_t bytes, int number = ENOSPC);

// From now on it is known of every file what a power failure would leave of it: what was there when it was first opened
// or has been synced since, by a sync that did not fail.
void follow_syncs();

// Writes what a power failure now would leave. Nothing is followed any more.
void cut_power(const std::filesystem::path& into);

}  // namespace store::testing
