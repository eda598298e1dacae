#include "config/exposure.hpp"

#include "config/access_tokens.hpp"
#include "config/values.hpp"
#include "core/pattern.hpp"

#include <algorithm>
#include <variant>

namespace config {
namespace {

using policy = std::optional<core::access_policy>;

bool passes_logins(const core::agent& agent) noexcept
{
    return agent.mcp && !agent.of_callers.names.empty();
}

// The policy of the agent, whose own is `own`: that, or the one of the first rule that fits. Null: nobody is let in.
const core::access_policy* policy_of(
    const core::agent& agent,
    const policy& own,
    policy core::access_default::* member,
    const core::access_settings& access
)
{
    if (own) {
        return &*own;
    }
    const auto is_its = [&](const std::string& pattern) { return core::fits(pattern, agent.id); };
    for (const auto& rule : access.rules) {
        if (rule.*member && (rule.agents.empty() || std::ranges::any_of(rule.agents, is_its))) {
            return &*(rule.*member);
        }
    }
    return nullptr;
}

}  // namespace

std::optional<std::string_view> open_without_credentials(const endpoint& listen, const core::access_settings& access)
{
    if (is_loopback(listen) || access.open || !access.providers.empty()) {
        return {};
    }
    return "is open to other machines and no caller needs a credential; expected access.providers, `access: open`, or "
           "a "
           "loopback address";
}

std::string client_authorities(const core::access_settings& access)
{
    for (const auto& each : access.providers) {
        if (const auto* certificates = std::get_if<core::mtls_provider>(&each.type)) {
            return certificates->ca_file;
        }
    }
    return {};
}

std::optional<std::string_view>
unseen_certificates(const std::vector<certificate_files>& tls, const core::access_settings& access)
{
    if (!tls.empty() || client_authorities(access).empty()) {
        return {};
    }
    return "has no TLS, so that no client shows a certificate to the provider of type mtls; expected `tls`";
}

std::string_view untriable(const process_settings& settings)
{
    const auto is_certificate = [](const core::access_provider& each) {
        return std::holds_alternative<core::mtls_provider>(each.type);
    };
    const auto& providers = settings.access.providers;
    if (!settings.console) {
        return "The console is off (`console: false`).";
    }
    if (!providers.empty() && std::ranges::all_of(providers, is_certificate)) {
        return "Callers need a client certificate, and a browser shows its certificate to no agent through the "
               "console.";
    }
    return {};
}

std::string idle_policy(const settings& settings)
{
    if (!settings.access.providers.empty()) {
        return {};
    }
    if (!settings.access.rules.empty()) {
        return "access.rules";
    }
    for (const auto& agent : settings.agents) {
        if (agent.discover || agent.call) {
            return "agents." + agent.id + (agent.discover ? ".discover" : ".call");
        }
    }
    for (const auto& bundle : settings.mcp.bundles) {
        if (bundle.call) {
            return "mcp.bundles." + bundle.name + ".call";
        }
    }
    return {};
}

std::string idle_exchange(const settings& settings)
{
    const auto gives = [](const core::access_provider& each) { return !exchanged_as(each).empty(); };
    if (std::ranges::any_of(settings.access.providers, gives)) {
        return {};
    }
    for (const auto& agent : settings.agents) {
        const auto* const client = std::get_if<core::boxed<core::oauth_client>>(&agent.credentials);
        if (client != nullptr && (*client)->grant == core::oauth_grant::token_exchange) {
            return "agents." + agent.id + ".credentials.oauth2.grant";
        }
    }
    return {};
}

std::string unreachable_logins(const settings& settings)
{
    const auto reads_elsewhere = [](const core::access_provider& each) {
        return std::holds_alternative<core::api_key_provider>(each.type) ||
               std::holds_alternative<core::gcp_iap_provider>(each.type) ||
               std::holds_alternative<core::mtls_provider>(each.type);
    };
    const auto& access = settings.access;
    if (access.providers.empty() || std::ranges::any_of(access.providers, reads_elsewhere)) {
        return {};
    }
    for (const auto& agent : settings.agents) {
        const auto* call = policy_of(agent, agent.call, &core::access_default::call, access);
        if (passes_logins(agent) && call != nullptr && !call->anyone) {
            return "agents." + agent.id + ".caller_credentials";
        }
    }
    return {};
}

bool hides_logins(const core::agent& agent, const core::access_settings& access)
{
    const auto* discover = policy_of(agent, agent.discover, &core::access_default::discover, access);
    return passes_logins(agent) && !access.providers.empty() && (discover == nullptr || !discover->anyone);
}

std::optional<std::string_view> open_admin(const process_settings& settings)
{
    if (is_loopback(settings.admin) || settings.admin_access != core::admin_access::loopback) {
        return {};
    }
    return "is open to other machines and asks nobody for a credential; expected a loopback address, "
           "`admin_access: scopes`, or `admin_access: open`";
}

std::optional<std::string_view> unusable_admin_access(const process_settings& settings)
{
    // `admin` asks nobody for a certificate.
    const auto identifies = [](const core::access_provider& each) {
        return !std::holds_alternative<core::mtls_provider>(each.type);
    };
    if (settings.admin_access != core::admin_access::scopes ||
        std::ranges::any_of(settings.access.providers, identifies)) {
        return {};
    }
    return "lets nobody in without a provider; expected access.providers with another type than mtls";
}

std::optional<std::string_view> exposed_admin(const process_settings& settings)
{
    if (is_loopback(settings.admin) || settings.admin_access != core::admin_access::open) {
        return {};
    }
    return "lets everyone who reaches it change and delete agents; expected `admin_access: scopes`, or `metrics` for "
           "those who only watch";
}

std::optional<std::string_view> admin_credentials_in_clear(const process_settings& settings)
{
    if (is_loopback(settings.admin) || settings.admin_access != core::admin_access::scopes ||
        !settings.admin_tls.empty()) {
        return {};
    }
    return "has no TLS, so that operators' credentials arrive in the clear; expected `admin_tls`";
}

std::optional<std::string_view> credentials_in_clear(const process_settings& settings)
{
    if (is_loopback(settings.listen) || settings.access.providers.empty() || !settings.tls.empty()) {
        return {};
    }
    return "has no TLS, so that callers' credentials arrive in the clear; expected `tls`, or a proxy with TLS in front "
           "of "
           "a loopback address";
}

}  // namespace config
