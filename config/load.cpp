#include "config/load.hpp"

#include "config/access.hpp"
#include "config/agent_hosts.hpp"
#include "config/client_files.hpp"
#include "config/document.hpp"
#include "config/exposure.hpp"
#include "config/fields.hpp"
#include "config/mcp_bundles.hpp"
#include "config/rule_places.hpp"
#include "config/schema.hpp"
#include "config/signatures.hpp"
#include "config/values.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace config {
namespace {

constexpr std::string_view agents_section = "agents";

// The part of `path` below `section`, up to the next dot: "cards" of "cards.ttl" below "".
std::string_view segment_below(std::string_view path, std::string_view section)
{
    if (!section.empty()) {
        if (!path.starts_with(section) || path.size() <= section.size() || path[section.size()] != '.') {
            return {};
        }
        path.remove_prefix(section.size() + 1);
    }
    return path.substr(0, path.find('.'));
}

std::vector<std::string_view> keys_of(std::string_view section)
{
    std::vector<std::string_view> keys;
    for (const auto& s : all_settings()) {
        const auto segment = segment_below(s.path, section);
        if (!segment.empty() && std::find(keys.begin(), keys.end(), segment) == keys.end()) {
            keys.push_back(segment);
        }
    }
    if (section.empty()) {
        keys.push_back(agents_section);
        keys.insert(keys.end(), client_sections().begin(), client_sections().end());
    }
    return keys;
}

struct given_setting {
    place at;
    bool read = false;  // else its problem is reported
    const node* value = nullptr;
};

// Two settings that do not go together.
struct contradiction {
    std::string_view first;  // paths
    std::string_view second;
    std::string_view relation;  // of the first to the second, as a predicate
    std::string_view expected;
};

void add_of_listeners(const process_settings& settings, std::vector<contradiction>& out)
{
    const auto add_if_same = [&](std::string_view first, std::string_view second, const endpoint& a, const endpoint& b
                             ) {
        if (a == b && a.port != 0) {
            out.push_back({first, second, "is the same address as", "an address of its own"});
        }
    };
    add_if_same("admin", "listen", settings.admin, settings.listen);
    add_if_same("metrics", "listen", settings.metrics, settings.listen);
    add_if_same("metrics", "admin", settings.metrics, settings.admin);
    if (settings.metrics.host.empty() && !settings.metrics_tls.empty()) {
        out.push_back({"metrics_tls", "metrics", "has no listener without", "an address there, or no metrics_tls"});
    }
}

void add_of_programs(const process_settings& settings, std::vector<contradiction>& out)
{
    if (!settings.admin_programs) {
        return;
    }
    if (!is_loopback(settings.admin)) {
        out.push_back(
            {"admin_programs", "admin", "is for a loopback address alone, unlike", "127.0.0.1 as its host, or false"}
        );
    }
    // A page of any site could come in by a name of its own.
    if (std::ranges::find(settings.hosts, "*") != settings.hosts.end()) {
        out.push_back({"admin_programs", "hosts", "does not go with any name in", "the names alone, or false"});
    }
}

void add_of_rates(const core::rate_limits& all, std::vector<contradiction>& out)
{
    const auto add_if_idle = [&](std::string_view burst, std::string_view rate, const core::rate_limit& limit) {
        if (limit.burst > 0 && limit.rate == 0) {
            out.push_back({burst, rate, "limits nothing without", "a rate"});
        }
    };
    add_if_idle("rate_limits.principal.burst", "rate_limits.principal.rate", all.principal);
    add_if_idle("rate_limits.agent.burst", "rate_limits.agent.rate", all.agent);
    add_if_idle("rate_limits.address.burst", "rate_limits.address.rate", all.address);
}

std::vector<contradiction> contradictions_of(const process_settings& settings)
{
    std::vector<contradiction> out;
    if (settings.cards.min_ttl > settings.cards.max_ttl) {
        out.push_back({"cards.min_ttl", "cards.max_ttl", "is more than", "at most cards.max_ttl"});
    }
    if (settings.limits.target >= settings.limits.header) {
        out.push_back({"limits.target", "limits.header", "is not less than", "a target that fits into the head"});
    }
    add_of_listeners(settings, out);
    add_of_programs(settings, out);
    add_of_rates(settings.rate_limits, out);
    if (settings.push_sign && settings.cards.signing_key.empty()) {
        out.push_back({"push_sign", "cards.signing_key", "signs nothing without", "a key, or false"});
    }
    return out;
}

class settings_reader {
public:
    settings_reader(std::string_view file, const secret_reader& secrets, const tls_checks& tls, problem_list& problems)
        : with_{secrets, tls, problems},
          problems_{problems},
          rules_{std::make_shared<rule_places>(file)}
    {
    }

