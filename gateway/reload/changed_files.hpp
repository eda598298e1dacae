// What a reload changes: agents whose TLS files have another content count as changed, though their configuration is the same.
// Pure; any thread.
#pragma once

#include "config/compare.hpp"
#include "config/settings.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gateway::reload {

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
