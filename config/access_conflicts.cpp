#include "config/access_conflicts.hpp"

#include "config/access_tokens.hpp"

#include <algorithm>
#include <variant>

namespace config {
namespace {

template <class Type>
bool is(const core::access_provider& provider)
{
    return std::holds_alternative<Type>(provider.type);
}

bool reads_bearers(const core::access_provider& provider)
{
    return !is<core::api_key_provider>(provider) && !is<core::gcp_iap_provider>(provider) &&
           !is<core::mtls_provider>(provider);
}

bool share_element(const std::vector<std::string>& some, const std::vector<std::string>& others)
{
    return std::ranges::any_of(some, [&](const auto& each) { return std::ranges::find(others, each) != others.end(); });
}

bool accept_the_same(const core::access_provider& one, const core::access_provider& other)
{
    return share_element(issuers_of(one), issuers_of(other)) &&
           (share_element(audiences_of(one), audiences_of(other)) || share_element(clients_of(one), clients_of(other)));
}

}  // namespace

std::string conflict(const core::access_provider& provider, std::span<const core::access_provider> before)
{
    for (const auto& each : before) {
        if (is<core::http_verifier_provider>(each) && reads_bearers(provider)) {
            return "is behind \"" + each.name + "\", which decides on every bearer token; expected it in front of that";
        }
        const bool second = (is<core::mtls_provider>(each) && is<core::mtls_provider>(provider)) ||
                            (is<core::aws_sigv4_provider>(each) && is<core::aws_sigv4_provider>(provider));
        if (second) {
            return "is of the same type as \"" + each.name + "\"; expected one provider of this type";
        }
        if (accept_the_same(each, provider)) {
            return "accepts tokens of the same issuer for the same audience or client as \"" + each.name +
                   "\"; expected one provider for these";
        }
    }
    return {};
}

}  // namespace config
