#include "config/load.hpp"

#include "config/access.hpp"
#include "config/access_policy.hpp"
#include "config/access_providers.hpp"
#include "config/access_warnings.hpp"
#include "config/agent_hosts.hpp"
#include "config/choice.hpp"
#include "config/client_files.hpp"
#include "config/contradictions.hpp"
#include "config/document.hpp"
#include "config/exposure.hpp"
#include "config/fields.hpp"
#include "config/marks.hpp"
#include "config/mcp_calls.hpp"
#include "config/replaced_keys.hpp"
#include "config/schema.hpp"
#include "config/signatures.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"
#include "core/ip.hpp"
#include "core/proxy.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace config {
namespace {

constexpr std::string_view agents_section = "agents";

// What stands below `section` in `path`, up to the next dot: "cards" of "cards.ttl" below "".
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

// What is expected of a list, and of its elements.
struct list_words {
    std::string_view list;
    std::string_view noun;     // what an element has to be
    std::string_view element;  // the same with examples
};

class settings_reader {
public:
    settings_reader(const secret_reader& secrets, const tls_checks& tls, problem_list& problems)
        : secrets_{secrets},
          tls_{tls},
          problems_{problems}
    {
    }

    settings read(const node& root)
    {
        const auto* map = read_map({"", &root, root.at, false}, "a map of settings", problems_);
        if (map != nullptr) {
            read_section(*map, "");
            check_together();
        }
        return std::move(value_);
    }

    std::optional<place> place_of(std::string_view path) const
    {
        const auto found = given_.find(path);
        return found == given_.end() ? std::nullopt : std::optional{found->second.at};
    }

    std::map<std::string, place> take_agent_urls() { return std::move(agent_urls_); }

private:
    // As deep as the longest path of the schema.
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
        auto read = read_agents(f, secrets_, tls_, problems_, by_default);
        for (std::size_t i = 0; i < read.size(); ++i) {
            const auto& name = f.value->keys[i];
            if (!ids_.insert(read[i].id).second) {
                problems_.add(name.at, join(f.path, name.text), "is an agent already; expected another id");
            }
            const auto& keys = f.value->items[i].keys;
            const auto url = static_cast<std::size_t>(std::ranges::find(keys, "url", &node::name::text) - keys.begin());
            if (url < keys.size()) {
                agent_urls_.emplace(read[i].id, member(f.value->items[i], url, {}).at);
            }
            value_.agents.push_back(std::move(read[i]));
            agent_names_.push_back(name);
        }
    }

    void read_setting(const field& f, const setting& row)
    {
        const auto before = problems_.size();
        std::visit([&](const auto& type) { read_value(f, type, written_as(row.type)); }, row.type);
        given_[row.path] = {f.at, problems_.size() == before && !f.value->unusable, f.value};
    }

    template <class Type>
    void read_value(const field& f, const Type& type, const std::string& expected)
    {
        field quiet = f;
        quiet.secret = true;  // who puts a password into a URL does not want it on the screen
        const overloaded read{
            [&](const duration_setting& s) { return read_duration(f, s.least, s.most, problems_); },
            [&](const size_setting& s) {
                return read_size(f, "a size such as 512, 16KiB or 1MiB", {s.least, s.most}, problems_);
            },
            [&](const count_setting& s) { return read_count(f, expected, {s.least, s.most}, problems_); },
            [&](const share_setting& s) { return read_share(f, {s.least, s.most}, problems_); },
            [&](const duration_marks_setting& s) {
                return read_marks<core::duration>(f, expected, problems_, [&](const field& mark) {
                    return read_duration(mark, s.least, s.most, problems_);
                });
            },
            [&](const percent_marks_setting& s) {
                return read_marks<std::uint64_t>(f, expected, problems_, [&](const field& mark) {
                    return read_count(mark, "a whole number", {s.least, s.most}, problems_);
                });
            },
            [&](const field_name_list_setting&) { return std::optional{read_names(f, expected)}; },
            [&](const switch_setting&) { return read_switch(f, problems_); },
            [&](const address_setting&) {
                return read_parsed(f, "host:port such as 127.0.0.1:4000 or \"[::1]:4000\"", parse_endpoint, problems_);
            },
            [&]<class Enum>(const choice_setting<Enum>&) { return read_choice<Enum>(f, problems_); },
            [&](const base_url_setting&) { return read_parsed(quiet, expected, parse_base_url, problems_); },
            [&](const store_setting&) { return read_parsed(quiet, expected, parse_store, problems_); },
            [&](const audit_setting&) { return read_parsed(f, expected, parse_audit, problems_); },
            [&](const file_setting& s) { return std::optional{read_checked_file(f, s.kind, tls_, problems_)}; },
            [&](const origin_list_setting&) { return std::optional{read_origins(f, problems_)}; },
            [&](const page_origin_list_setting&) { return std::optional{read_page_origins(f, expected)}; },
            [&](const secret_setting&) { return read_token(f); },
            [&](const secret_file_setting& s) {
                return s.of == "proxy" ? read_proxy_file(f, secrets_, problems_) : read_token_file(f);
            },
            [&](const proxy_setting&) { return read_proxy(f, problems_); },
            [&](const direct_host_list_setting&) { return std::optional{read_direct_hosts(f, expected)}; },
            [&](const session_key_list_setting&) { return std::optional{read_session_keys(f, secrets_, problems_)}; },
            [&](const host_list_setting&) { return std::optional{read_hosts(f, expected)}; },
            [&](const host_pattern_setting&) { return read_parsed(f, expected, parse_host_pattern, problems_); },
            [&](const network_list_setting&) { return std::optional{read_networks(f, expected)}; },
            [&](const access_setting&) { return std::optional{read_access(f, secrets_, tls_, problems_)}; },
            [&](const certificate_list_setting&) { return std::optional{read_certificates(f, tls_, problems_)}; },
        };
        if (auto value = read(type)) {
            type.member(value_) = std::move(*value);
        }
    }

