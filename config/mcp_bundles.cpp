#include "config/mcp_bundles.hpp"

#include "config/access.hpp"
#include "config/access_values.hpp"
#include "config/mcp_server.hpp"
#include "core/agent.hpp"
#include "core/pattern.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace config {
namespace {

using core::json;

constexpr std::string_view expected_agents = "a list of agents' ids, or of maps such as {id: team.files, as: files}";
constexpr std::string_view expected_member = "an agent's id, in which * is any text, or a map with id and as";
constexpr std::string_view expected_prefix =
    "a letter and up to 31 letters, digits, '-' and '_', without \"__\" and without '_' at the end";
constexpr std::string_view expected_tools = "search, or a map with search, always, allow and deny";

std::string in_quotes(std::string_view text)
{
    return '"' + std::string{text} + '"';
}

// Reads the members of one bundle: what each may be depends on those before it.
class members_reader {
public:
    explicit members_reader(const reading& with)
        : with_{with},
          problems_{with.problems}
    {
    }

    std::vector<core::bundle_member> read(const field& f)
    {
        const auto elements = read_list(f, expected_agents, problems_);
        if (elements.size() > core::most_bundle_agents) {
            problems_.add(f, "has more than " + std::to_string(core::most_bundle_agents) + " agents");
            return {};
        }
        if (elements.empty() && !f.value->unusable) {
            refuse(f, "has no agent", expected_agents, problems_);
        }
        for (const auto& each : elements) {
            read_member(each);
        }
        return std::move(members_);
    }

private:
    void read_member(const field& f)
    {
        if (f.value->is != node::kind::map) {
            if (const auto* id = read_text(f, expected_member, problems_)) {
                take(f, {*id, {}});
            }
            return;
        }
        const access_members given{f, *f.value, access_map::bundle_member, with_};
        core::bundle_member member;
        given.read(member);
        if (const auto* as = given.find("as")) {
            if (const auto* text = read_text(*as, expected_prefix, problems_)) {
                member.as = *text;
                check_prefix(*as, *text);
            }
        }
        if (const auto* id = given.find("id"); id != nullptr && !member.id.empty()) {
            take(*id, std::move(member));
        }
    }

    void check_prefix(const field& f, const std::string& as)
    {
        if (!as.empty() && !core::valid_bundle_prefix(as)) {
            refuse(f, "cannot stand before names", expected_prefix, problems_);
        }
    }

    // `f` is where the id is.
    void take(const field& f, core::bundle_member member)
    {
        if (!is_id_pattern(member.id) || (!member.is_pattern() && !core::valid_agent_id(member.id))) {
            refuse(f, member.id.empty() ? "is empty" : "is not an agent's id", expected_member, problems_);
        } else if (!ids_.insert(member.id).second) {
            refuse(f, "is a member already", "each agent once", problems_);
        } else if (member.is_pattern()) {
            if (member.as) {
                refuse(f, "is a pattern, whose agents cannot all have the same `as`", "the id of one agent", problems_);
            }
            members_.push_back(std::move(member));
        } else {
            check_names(f, member);
            members_.push_back(std::move(member));
        }
    }

    void check_names(const field& f, const core::bundle_member& member)
    {
        const auto as = member.as.value_or(member.id);
        if (!member.as && !core::valid_bundle_prefix(as)) {
            refuse(f, "cannot stand before names", proposal(member.id), problems_);
            return;
        }
        const auto [other, is_new] = schemes_.emplace(core::bundle_scheme(as), member.id);
        if (!is_new && as.empty()) {
            refuse(f, "has the same `as`, \"\", as " + in_quotes(other->second), "one member with \"\"", problems_);
        } else if (!is_new) {
            refuse(f, "has the same prefix as " + in_quotes(other->second), proposal(member.id), problems_);
        }
    }

    // A member that would fit.
    std::string proposal(const std::string& id) const
    {
        const auto first = core::proposed_prefix(id);
        auto as = first;
        for (int i = 2; schemes_.contains(core::bundle_scheme(as)); ++i) {
            const auto number = '-' + std::to_string(i);
            as = core::proposed_prefix(first.substr(0, core::longest_bundle_prefix - number.size()) + number);
        }
        return "{id: " + id + ", as: " + as + '}';
    }

