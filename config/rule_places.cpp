#include "config/rule_places.hpp"

#include <algorithm>
#include <array>

namespace config {
namespace {

// Policies, and the keys that hide tools.
constexpr std::array<std::string_view, 4> deciding{"discover", "call", "tools", "skills"};

std::string element(std::string_view path, std::size_t i)
{
    return std::string{path} + '[' + std::to_string(i) + ']';
}

}  // namespace

void rule_places::add_agent(std::string_view id, const node& agent)
{
    add_policies("agents." + std::string{id}, agent);
}

void rule_places::add_access(const node& access)
{
    for (std::size_t i = 0; i < access.keys.size(); ++i) {
        const auto& rules = access.items[i];
        for (std::size_t rule = 0; access.keys[i].text == "rules" && rule < rules.items.size(); ++rule) {
            add_policies(element("access.rules", rule), rules.items[rule]);
        }
    }
}

std::string rule_places::text(std::string_view policy, std::optional<std::size_t> rule) const
{
    std::string path{policy};
    if (rule && places_.contains(element(policy, *rule))) {
        path = element(policy, *rule);
    }
    const auto found = places_.find(path);
    if (found == places_.end()) {
        return path;
    }
    return file_ + ':' + std::to_string(found->second.line) + ':' + std::to_string(found->second.column) + ' ' + path;
}

void rule_places::add_policies(const std::string& owner, const node& map)
{
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
        const auto& key = map.keys[i].text;
        if (std::ranges::find(deciding, key) == deciding.end()) {
            continue;
        }
        const auto& policy = map.items[i];
        auto path = owner + '.';
        path += key;
        places_.emplace(path, policy.at);
        for (std::size_t rule = 0; policy.is == node::kind::list && rule < policy.items.size(); ++rule) {
            places_.emplace(element(path, rule), policy.items[rule].at);
        }
    }
}

}  // namespace config
