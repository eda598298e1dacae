// The two forms of what a card says about security: that of OpenAPI (0.2 and 0.3), told by `type`, and that of ProtoJSON
// (1.0), told by a member's name. Whatever the card has is taken. Internal to a2a.
#pragma once

#include "core/json/json.hpp"

#include <cstddef>
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

// The schemes that a requirement of either form names; null: it is none.
const core::json* demanded_schemes(const core::json& demand);

// `securitySchemes` with every scheme in the form of 1.0, or in that before.
translated_schemes wrapped_schemes(const core::json& schemes);
translated_schemes typed_schemes(const core::json& schemes);

// Lists of requirements in the form of 1.0, where any of the schemes of a split replaces the one. An empty requirement (no
// caller has to authenticate) stays one. What is no requirement is left out.
class demand_wrapper {
public:
    // `split` outlives the wrapper.
    explicit demand_wrapper(const scheme_split& split)
        : split_{split}
    {
    }

    // A requirement becomes at most max_alternatives. Over all lists together the alternatives beyond the first add at most
    // max_alternative_bytes; when that is used up, a requirement has fewer of them, at least the first.
    core::json wrapped(const core::json& demands);

    static constexpr std::size_t max_alternatives = 25;
    static constexpr std::size_t max_alternative_bytes = 64 * 1024;

private:
    std::size_t alternatives_of(const core::json& scopes) const;
    core::json alternative(const core::json& scopes, std::size_t index) const;

    const scheme_split& split_;
    std::size_t room_ = max_alternative_bytes;
};

// The demands in the form before 1.0.
core::json plain_demands(const core::json& demands);

}  // namespace a2a