    const reading& with_;
    problem_list& problems_;
    std::set<std::string, std::less<>> ids_;
    std::map<std::string, std::string> schemes_;  // and the id of the member that has it
    std::vector<core::bundle_member> members_;
};

void read_tools(const field& f, const reading& with, core::mcp_bundle& bundle)
{
    if (f.value->is == node::kind::scalar) {
        const auto* word = read_text(f, expected_tools, with.problems);
        bundle.search = word != nullptr && *word == word_search;
        if (word != nullptr && !bundle.search) {
            refuse(f, word->empty() ? "is empty" : "is not `search`", expected_tools, with.problems);
        }
        return;
    }
    if (f.value->is == node::kind::list) {
        bundle.tools.allow = read_name_patterns(f, with.problems);
        return;
    }
    const auto* map = read_map(f, expected_tools, with.problems);
    if (map == nullptr) {
        return;
    }
    const access_members given{f, *map, access_map::bundle_tools, with};
    given.read(bundle);
    given.read(bundle.tools);
    if (const auto* always = given.find("always"); always != nullptr && !bundle.search) {
        with.problems.add(*always, "stands without `search: true`; expected both");
    }
}

json shown_tools(const core::mcp_bundle& bundle)
{
    if (bundle.search && bundle.always.empty() && bundle.tools == core::mcp_filter{}) {
        return word_search;
    }
    json shown;
    show_members(access_map::bundle_tools, bundle, shown);
    show_members(access_map::bundle_tools, bundle.tools, shown);
    return shown;
}

// `f` is the field of the members.
void check_room(const field& f, const core::mcp_bundle& bundle, problem_list& problems)
{
    for (const auto& each : bundle.agents) {
        const auto as = each.as.value_or(each.id);
        if (!each.is_pattern() && as.size() + core::least_behind_prefix > bundle.name_length) {
            problems.add(
                f,
                "has " + in_quotes(as) + ", behind which `name_length` leaves no room for names; expected at most " +
                    std::to_string(bundle.name_length - core::least_behind_prefix) + " characters"
            );
        }
    }
}

json shown_members(const std::vector<core::bundle_member>& members)
{
    auto list = json::array();
    for (const auto& each : members) {
        list.push_back(each.as ? json{{"id", each.id}, {"as", *each.as}} : json(each.id));
    }
    return list;
}

core::mcp_bundle read_bundle(const field& f, const reading& with)
{
    core::mcp_bundle bundle;
    const auto* map = read_given_map(f, "a map with the agents of the bundle", with.problems);
    if (map == nullptr) {
        return bundle;
    }
    const access_members given{f, *map, access_map::bundle, with};
    given.read(bundle);
    if (const auto* agents = given.require("agents", expected_agents)) {
        const auto before = with.problems.size();
        bundle.agents = members_reader{with}.read(*agents);
        if (with.problems.size() == before) {
            check_room(*agents, bundle, with.problems);
        }
    }
    if (const auto* tools = given.find("tools")) {
        read_tools(*tools, with, bundle);
    }
    return bundle;
}

core::mcp_filter read_filter(const field& f, const reading& with)
{
    core::mcp_filter filter;
    if (f.value->is == node::kind::list) {
        filter.allow = read_name_patterns(f, with.problems);
    } else if (const auto* map = read_map(f, "a map with allow and deny", with.problems)) {
        access_members{f, *map, access_map::bundle_list, with}.read(filter);
    }
    return filter;
}

std::vector<std::string> ids_of(const std::vector<core::agent>& agents)
{
    std::vector<std::string> ids;
    for (const auto& each : agents) {
        ids.push_back(each.id);
    }
    std::ranges::sort(ids);
    return ids;
}

// The agents that a pattern of the bundle fits and does not bring.
void warn_of_gaps(const field& at, const core::mcp_bundle& bundle, const settings& all, problem_list& problems)
{
    for (const auto& [id, why] : core::places_of(bundle, ids_of(all.agents)).skipped) {
        if (why == core::bundle_gap::full) {
            problems.warn(
                at,
                "leaves out " + in_quotes(id) + ", since a bundle has at most " +
                    std::to_string(core::most_bundle_agents) + " agents"
            );
            return;
        }
        const bool taken = why == core::bundle_gap::taken;
        problems.warn(
            at,
            "leaves out " + in_quotes(id) + ", whose id " +
                (taken ? "is the prefix of another member" : "cannot stand before names") + "; expected {id: " + id +
                ", as: " + (taken ? "…" : core::proposed_prefix(id)) + '}'
        );
    }
}

void warn_of_member(const field& at, const core::bundle_member& member, const settings& all, problem_list& problems)
{
    const auto is_it = [&](const core::agent& each) {
        return member.is_pattern() ? core::fits(member.id, each.id) : each.id == member.id;
    };
    const auto found = std::ranges::find_if(all.agents, is_it);
    if (found == all.agents.end()) {
        problems.warn(
            at,
            std::string{member.is_pattern() ? "fits no agent" : "is not an agent"} +
                " of this file; expected the id of one, unless it is created later"
        );
    } else if (!member.is_pattern() && !found->mcp && found->as_tools == core::tool_form::off) {
        problems.warn(at, "is an agent that MCP clients cannot call; expected `as_tools: agent` or `skills` of it");
    }
}

void check_policy(const field& at, const core::access_policy& policy, const settings& all, problem_list& problems)
{
    const auto& access = all.access;
    const auto missing = access.providers.empty() ? "" : missing_provider(policy, access.providers);
    if (!missing.empty()) {
        problems.add(at, in_quotes(missing) + ' ' + std::string{no_such_provider});
    } else if (const auto claim = misplaced_claim(policy, access); !claim.empty()) {
        problems.warn(at, claim);
    }
}

void check_bundle(const field& f, const core::mcp_bundle& bundle, const settings& all, problem_list& problems)
{
    const auto given = read_members(*f.value, f.path, keys_of(access_map::bundle), problems);
    if (const auto* call = find_field(given, "call"); call != nullptr && bundle.call) {
        check_policy(*call, *bundle.call, all, problems);
    }
    const auto* agents = find_field(given, "agents");
    if (agents == nullptr || all.agents.empty()) {
        return;  // a file without agents leaves them to the management API
    }
    const auto elements = read_list(*agents, "", problems);
    for (std::size_t i = 0; i < std::min(elements.size(), bundle.agents.size()); ++i) {
        warn_of_member(elements[i], bundle.agents[i], all, problems);
    }
    warn_of_gaps(*agents, bundle, all, problems);
}

}  // namespace

