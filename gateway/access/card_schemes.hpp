// The providers of access as cards describe them: security schemes, called as the providers are. What could not work is not
// described: a provider that no rule for calls of an agent accepts. Immutable; any thread.
#pragma once

#include "a2a/card/card_access.hpp"
#include "core/access.hpp"
#include "core/json/json.hpp"
#include "gateway/access/access_plan.hpp"

#include <functional>
#include <memory>

namespace gateway::access {

class card_schemes {
public:
    explicit card_schemes(const core::access_settings& settings);

    // Without a provider: nothing is needed.
    ::a2a::card_access of(const core::agent& agent) const;

    // Tells for an agent whether its card says something else of credentials, or of an extended card, under `now` than under `before`.
    static std::function<bool(const core::agent&)>
    difference(std::shared_ptr<const card_schemes> before, std::shared_ptr<const card_schemes> now);

private:
    core::json schemes_ = core::json::object();
    std::shared_ptr<const access_plan> plan_;  // null: callers need no credential
};

}  // namespace gateway::access
