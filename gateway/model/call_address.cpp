#include "gateway/model/call_address.hpp"

#include "a2a/card/card_interfaces.hpp"
#include "config/url.hpp"
#include "core/ascii.hpp"
#include "core/url.hpp"

#include <algorithm>
#include <iterator>

namespace gateway::model {
namespace {

constexpr std::string_view well_known = "/.well-known/";

bool is_loopback(std::string_view host)
{
    const bool decimal = host.find_first_not_of("0123456789.") == std::string_view::npos;
    return core::equal_ignoring_case(host, "localhost") || host == "::1" || (decimal && host.starts_with("127."));
}

// Whether both URLs have one scheme, host and port, where all names of loopback are one host.
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

// Where calls to this place go; nothing: not where the card says.
std::optional<std::string> followed(const core::agent& agent, const std::string& url, std::string_view found_at)
{
    const auto address = config::parse_http_url(url);
    if (address && one_origin(*address, agent.url) && path_of(*address) == path_of(agent.url)) {
        return agent.url;
    }
    if (!address || !objection(agent, url, found_at).empty()) {
        return std::nullopt;
    }
    return agent.url.substr(0, config::path_begin(agent.url)) + path_of(*address);
}

core::a2a_dialect name_of(::a2a::generation version, ::a2a::binding over) noexcept
{
    using enum core::a2a_dialect;
    const bool is_1 = version == ::a2a::generation::v1;
    switch (over) {
        case ::a2a::binding::rest:
            return is_1 ? v1_rest : v03_rest;
        case ::a2a::binding::grpc:
            return is_1 ? v1_grpc : v03_grpc;
        case ::a2a::binding::jsonrpc:
            break;
    }
    return is_1 ? v1_jsonrpc : v03_jsonrpc;
}

bool is_grpc(core::a2a_dialect name) noexcept
{
    return dialect_of(name).over == ::a2a::binding::grpc;
}

bool is_rest(core::a2a_dialect name) noexcept
{
    return dialect_of(name).over == ::a2a::binding::rest;
}

interface_address* find(std::vector<interface_address>& all, core::a2a_dialect speaks) noexcept
{
    const auto found = std::ranges::find(all, speaks, &interface_address::speaks);
    return found == all.end() ? nullptr : &*found;
}

// The first place of each dialect counts, unless the agent is registered at another one.
void add_interface(std::vector<interface_address>& all, interface_address each, const core::agent& agent)
{
    auto* known = find(all, each.speaks);
    if (known == nullptr) {
        all.push_back(std::move(each));
    } else if (known->url != agent.url && each.url == agent.url) {
        *known = std::move(each);
    }
}

std::vector<interface_address> interfaces_in(
    const core::agent& agent,
    const std::vector<a2a::card_endpoint>& endpoints,
    const std::string& jsonrpc_url,
    std::string_view found_at
)
{
    const bool has_jsonrpc =
        std::ranges::find(endpoints, ::a2a::binding::jsonrpc, &a2a::card_endpoint::over) != endpoints.end();
    std::vector<interface_address> all;
    for (const auto& each : endpoints) {
        auto url = followed(agent, each.url, found_at);
        if (!url && each.over == ::a2a::binding::rest && has_jsonrpc) {
            continue;
        }
        const auto& instead = each.over == ::a2a::binding::jsonrpc ? jsonrpc_url : agent.url;
        for (const auto version : {::a2a::generation::v1, ::a2a::generation::v03}) {
            if (each.version.value_or(version) == version) {
                const bool tenants = version == ::a2a::generation::v1;
                add_interface(
                    all,
                    {name_of(version, each.over), url.value_or(instead), tenants ? each.tenant : std::string{}},
                    agent
                );
            }
        }
    }
    return all;
}

// Scheme, host and port of the agent's own URL.
std::string own_origin(const core::agent& agent)
{
    return agent.url.substr(0, config::path_begin(agent.url));
}

// Whether a card's address for gRPC, which has no path, is the agent's own host and port.
bool is_at_home(const core::agent& agent, const std::string& url, std::string_view found_at)
{
    const bool bare = url.find("://") == std::string::npos;
    const auto address = bare ? agent.url.substr(0, agent.url.find("://") + 3) + url : core::http_form(url);
    const auto parsed = core::http_url::parse(address);
    return parsed && parsed->path == "/" && config::parse_http_url(address) && one_origin(address, agent.url) &&
           agent.trust == core::card_trust::same_origin && !doubtful(agent, found_at);
}

bool is_of_grpc(const a2a::card_endpoint& endpoint) noexcept
{
    return endpoint.over == ::a2a::binding::grpc;
}

// Where the agent takes gRPC: where the operator says, else at its own host and port if its card says so too. Empty: nowhere.
std::string
place_of_grpc(const core::agent& agent, const std::vector<a2a::card_endpoint>& endpoints, std::string_view found_at)
{
    if (auto place = core::grpc_address(agent); !place.empty()) {
        return place;
    }
    const bool home = std::ranges::any_of(agent.dialects, is_grpc) ||
                      std::ranges::any_of(endpoints, [&](const a2a::card_endpoint& each) {
                          return is_of_grpc(each) && is_at_home(agent, each.url, found_at);
                      });
    return home ? own_origin(agent) : std::string{};
}

// The interfaces of gRPC at `place`. A card that has none tells the generations and tenants by its others. There is an endpoint.
std::vector<interface_address>
grpc_interfaces(const core::agent& agent, const std::vector<a2a::card_endpoint>& endpoints, const std::string& place)
{
    const bool named = std::ranges::any_of(endpoints, is_of_grpc);
    std::vector<interface_address> all;
    for (const auto version : {::a2a::generation::v1, ::a2a::generation::v03}) {
        for (const auto& each : endpoints) {
            if (is_of_grpc(each) == named && each.version.value_or(version) == version) {
                const bool tenants = version == ::a2a::generation::v1;
                add_interface(
                    all,
                    {name_of(version, ::a2a::binding::grpc), place, tenants ? each.tenant : std::string{}},
                    agent
                );
            }
        }
    }
    return all;
}

struct said_places {
    const std::string& jsonrpc;
    const std::string& grpc;
};

// Interfaces that the configuration declares, at the addresses of the card.
std::vector<interface_address>
interfaces_said(const core::agent& agent, std::vector<interface_address> in_card, const said_places& at)
{
    const auto rest = std::ranges::find_if(in_card, is_rest, &interface_address::speaks);
    std::vector<interface_address> all;
    for (const auto speaks : agent.dialects) {
        if (auto* known = find(in_card, speaks)) {
            all.push_back(*known);
        } else if (is_grpc(speaks)) {
            all.push_back({speaks, at.grpc, {}});
        } else if (!is_rest(speaks)) {
            all.push_back({speaks, at.jsonrpc, {}});
        } else {
            all.push_back({speaks, rest == in_card.end() ? agent.url : rest->url, {}});
        }
    }
    return all;
}

// The URL for JSON-RPC, and a problem if that is not where the card says. `endpoints` are of JSON.
void choose_url(
    const core::agent& agent,
    const std::vector<a2a::card_endpoint>& endpoints,
    std::string_view found_at,
    call_address& out
)
{
    constexpr std::string_view instead = ": the gateway sends calls to the agent's url";
    constexpr auto warning = ::a2a::problem_severity::warning;
    const auto first = std::ranges::find(endpoints, ::a2a::binding::jsonrpc, &a2a::card_endpoint::over);
    if (first == endpoints.end()) {
        const bool rest = agent.bridge && !endpoints.empty();
        if (!rest) {
            out.problem = ::a2a::card_problem{"", "names no address for JSON-RPC" + std::string{instead}, warning};
        } else if (const auto why = objection(agent, endpoints.front().url, found_at);
                   !why.empty() && !followed(agent, endpoints.front().url, found_at)) {
            out.problem = ::a2a::card_problem{endpoints.front().path, std::string{why} + std::string{instead}, warning};
        }
    } else if (std::ranges::none_of(endpoints, [&](const a2a::card_endpoint& each) {
                   return each.over == ::a2a::binding::jsonrpc && followed(agent, each.url, found_at) == agent.url;
               })) {
        if (const auto url = followed(agent, first->url, found_at)) {
            out.route.url = *url;
        } else {
            const auto why = std::string{objection(agent, first->url, found_at)};
            out.problem = ::a2a::card_problem{first->path, why + std::string{instead}, warning};
        }
    }
}

}  // namespace

bool answers(core::errc why) noexcept
{
    using core::errc;
    return why != errc::upstream_unresolved && why != errc::upstream_refused && why != errc::upstream_tls &&
           why != errc::upstream_proxy && why != errc::upstream_reset;
}

call_address call_address_of(const core::agent& agent, const core::json& card, std::string_view found_at)
{
    const auto endpoints = ::a2a::card_endpoints(card);
    const auto place = place_of_grpc(agent, endpoints, found_at);
    call_address out;
    auto& interfaces = out.route.interfaces;
    if (!core::only_grpc(agent)) {
        auto of_json = endpoints;
        std::erase_if(of_json, is_of_grpc);
        if (!of_json.empty() || endpoints.empty() || place.empty() || !agent.bridge) {
            choose_url(agent, of_json, found_at, out);
        }
        interfaces = interfaces_in(agent, of_json, out.route.url.empty() ? agent.url : out.route.url, found_at);
    }
    if (!place.empty() && endpoints.empty()) {
        interfaces = completed(agent, {}).interfaces;
    } else if (!place.empty()) {
        std::ranges::move(grpc_interfaces(agent, endpoints, place), std::back_inserter(interfaces));
    }
    if (!agent.dialects.empty()) {
        const auto& jsonrpc = out.route.url.empty() ? agent.url : out.route.url;
        interfaces = interfaces_said(agent, std::move(interfaces), {jsonrpc, place});
    }
    return out;
}

bool reaches_grpc(const core::agent& agent, const core::json& card, std::string_view found_at)
{
    const bool speaks = agent.dialects.empty() || std::ranges::any_of(agent.dialects, is_grpc);
    return speaks && !place_of_grpc(agent, ::a2a::card_endpoints(card), found_at).empty();
}

}  // namespace gateway::model
