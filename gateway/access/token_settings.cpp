#include "gateway/access/token_settings.hpp"

#include "config/access_tokens.hpp"
#include "config/schema.hpp"

#include <utility>
#include <variant>

namespace gateway::access {
namespace {

constexpr const char* keys_of_iap = "https://www.gstatic.com/iap/verify/public_key-jwk";

std::string keys_of_azure(const std::string& tenant)
{
    return "https://login.microsoftonline.com/" + tenant + "/discovery/v2.0/keys";
}

key_set_place file_or(const std::string& file, std::string url)
{
    return file.empty() ? key_set_place{.url = std::move(url), .file = {}} : key_set_place{.url = {}, .file = file};
}

// Without issuer and audiences. An algorithm is what the issuer signs with.
token_settings common_settings(const core::provider_settings& type)
{
    token_settings common;
    std::visit(
        config::overloaded{
            [&](const core::jwt_provider& of) {
                common.algorithms = of.algorithms;
                common.leeway = of.leeway;
                common.keys = {.url = of.key_set_url, .file = of.key_set_file};
                common.clients = of.client_ids;
            },
            [&](const core::oidc_provider& of) {
                common.algorithms = of.algorithms;
                common.leeway = of.leeway;
                common.keys = {.url = {}, .file = {}, .issuer = of.issuer};
                common.clients = of.client_ids;
            },
            [&](const core::azure_ad_provider& of) {
                common.algorithms = {"RS256"};
                common.leeway = of.leeway;
                common.keys = file_or(of.key_set_file, keys_of_azure(of.tenant));
                common.style = claim_style::azure_ad;
            },
            [&](const core::gcp_iap_provider& of) {
                common.algorithms = {"ES256"};
                common.leeway = of.leeway;
                common.keys = file_or(of.key_set_file, keys_of_iap);
                common.header = core::iap_header;
                common.style = claim_style::gcp_iap;
            },
            [](const auto&) {}
        },
        type
    );
    return common;
}

}  // namespace

std::vector<token_settings> token_settings_of(const core::access_provider& provider)
{
    std::vector<token_settings> all;
    for (auto& issuer : config::issuers_of(provider)) {
        auto one = common_settings(provider.type);
        one.issuer = std::move(issuer);
        one.audiences = config::audiences_of(provider);
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace gateway::access
