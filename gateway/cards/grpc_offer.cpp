#include "gateway/cards/grpc_offer.hpp"

#include "config/agent_hosts.hpp"
#include "core/ascii.hpp"
#include "core/url.hpp"

#include <algorithm>

namespace gateway::cards {

grpc_terms grpc_terms_of(const config::process_settings& settings)
{
    return {settings.http2, settings.grpc, settings.agent_hosts};
}

::a2a::grpc_place grpc_place_of(const core::agent& agent, const grpc_terms& terms, std::string_view public_base)
{
    const auto base = core::http_url::parse(public_base);
    if (!terms.offered || !base) {
        return {};
    }
    const auto names = config::hosts_of(agent, terms.agent_hosts);
    ::a2a::grpc_place place;
    bool named = false;
    if (const auto& as_written = terms.settings.public_address; !as_written.empty()) {
        const auto host = core::in_lower_case(as_written.substr(0, as_written.rfind(':')));
        named = std::ranges::find(names, host) != names.end();
        place.authority = as_written;
    } else {
        named = !names.empty();
        place.authority = (named ? names.front() : base->encoded_host) + ':' + base->port;
    }
    if (!named && agent.id != terms.settings.default_agent) {
        place.tenant = agent.id;
    }
    return place;
}

}  // namespace gateway::cards
