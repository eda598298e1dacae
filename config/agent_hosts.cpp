#include "config/agent_hosts.hpp"

#include "core/ascii.hpp"
#include "core/host_names.hpp"
#include "core/url.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace config {
namespace {

constexpr std::string_view expected_name =
    "a DNS name without a port, such as words.agents.example.com; other scripts as xn--…";

// The key that gives the agent this name: `hosts`, or (empty) its id.
std::string_view host_key(const core::agent& agent, const std::string& name)
{
    return std::ranges::find(agent.hosts, name) == agent.hosts.end() ? std::string_view{} : "hosts";
}

}  // namespace

core::result<std::string> parse_host_pattern(std::string_view text)
{
    auto pattern = core::in_lower_case(text);
    if (!core::valid_host_pattern(pattern)) {
        return core::gateway_error(core::errc::config_invalid, "names no host for each agent");
    }
    return pattern;
}

std::vector<std::string> read_agent_hosts(const field& f, problem_list& problems)
{
    std::vector<std::string> names;
    for (const auto& element : read_list(f, "a list of DNS names", problems)) {
        const auto* text = read_text(element, expected_name, problems);
        if (text == nullptr) {
            continue;
        }
        auto name = core::in_lower_case(*text);
        if (!core::valid_host_name(name)) {
            refuse(element, text->empty() ? "is empty" : "is not a DNS name", expected_name, problems);
        } else if (std::ranges::find(names, name) != names.end()) {
            refuse(element, "is in the list already", "each name once", problems);
        } else {
            names.push_back(std::move(name));
        }
    }
    return names;
}

std::vector<std::string> own_hosts(const process_settings& settings)
{
    std::vector<std::string> names{"localhost", core::in_lower_case(settings.listen.host)};
    if (const auto url = core::http_url::parse(settings.public_url)) {
        names.push_back(core::in_lower_case(url->host));
    }
    for (const auto& each : settings.hosts) {
        names.push_back(core::in_lower_case(each));
    }
    return names;
}

std::vector<std::string> hosts_of(const core::agent& agent, std::string_view pattern)
{
    auto names = agent.hosts;
    if (auto name = core::host_of_agent(pattern, agent.id);
        !name.empty() && std::ranges::find(names, name) == names.end()) {
        names.push_back(std::move(name));
    }
    return names;
}

std::string claimed_by_gateway(std::string_view name)
{
    return '"' + std::string{name} + "\" is a name of the gateway itself; expected another name";
}

std::string claimed_by_agent(std::string_view name, std::string_view id)
{
    return '"' + std::string{name} + "\" is a name of the agent " + std::string{id} + "; expected another name";
}

std::vector<host_conflict> host_conflicts_of(const settings& all)
{
    std::vector<host_conflict> found;
    const auto own = own_hosts(all);
    std::unordered_map<std::string, std::size_t> claimed;
    for (std::size_t i = 0; i < all.agents.size(); ++i) {
        const auto& agent = all.agents[i];
        auto names = hosts_of(agent, all.agent_hosts);
        if (names.empty() && !all.agent_hosts.empty()) {
            found.push_back(
                {i,
                 {},
                 "makes no name by agent_hosts (" + all.agent_hosts +
                     "); expected an id of small letters, digits and hyphens, or `hosts`"}
            );
        }
        for (auto& name : names) {
            const auto key = host_key(agent, name);
            if (std::ranges::find(own, name) != own.end()) {
                found.push_back({i, key, claimed_by_gateway(name)});
                continue;
            }
            const auto [place, added] = claimed.emplace(std::move(name), i);
            if (!added) {
                found.push_back({i, key, claimed_by_agent(place->first, all.agents[place->second].id)});
            }
        }
    }
    return found;
}

}  // namespace config