std::vector<core::mcp_bundle> read_bundles(const field& f, const reading& with)
{
    std::vector<core::mcp_bundle> bundles;
    const auto* map = read_map(f, "a map from names to bundles", with.problems);
    if (map == nullptr) {
        return bundles;
    }
    if (map->keys.size() > core::most_mcp_bundles) {
        with.problems.add(f, "has more than " + std::to_string(core::most_mcp_bundles) + " bundles");
        return bundles;
    }
    for (std::size_t i = 0; i < map->keys.size(); ++i) {
        const auto& name = map->keys[i];
        const auto value = member(*map, i, f.path);
        if (!core::valid_agent_id(name.text)) {
            with.problems.add(
                name.at,
                value.path,
                "is not the name of a bundle; expected 1 to 128 letters, digits, '.', '_' and '-', without '..'"
            );
        }
        bundles.push_back(read_bundle(value, with));
        bundles.back().name = name.text;
    }
    return bundles;
}

json shown_bundles(const std::vector<core::mcp_bundle>& bundles)
{
    auto shown = json::object();
    for (const auto& each : bundles) {
        auto& one = shown[each.name];
        one["agents"] = shown_members(each.agents);
        show_members(access_map::bundle, each, one);
        if (auto tools = shown_tools(each); !tools.is_null()) {
            one["tools"] = std::move(tools);
        }
    }
    return shown;
}

json bundles_schema()
{
    return schema::map_of(map_schema(access_map::bundle));
}

json bundle_members_schema()
{
    const json one{{"anyOf", {schema::any_text(), map_schema(access_map::bundle_member)}}};
    return {{"type", "array"}, {"items", one}, {"minItems", 1}};
}

json bundle_tools_schema()
{
    auto map = map_schema(access_map::bundle_tools);
    map["type"] = {"object", "null"};
    return {
        {"anyOf", {schema::or_variable({{"const", word_search}}), schema::list_of(schema::any_text()), std::move(map)}}
    };
}

json bundle_filter_schema()
{
    auto map = map_schema(access_map::bundle_list);
    map["type"] = {"object", "null"};
    return {{"anyOf", {schema::list_of(schema::any_text()), std::move(map)}}};
}

value_kind<std::string> instructions()
{
    return {
        {"text", schema::any_text},
        [](const field& f, const reading& with) -> std::optional<std::string> {
            const auto* text = read_text(f, "what models are told", with.problems);
            if (text != nullptr && text->size() > longest_instructions) {
                with.problems.add(f, "is longer than " + std::to_string(longest_instructions) + " bytes");
                return {};
            }
            return text == nullptr ? std::nullopt : std::optional{*text};
        },
        [](const std::string& text) { return text.empty() ? json{} : json(text); }
    };
}

value_kind<std::vector<std::string>> name_patterns()
{
    return kind<std::vector<std::string>>(
        {"a list of names, in which `*` is any text", [] { return schema::list_of(schema::any_text()); }},
        read_name_patterns,
        [](const std::vector<std::string>& list) { return list.empty() ? json{} : json(list); }
    );
}

value_kind<core::mcp_filter> bundle_filter()
{
    return {
        {"a map with `allow` and `deny`, or a list", bundle_filter_schema},
        [](const field& f, const reading& with) { return std::optional{read_filter(f, with)}; },
        [](const core::mcp_filter& filter) {
            json shown;
            show_members(access_map::bundle_list, filter, shown);
            return shown;
        }
    };
}

void check_bundles(const field& f, const settings& all, problem_list& problems)
{
    for (std::size_t i = 0; i < std::min(f.value->items.size(), all.mcp.bundles.size()); ++i) {
        check_bundle(member(*f.value, i, f.path), all.mcp.bundles[i], all, problems);
    }
}

}  // namespace config
