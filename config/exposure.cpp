#include "config/exposure.hpp"

#include "config/values.hpp"

namespace config {

std::optional<std::string_view> open_without_credentials(const endpoint& listen, const core::access_settings& access)
{
    if (is_loopback(listen) || access.open || !access.providers.empty()) {
        return {};
    }
    return "is open to other machines and no caller needs a credential; expected access.providers, `access: open`, or "
           "a "
           "loopback address";
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
    return {};
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
