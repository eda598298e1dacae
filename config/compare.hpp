// The differences between two configurations: agent by agent, and setting by setting. Pure.
#pragma once

#include "config/settings.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace config {

struct changed_agent {
    std::string id;
    std::vector<std::string_view> keys;  // of the configuration, below `agents.<id>`

    friend bool operator==(const changed_agent&, const changed_agent&) = default;
};

struct changes {
    std::vector<std::string> added;      // in the order of the new file
    std::vector<changed_agent> changed;  // in the order of the new file
    std::vector<std::string> removed;    // in the order of the old one
    std::size_t unchanged = 0;
    std::vector<std::string_view> settings;       // paths of what takes effect without a restart
    std::vector<std::string_view> needs_restart;  // and of what does not

    friend bool operator==(const changes&, const changes&) = default;
};

// Ids are unique in both.
changes compare(const settings& before, const settings& now);

// Whether a change of this setting takes effect in a running gateway.
bool applies_at_once(std::string_view path) noexcept;

// Takes over what applies at once, and where rules are in the file: nothing else of `into` is touched.
void apply(const settings& now, settings& into);

}  // namespace config
