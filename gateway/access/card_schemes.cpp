#include "gateway/access/card_schemes.hpp"

#include "gateway/access/key_set_source.hpp"

#include <algorithm>
#include <string>
#include <utility>
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

    json operator()(const core::jwt_provider& /*provider*/) const { return bearer("JWT"); }

    json operator()(const core::oidc_provider& provider) const { return open_id(provider.issuer); }

    json operator()(const core::azure_ad_provider& provider) const
    {
        return open_id("https://login.microsoftonline.com/" + provider.tenant + "/v2.0");
    }

    json operator()(const core::gcp_iap_provider& /*provider*/) const
    {
        return {{"type", "apiKey"}, {"in", "header"}, {"name", core::iap_header}};
    }

    json operator()(const core::http_verifier_provider& /*provider*/) const { return bearer(); }

    json operator()(const core::aws_sigv4_provider& /*provider*/) const { return bearer("forge-aws-v1"); }

    json operator()(const core::mtls_provider& /*provider*/) const { return {{"type", "mutualTLS"}}; }

private:
    static json bearer(const char* format = nullptr)
    {
        json scheme{{"type", "http"}, {"scheme", "bearer"}};
        if (format != nullptr) {
            scheme["bearerFormat"] = format;
        }
        return scheme;
    }

    static json open_id(const std::string& issuer)
    {
        return {{"type", "openIdConnect"}, {"openIdConnectUrl", discovery_url(issuer)}};
    }
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

::a2a::card_access card_schemes::of(const core::agent& agent) const
{
    ::a2a::card_access access;
    access.passes = agent.of_callers.all || !agent.of_callers.names.empty();
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

std::function<bool(const core::agent&)>
card_schemes::difference(std::shared_ptr<const card_schemes> before, std::shared_ptr<const card_schemes> now)
{
    return [before = std::move(before), now = std::move(now)](const core::agent& agent) {
        const auto extended = [&](const card_schemes& by) {
            return core::extended_card_of(agent, by.plan_ != nullptr);
        };
        return before->of(agent) != now->of(agent) || extended(*before) != extended(*now);
    };
}

}  // namespace gateway::access