    settings read(const node& root)
    {
        const auto* map = read_map({"", &root, root.at, false}, "a map of settings", problems_);
        if (map != nullptr) {
            read_section(*map, "");
            check_together();
        }
        value_.rules = rules_;
        return std::move(value_);
    }

    std::optional<place> place_of(std::string_view path) const
    {
        const auto found = given_.find(path);
        return found == given_.end() ? std::nullopt : std::optional{found->second.at};
    }

    std::map<std::string, place> take_agent_urls() { return std::move(agent_urls_); }

private:
    // Recursion is as deep as the longest path of the schema.
    void read_section(const node& map, std::string_view section)
    {
        const auto known = keys_of(section);
        for (std::size_t i = 0; i < map.keys.size() && !problems_.full(); ++i) {
            const auto& key = map.keys[i];
            const auto f = member(map, i, section);
            if (section.empty() && key.text == agents_section) {
                take_agents(f, core::protocol::a2a);
            } else if (section.empty() && is_client_section(key.text)) {
                take_agents(f, core::protocol::mcp);
            } else if (const auto why = section.empty() ? foreign_section(key.text) : ""; !why.empty()) {
                problems_.add(key.at, f.path, std::string{why});
            } else if (std::find(known.begin(), known.end(), key.text) == known.end()) {
                auto instead = replacement(f.path);
                problems_.add(key.at, f.path, instead.empty() ? unknown_key(key.text, known) : std::move(instead));
            } else if (const auto* row = find_setting(f.path)) {
                read_setting(f, *row);
            } else if (const auto* below = read_map(f, "a map of settings", problems_)) {
                read_section(*below, f.path);
            }
        }
    }

    // Each agent has its key in the map, in the same order.
    void take_agents(const field& f, core::protocol by_default)
    {
        auto read = read_agents(f, with_, by_default);
        for (std::size_t i = 0; i < read.size(); ++i) {
            const auto& name = f.value->keys[i];
            if (!ids_.insert(read[i].id).second) {
                problems_.add(name.at, join(f.path, name.text), "is an agent already; expected another id");
            }
            const auto& keys = f.value->items[i].keys;
            for (std::size_t k = 0; k < keys.size(); ++k) {
                if (keys[k].text == "url" || keys[k].text == "grpc_url") {
                    agent_urls_.emplace(
                        "agents." + read[i].id + '.' + keys[k].text,
                        member(f.value->items[i], k, {}).at
                    );
                }
            }
            rules_->add_agent(read[i].id, f.value->items[i]);
            value_.agents.push_back(std::move(read[i]));
            agent_names_.push_back(name);
        }
    }

    void read_setting(const field& f, const setting& row)
    {
        const auto before = problems_.size();
        row.key->read(f, with_, value_);
        if (row.path == "access") {
            rules_->add_access(*f.value);
        }
        given_[row.path] = {f.at, problems_.size() == before && !f.value->unusable, f.value};
    }

    void check_together()
    {
        for (const auto& each : contradictions_of(value_)) {
            tell(each);
        }
        check_administration();
        check_signatures();
        check_providers();
        for (const auto& each : host_conflicts_of(value_)) {
            const auto key = each.key.empty() ? "" : '.' + std::string{each.key};
            problems_.add(agent_names_[each.agent].at, "agents." + value_.agents[each.agent].id + key, each.what);
        }
        const auto& by_default = value_.grpc.default_agent;
        if (!by_default.empty() && problems_.empty() && !value_.agents.empty() && !ids_.contains(by_default)) {
            problems_.warn(
                given_.at("grpc.default_agent").at,
                "grpc.default_agent",
                "is no agent of this file; expected the id of one, unless it is created later"
            );
        }
        if (const auto bundles = given_.find("mcp.bundles"); bundles != given_.end() && problems_.empty()) {
            check_bundles({"mcp.bundles", bundles->second.value, bundles->second.at}, value_, problems_);
        }
        if (const auto access = given_.find("access"); access != given_.end() && problems_.empty()) {
            warn_of_access({"access", access->second.value, access->second.at}, value_, problems_);
        }
    }

