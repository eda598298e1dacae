// Which store a configuration means, and what is done without one.
#pragma once

#include "config/expand.hpp"
#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/telemetry/replica_field.hpp"
#include "store/engine.hpp"
#include "store/memory.hpp"

#include <memory>
#include <optional>
#include <string>

namespace gateway::lifecycle {

struct opened_store {
    std::unique_ptr<store::engine> engine;
    std::string path;            // of its file, or the URL of its database; empty: memory
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

// Opens the store of a configuration, which may be a database that replicas share: then it fails as store::open_postgres() does.
// `log` outlives the store.
core::result<opened_store> open_store(
    const config::process_settings& settings,
    const config::environment& variables,
    std::optional<store::memory_contents> passed,
    const core::logger& log
);

// The name of this process among those that share its store: `replica.name`, or the name of the host.
std::string replica_name(const config::replica_settings& settings);

// The field that lines of the log and the audit have besides: that name, if the store is one that replicas share.
telemetry::replica_field replica_field_of(const config::process_settings& settings);

}  // namespace gateway::lifecycle
