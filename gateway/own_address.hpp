// Whether a URL leads back to this gateway. Pure; any thread.
#pragma once

#include "config/settings.hpp"

#include <string>

namespace gateway {

// Whether `url` (http or https) is at `listen` or `admin`, or below `public_url`. All names of loopback are one host, and a listener
// on every address (0.0.0.0, ::) is on loopback too. Other names of this machine are not looked up.
bool is_own_address(const std::string& url, const config::settings& settings);

}  // namespace gateway
