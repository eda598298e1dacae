// Which store a configuration means, and what is done without one.
#pragma once

#include "config/expand.hpp"
#include "core/error.hpp"
#include "store/engine.hpp"
#include "store/memory.hpp"

#include <memory>
#include <optional>
#include <string>

namespace gateway::lifecycle {

struct opened_store {
    std::unique_ptr<store::engine> engine;
    std::string path;            // of its file; empty: memory
    std::string unusable_place;  // not empty: why the default file is not used and memory is
};

// `named` is config::settings::store. Without a name the default place is tried: `store.db` in STATE_DIRECTORY
// (systemd.exec(5)), else in `cardea` below XDG_STATE_HOME or `~/.local/state`. If it cannot be used, because there is
// no such directory, it cannot be written, or another process has it, memory takes its place. A file that is damaged or
// of a newer version never does: fails with store_failed, and a named place that cannot be used with config_invalid.
// One in memory goes on with `passed`, if there is any.
core::result<opened_store> open_store(
    const std::string& named,
    const config::environment& variables,
    std::optional<store::memory_contents> passed = {}
);

}  // namespace gateway::lifecycle
