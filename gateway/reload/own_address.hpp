// Where this gateway is reached, and whether a URL leads back to it. Pure; any thread.
#pragma once

#include "config/settings.hpp"

#include <string>

namespace gateway::reload {

// What callers reach: scheme and authority. `bound`: where the traffic listener is.
std::string public_base_of(const config::settings& settings, const std::string& bound);

// Whether `url` (http or https) is at `listen` or `admin`, or below `public_url`. All names of loopback are one host, and a listener
// on every address (0.0.0.0, ::) is on loopback too. Other names of this machine are not looked up.
bool is_own_address(const std::string& url, const config::settings& settings);

}  // namespace gateway::reload
