#include "gateway/model/call_address.hpp"

#include "a2a/card/card_endpoints.hpp"
#include "config/url.hpp"
#include "core/ascii.hpp"
#include "core/url.hpp"

#include <algorithm>

namespace gateway::model {
namespace {

constexpr std::string_view well_known = "/.well-known/";

bool is_loopback(std::string_view host)
{
    const bool decimal = host.find_first_not_of("0123456789.") == std::string_view::npos;
    return core::equal_ignoring_case(host, "localhost") || host == "::1" || (decimal && host.starts_with("127."));
}

// The same scheme, host and port, where all names of loopback are one host.
bool one_origin(const std::string& a, const std::string& b)
{
    const auto one = core::http_url::parse(a);
    const auto other = core::http_url::parse(b);
    return one && other && one->secure == other->secure && one->port == other->port &&
           (core::equal_ignoring_case(one->host, other->host) || (is_loopback(one->host) && is_loopback(other->host)));
}

std::string path_of(std::string_view url)
{
    const auto path = url.substr(config::path_begin(url));
    return path.empty() ? "/" : std::string{path};
}

// Whether the card can be another agent's of the same origin.
bool doubtful(const core::agent& agent, std::string_view found_at)
{
    const auto base = std::string_view{agent.url}.substr(0, agent.url.find_last_not_of('/') + 1);
    const bool below = found_at.starts_with(base) && found_at.substr(base.size()).starts_with(well_known);
    return !found_at.empty() && agent.card_url.empty() && !below;
}

// Why calls do not go to `url`, as a sentence goes on behind its path; empty: they do.
std::string_view objection(const core::agent& agent, const std::string& url, std::string_view found_at)
{
    const auto address = config::parse_http_url(url);
    if (!address) {
        return "is not an http or https URL without a user name, a query and a fragment";
    }
    if (!one_origin(*address, agent.url)) {
        return "points to another origin than the agent's url";
    }
    if (path_of(*address).find(well_known) != std::string::npos) {
        return "points to a card, not to where calls go";
    }
    if (agent.trust == core::card_trust::never) {
        return "is not followed, because trust_card_url is never";
    }
    return doubtful(agent, found_at) ? "is not followed, because the card was found at the root of the origin" : "";
}

}  // namespace

bool answers(core::errc why) noexcept
{
    using core::errc;
    return why != errc::upstream_unresolved && why != errc::upstream_refused && why != errc::upstream_tls &&
           why != errc::upstream_reset;
}

call_address call_address_of(const core::agent& agent, const core::json& card, std::string_view found_at)
{
    constexpr std::string_view instead = ": the gateway sends calls to the agent's url";
    constexpr auto warning = a2a::problem_severity::warning;
    const auto endpoints = a2a::jsonrpc_endpoints(card);
    if (endpoints.empty()) {
        return {{}, a2a::card_problem{"", "names no address for JSON-RPC" + std::string{instead}, warning}};
    }
    const auto registered = [&](const a2a::card_endpoint& each) {
        const auto address = config::parse_http_url(each.url);
        return address && one_origin(*address, agent.url) && path_of(*address) == path_of(agent.url);
    };
    if (std::ranges::any_of(endpoints, registered)) {
        return {};
    }
    const auto& first = endpoints.front();
    if (const auto why = objection(agent, first.url, found_at); !why.empty()) {
        return {{}, a2a::card_problem{first.path, std::string{why} + std::string{instead}, warning}};
    }
    return {
        agent.url.substr(0, config::path_begin(agent.url)) + path_of(*config::parse_http_url(first.url)),
        std::nullopt
    };
}

}  // namespace gateway::model