    std::optional<core::secret> read_token(const field& f)
    {
        field quiet = f;
        quiet.secret = true;
        const auto* text = read_text(quiet, expected_token, problems_);
        return text == nullptr ? std::nullopt : std::optional{checked_token(f, *text, problems_)};
    }

    std::optional<core::secret> read_token_file(const field& f)
    {
        const auto text = read_named_file(f, expected_token_file, secrets_, problems_);
        return text ? std::optional{checked_token(f, *text, problems_)} : std::nullopt;
    }

    // Each `noun` of a list, as `parse` has it.
    template <class Parse>
    std::vector<std::string> read_elements(const field& f, const list_words& words, Parse parse)
    {
        std::vector<std::string> parsed;
        for (const auto& element : read_list(f, words.list, problems_)) {
            const auto* text = read_text(element, words.noun, problems_);
            if (text == nullptr) {
                continue;
            }
            if (std::optional<std::string> value = parse(*text)) {
                parsed.push_back(std::move(*value));
            } else {
                const auto predicate = text->empty() ? "is empty" : "is not " + std::string{words.noun};
                refuse(element, predicate, words.element, problems_);
            }
        }
        return parsed;
    }

    std::vector<std::string> read_names(const field& f, std::string_view expected)
    {
        const auto parse = [](const std::string& text) {
            return core::is_token(text) ? std::optional{text} : std::nullopt;
        };
        return read_elements(f, {expected, "a header name", "a name such as X-Timeout-Ms"}, parse);
    }

    std::vector<std::string> read_hosts(const field& f, std::string_view expected)
    {
        const auto parse = [](const std::string& text) { return text == "*" ? text : parse_host(text); };
        return read_elements(f, {expected, "a host name", "a name or address without a port, or *"}, parse);
    }

    std::vector<std::string> read_direct_hosts(const field& f, std::string_view expected)
    {
        constexpr std::string_view element = "a name such as example.com, an address, a block such as 10.0.0.0/8, or *";
        const auto parse = [](const std::string& text) {
            return core::valid_direct_host(text) ? std::optional{text} : std::nullopt;
        };
        return read_elements(f, {expected, "a host", element}, parse);
    }

    std::vector<std::string> read_page_origins(const field& f, std::string_view expected)
    {
        return read_elements(f, {expected, "an origin", expected_page_origin}, parse_page_origin);
    }

    std::vector<std::string> read_networks(const field& f, std::string_view expected)
    {
        constexpr std::string_view element =
            "an address such as 192.0.2.1 or 2001:db8::1, or a block such as 10.0.0.0/8";
        const auto parse = [](const std::string& text) {
            return core::parse_ip_block(text) ? std::optional{text} : std::nullopt;
        };
        return read_elements(f, {expected, "an IP address or block", element}, parse);
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
        if (const auto access = given_.find("access"); access != given_.end() && problems_.empty()) {
            warn_of_access({"access", access->second.value, access->second.at}, value_, problems_);
        }
    }

    void check_administration()
    {
        for (const auto& row : all_settings()) {
            const auto* const file = std::get_if<secret_file_setting>(&row.type);
            if (file != nullptr && given_.contains(row.path) && given_.contains(file->of)) {
                problems_.add(
                    given_.at(row.path).at,
                    row.path,
                    "stands beside " + std::string{file->of} + "; expected one of the two"
                );
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

    // Of a policy below this key of the i-th agent.
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

    // Of the two, at least one is in the file: the defaults do not contradict each other.
    void tell(const contradiction& found)
    {
        const auto of_first = given_.find(found.first);
        const auto of_second = given_.find(found.second);
        const auto unread = [&](auto setting) { return setting != given_.end() && !setting->second.read; };
        if (unread(of_first) || unread(of_second)) {
            return;
        }
        const auto at = of_first != given_.end() ? of_first->second.at : of_second->second.at;
        const auto shown = [&](std::string_view path) { return value_text(find_setting(path)->type, value_); };
        const auto other = shown(found.second);
        problems_.add(
            at,
            found.first,
            shown(found.first) + ' ' + std::string{found.relation} + ' ' + std::string{found.second} +
                (other.empty() ? "" : " (" + other + ')') + "; expected " + std::string{found.expected}
        );
    }

    const secret_reader& secrets_;
    const tls_checks& tls_;
    problem_list& problems_;
    settings value_;
    std::map<std::string_view, given_setting> given_;
    std::vector<node::name> agent_names_;  // of value_.agents
    std::map<std::string, place> agent_urls_;
    std::unordered_set<std::string> ids_;
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
        settings_reader reader{secrets, tls, problems};
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
