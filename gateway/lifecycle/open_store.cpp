#include "gateway/lifecycle/open_store.hpp"

#include "core/keyed_hash.hpp"
#include "store/feed.hpp"
#include "store/postgres.hpp"
#include "store/sqlite.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace gateway::lifecycle {
namespace {

constexpr std::string_view file_prefix = "sqlite:";
constexpr std::string_view state_directory = "STATE_DIRECTORY";

// systemd's STATE_DIRECTORY belongs to the service alone, and may name several, of which the first counts. The rest: XDG Base
// Directory Specification. Relative paths in these variables count as not set.
std::string default_path(const config::environment& variables)
{
    for (const auto& [name, below] :
         {std::pair{state_directory, ""}, {"XDG_STATE_HOME", "/cardea"}, {"HOME", "/.local/state/cardea"}}) {
        auto directory = variables(name).value_or("");
        if (name == state_directory) {
            directory.resize(std::min(directory.find(':'), directory.size()));
        }
        if (directory.starts_with('/')) {
            return directory + below + "/store.db";
        }
    }
    return {};
}

}  // namespace

core::result<opened_store>
open_store(const std::string& named, const config::environment& variables, std::optional<store::memory_contents> passed)
{
    const auto in_memory = [&passed] {
        return store::make_memory(std::move(passed).value_or(store::memory_contents{}));
    };
    if (named == "memory") {
        return opened_store{in_memory(), {}, {}};
    }
    const auto path = named.empty() ? default_path(variables) : named.substr(file_prefix.size());
    if (path.empty()) {
        return opened_store{in_memory(), {}, "neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME names a directory"};
    }
    auto opened = store::open_sqlite({.path = path});
    if (opened) {
        return opened_store{std::move(*opened), path, {}};
    }
    if (named.empty() && opened.error().code == core::errc::config_invalid) {
        return opened_store{in_memory(), {}, opened.error().detail};
    }
    return core::gateway_error(opened.error().code, "store: " + opened.error().detail);
}

core::result<opened_store> open_store(
    const config::process_settings& settings,
    const config::environment& variables,
    std::optional<store::memory_contents> passed,
    const core::logger& log
)
{
    if (!store::names_postgres(settings.store)) {
        return open_store(settings.store, variables, std::move(passed));
    }
    const auto& options = settings.store_options;
    auto opened = store::open_postgres(
        {.url = settings.store,
         .password_file = options.password_file,
         .timeout = options.timeout,
         .notify = options.notify,
         .self = std::max(core::keyed_hash{}({}, {})[0], store::replica_id{1}),
         .log = &log}
    );
    if (!opened) {
        return core::gateway_error(opened.error().code, "store: " + opened.error().detail);
    }
    return opened_store{std::move(*opened), settings.store, {}};
}

std::string replica_name(const config::replica_settings& settings)
{
    std::array<char, 256> host{};
    const bool known = settings.name.empty() && ::gethostname(host.data(), host.size() - 1) == 0;
    return known ? std::string{host.data()} : settings.name;
}

telemetry::replica_field replica_field_of(const config::process_settings& settings)
{
    return store::names_postgres(settings.store) ? telemetry::replica_field{replica_name(settings.replica)}
                                                 : telemetry::replica_field{};
}

}  // namespace gateway::lifecycle
