// Paths of RFC 8615 that more than one room knows.
#pragma once

#include <string_view>

namespace gateway::model {

// Where the keys are served that cards are verified with, below the public base.
inline constexpr std::string_view key_set_path = "/.well-known/jwks.json";

}  // namespace gateway::model
