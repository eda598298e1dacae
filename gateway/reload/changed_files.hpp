// The changes of a reload: agents whose TLS files have another content count as changed, though their configuration is the same.
// Pure; any thread.
#pragma once

#include "config/compare.hpp"
#include "config/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gateway::reload {

// The properties of a file that change when it is written, replaced, or reached through another link.
struct file_stamp {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    std::int64_t size = -1;  // there is none
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;

    friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

// The stamp of the file that `path` leads to. Blocks as stat(2) does.
file_stamp stamp_of(const std::string& path);

// The hash of each file's content, by its path.
using file_hashes = std::map<std::string, std::size_t>;

// Adds to `changes` those of `agents`, all of the new configuration, whose files differ. Whether any did, be it of an agent that has
// changed anyway. A file that could not be read before or now differs from nothing.
bool add_changed_files(
    config::changes& changes,
    const std::vector<core::agent>& agents,
    const file_hashes& before,
    const file_hashes& now
);

// Those of `agents` that `changes` has as added or changed, in their order.
std::vector<core::agent> added_or_changed(const config::changes& changes, const std::vector<core::agent>& agents);

}  // namespace gateway::reload
