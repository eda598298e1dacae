#include "gateway/access/card_schemes.hpp"

#include <algorithm>
#include <string>
#include <variant>

namespace gateway::access {
namespace {

using core::json;

struct scheme_writer {
    json operator()(const core::static_token_provider& /*provider*/) const { return bearer(); }

    json operator()(const core::api_key_provider& provider) const
    {
        return {{"type", "apiKey"}, {"in", std::string{name(provider.place)}}, {"name", provider.field}};
    }

    json operator()(const core::jwt_provider& /*provider*/) const
    {
        auto scheme = bearer();
        scheme["bearerFormat"] = "JWT";
        return scheme;
    }

private:
    static json bearer() { return {{"type", "http"}, {"scheme", "bearer"}}; }
};

// Whether a caller whom the provider identifies may be one whom the policy allows.
bool accepts(const core::access_policy& policy, const std::string& provider)
{
    return policy.anyone || std::ranges::any_of(policy.any_of, [&](const core::access_rule& rule) {
               return rule.providers.empty() || std::ranges::find(rule.providers, provider) != rule.providers.end();
           });
}

}  // namespace

card_schemes::card_schemes(const core::access_settings& settings)
    : plan_{access_plan::make(settings)}
{
    for (const auto& provider : settings.providers) {
        schemes_[provider.name] = std::visit(scheme_writer{}, provider.type);
    }
}

a2a::card_access card_schemes::of(const core::agent& agent) const
{
    a2a::card_access access;
    if (plan_ == nullptr) {
        return access;
    }
    const auto& policy = plan_->call(agent);
    access.optional = policy.anyone;
    for (const auto& [name, scheme] : schemes_.items()) {
        if (accepts(policy, name)) {
            access.schemes[name] = scheme;
        }
    }
    return access;
}

}  // namespace gateway::access
