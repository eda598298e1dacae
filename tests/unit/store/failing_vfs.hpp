// Files for SQLite that fail when a test says so: a layer above its own ones, counting every operation. One thread.
#pragma once

#include <cstdint>
#include <filesystem>

namespace store::testing {

inline constexpr const char* failing_vfs = "cardea-failing";

enum class fault { none, once, from_then_on };

// Makes the layer known to SQLite; again is nothing.
void install_failing_vfs();

// The `step`-th operation from now on fails (counted from 1). A failing sync has synced: the bytes are there, and
// nobody has been told.
void fail_at(std::uint64_t step, fault how);

// Whether that operation was reached.
bool has_failed();

void heal();

// A file below `directory` cannot grow while all that is there takes more than `bytes`; 0: no limit.
void limit_room(const std::filesystem::path& directory, std::uint64_t bytes);

}  // namespace store::testing
