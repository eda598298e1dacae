// What a card may say by the rules of a generation. Internal to a2a. Pure; any thread.
#pragma once

#include "a2a/card/card_schema.hpp"
#include "core/json/json.hpp"

#include <string>
#include <vector>

namespace a2a {

// What is left of `value`, an object, when it has to be one by `rule`; the paths of everything else are added to `lost`.
core::json projected(core::json value, const object_rule& rule, std::vector<std::string>& lost);

}  // namespace a2a
