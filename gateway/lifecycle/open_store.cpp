#include "gateway/lifecycle/open_store.hpp"

#include "store/sqlite.hpp"

#include <algorithm>
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

}  // namespace gateway::lifecycle
