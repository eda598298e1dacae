#include "config/access_tokens.hpp"

#include "config/schema.hpp"

#include <variant>

namespace config {

std::string_view exchanged_as(const core::access_provider& provider) noexcept
{
    const auto& type = provider.type;
    if (std::holds_alternative<core::jwt_provider>(type) || std::holds_alternative<core::oidc_provider>(type) ||
        std::holds_alternative<core::azure_ad_provider>(type)) {
        return "urn:ietf:params:oauth:token-type:jwt";
    }
    // A request to AWS is for AWS alone, and the assertion of a proxy for the servers behind the proxy.
    return std::holds_alternative<core::http_verifier_provider>(type) ? "urn:ietf:params:oauth:token-type:access_token"
                                                                      : "";
}

std::vector<std::string> issuers_of(const core::access_provider& provider)
{
    using list = std::vector<std::string>;
    return std::visit(
        overloaded{
            [](const core::jwt_provider& of) { return list{of.issuer}; },
            [](const core::oidc_provider& of) { return list{of.issuer}; },
            [](const core::azure_ad_provider& of) {
                return list{
                    "https://login.microsoftonline.com/" + of.tenant + "/v2.0",
                    "https://sts.windows.net/" + of.tenant + '/'
                };
            },
            [](const core::gcp_iap_provider&) { return list{"https://cloud.google.com/iap"}; },
            [](const auto&) { return list{}; }
        },
        provider.type
    );
}

std::vector<std::string> audiences_of(const core::access_provider& provider)
{
    using list = std::vector<std::string>;
    return std::visit(
        overloaded{
            [](const core::jwt_provider& of) { return of.audiences; },
            [](const core::oidc_provider& of) { return of.audiences; },
            [](const core::azure_ad_provider& of) { return of.audiences; },
            [](const core::gcp_iap_provider& of) { return of.audiences; },
            [](const auto&) { return list{}; }
        },
        provider.type
    );
}

std::vector<std::string> clients_of(const core::access_provider& provider)
{
    using list = std::vector<std::string>;
    return std::visit(
        overloaded{
            [](const core::jwt_provider& of) { return of.client_ids; },
            [](const core::oidc_provider& of) { return of.client_ids; },
            [](const auto&) { return list{}; }
        },
        provider.type
    );
}

std::string scope_prefix_of(const core::access_provider& provider)
{
    return std::visit(
        overloaded{
            [](const core::jwt_provider& of) { return of.scope_prefix; },
            [](const core::oidc_provider& of) { return of.scope_prefix; },
            [](const core::azure_ad_provider& of) { return of.scope_prefix; },
            [](const auto&) { return std::string{}; }
        },
        provider.type
    );
}

}  // namespace config