    void check_administration()
    {
        for (const auto& row : all_settings()) {
            const std::string other{row.file_of};
            if (!other.empty() && given_.contains(row.path) && given_.contains(other)) {
                const auto at = given_.at(row.path).at;
                problems_.add(at, row.path, "stands beside " + other + "; expected one of the two");
            }
        }
        const auto access = given_.find("access");
        const auto admin_access = given_.find("admin_access");
        if (admin_access == given_.end() || (access != given_.end() && !access->second.read)) {
            return;
        }
        if (const auto predicate = unusable_admin_access(value_)) {
            problems_.add(admin_access->second.at, "admin_access", std::string{*predicate});
        }
    }

    void check_providers()
    {
        const auto access = given_.find("access");
        if (access == given_.end() || !access->second.read || value_.access.providers.empty()) {
            return;
        }
        for (std::size_t i = 0; i < value_.agents.size(); ++i) {
            const auto& agent = value_.agents[i];
            for (const auto& [key, policy] : {std::pair{"discover", &agent.discover}, std::pair{"call", &agent.call}}) {
                if (*policy) {
                    check_provider(i, key, **policy);
                }
            }
            for (const auto& overlay : agent.overlays) {
                check_provider(i, "overlays", overlay.when);
            }
            for (const auto& each : agent.acts_as) {
                check_provider(i, "acts_as", {.any_of = {{.providers = {each.provider}}}});
            }
            if (hides_logins(agent, value_.access)) {
                problems_.warn(
                    agent_names_[i].at,
                    "agents." + agent.id + ".caller_credentials",
                    "sends callers to log in at the gateway's issuers instead of the server's, because not everybody "
                    "may discover the agent; expected `discover: anyone`, or clients that know where to log in"
                );
            }
        }
    }

    // `key` of the i-th agent has the policy.
    void check_provider(std::size_t i, const std::string& key, const core::access_policy& policy)
    {
        if (const auto missing = missing_provider(policy, value_.access.providers); !missing.empty()) {
            problems_.add(
                agent_names_[i].at,
                "agents." + value_.agents[i].id + '.' + key,
                '"' + std::string{missing} + "\" " + std::string{no_such_provider}
            );
        } else if (const auto claim = misplaced_claim(policy, value_.access); !claim.empty()) {
            problems_.warn(agent_names_[i].at, "agents." + value_.agents[i].id + '.' + key, claim);
        }
    }

    void check_signatures()
    {
        const auto policy = given_.find("cards.signatures");
        if (policy != given_.end() && value_.cards.signing_key.empty() && signs(value_.cards.signatures)) {
            problems_.add(policy->second.at, "cards.signatures", std::string{no_signing_key});
            return;  // else each agent would say so again
        }
        for (std::size_t i = 0; i < value_.agents.size(); ++i) {
            const auto& agent = value_.agents[i];
            if (const auto predicate = signature_contradiction(agent, value_.cards)) {
                problems_.add(agent_names_[i].at, "agents." + agent.id + ".signatures", *predicate);
            }
        }
    }

    // At least one of the two is in the file, since the defaults do not contradict each other.
    void tell(const contradiction& found)
    {
        const auto of_first = given_.find(found.first);
        const auto of_second = given_.find(found.second);
        const auto unread = [&](auto setting) { return setting != given_.end() && !setting->second.read; };
        if (unread(of_first) || unread(of_second)) {
            return;
        }
        const auto at = of_first != given_.end() ? of_first->second.at : of_second->second.at;
        const auto shown = [&](std::string_view path) { return text_of(find_setting(path)->key->print(value_)); };
        const auto other = shown(found.second);
        problems_.add(
            at,
            found.first,
            shown(found.first) + ' ' + std::string{found.relation} + ' ' + std::string{found.second} +
                (other.empty() ? "" : " (" + other + ')') + "; expected " + std::string{found.expected}
        );
    }

    const reading with_;
    problem_list& problems_;
    settings value_;
    std::map<std::string_view, given_setting> given_;
    std::vector<node::name> agent_names_;  // of value_.agents
    std::map<std::string, place> agent_urls_;
    std::unordered_set<std::string> ids_;
    std::shared_ptr<rule_places> rules_;
};

}  // namespace

loaded load(
    std::string_view text,
    std::string_view file_name,
    const environment& variables,
    const secret_reader& secrets,
    const tls_checks& tls
)
{
    problem_list problems{file_name};
    loaded result;
    if (auto root = read_document(text, file_name, problems)) {
        expand_all(*root, variables, problems);
        settings_reader reader{file_name, secrets, tls, problems};
        result.value = reader.read(*root);
        result.listen_at = reader.place_of("listen");
        result.admin_at = reader.place_of("admin");
        result.agent_urls_at = reader.take_agent_urls();
    }
    result.problems = problems.take();
    result.warnings = problems.take_warnings();
    return result;
}

}  // namespace config
