// Warnings for an operator who contains: who has the same address, and that nobody has the name.
#include "core/ascii.hpp"
#include "core/url.hpp"
#include "gateway/management/containment_methods.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gateway::management {
namespace {

// Where its calls go, as its operator says: `host:port` of each of its URLs.
std::vector<std::string> places_of_calls(const core::agent& agent)
{
    std::vector<std::string> urls{agent.url, agent.grpc_url};
    if (agent.rules) {
        urls.insert(urls.end(), agent.rules->upstreams.begin(), agent.rules->upstreams.end());
    }
    std::vector<std::string> out;
    for (const auto& each : urls) {
        if (const auto url = core::http_url::parse(core::http_form(each))) {
            out.push_back(core::in_lower_case(url->host) + ':' + url->port);
        }
    }
    return out;
}

}  // namespace

// Whether the provider is one that names its principals, and not this one.
bool containment_methods::has_no(const core::principal_name& who) const
{
    const auto& providers = settings_.access.providers;
    const auto found = std::ranges::find(providers, who.provider, &core::access_provider::name);
    if (found == providers.end()) {
        return who.principal != core::registration_owner;
    }
    if (const auto* const token = std::get_if<core::static_token_provider>(&found->type)) {
        return token->bearer.id != who.principal;
    }
    const auto* const keys = std::get_if<core::api_key_provider>(&found->type);
    return keys != nullptr &&
           std::ranges::none_of(keys->keys, [&](const auto& each) { return each.owner.id == who.principal; });
}

// Other agents that get requests at an address of this one.
net::task<std::vector<std::string>> containment_methods::others_at(std::string agent, threads::turns& turns) const
{
    const auto* const contained = registry_.find(agent);
    if (contained == nullptr || !contained->published()) {
        co_return std::vector<std::string>{};
    }
    const auto there = places_of_calls(contained->entry->record);
    std::vector<std::string> out;
    co_await turns.wait();
    for (auto at = registry_.all().begin(); at != registry_.all().end();) {
        const auto& [id, other] = *at;
        if (id != agent && other.reached() &&
            std::ranges::any_of(places_of_calls(other.entry->record), [&](const auto& each) {
                return std::ranges::find(there, each) != there.end();
            })) {
            out.push_back(id);
        }
        if (turns.over()) {
            const auto seen = id;
            co_await turns.wait();
            at = registry_.all().upper_bound(seen);
        } else {
            ++at;
        }
    }
    co_return out;
}

}  // namespace gateway::management
