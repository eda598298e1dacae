// The two forms of what a card says about security: that of OpenAPI (0.2 and 0.3), told by `type`, and that of ProtoJSON
// (1.0), told by a member's name. Whatever the card has is taken. Internal to a2a.
#pragma once

#include "core/json.hpp"

#include <map>
#include <string>
#include <vector>

namespace a2a {

// The schemes that stand for one: 1.0 has one OAuth flow per scheme.
using scheme_split = std::map<std::string, std::vector<std::string>>;

struct translated_schemes {
    core::json schemes = core::json::object();
    scheme_split split;             // of wrapped schemes only
    std::vector<std::string> lost;  // paths from the card
};

// `securitySchemes` with every scheme in the form of 1.0, or in that before.
translated_schemes wrapped_schemes(const core::json& schemes);
translated_schemes typed_schemes(const core::json& schemes);

// A list of requirements in the form of 1.0, any of the schemes of a split in place of the one; or in the form before.
// An empty requirement (nobody has to say who they are) stays one. What is no requirement is left out.
core::json wrapped_demands(const core::json& demands, const scheme_split& split);
core::json plain_demands(const core::json& demands);

}  // namespace a2a
