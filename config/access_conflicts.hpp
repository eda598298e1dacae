// Providers that cannot stand beside each other, because one of them would never be asked. Pure.
#pragma once

#include "core/access.hpp"

#include <span>
#include <string>

namespace config {

// Why `provider` cannot stand behind those before it, as a predicate with what was expected. Empty: it can.
std::string conflict(const core::access_provider& provider, std::span<const core::access_provider> before);

}  // namespace config
