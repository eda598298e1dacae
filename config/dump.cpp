#include "config/dump.hpp"

#include "config/agent_table.hpp"
#include "config/client_files.hpp"
#include "config/document.hpp"
#include "config/json_value.hpp"
#include "config/schema.hpp"
#include "config/url.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace config {
namespace {

using core::json;

const node* member_of_map(const node* map, std::string_view key, unsigned* line = nullptr)
{
    for (std::size_t i = 0; map != nullptr && i < map->keys.size(); ++i) {
        if (map->keys[i].text == key) {
            if (line != nullptr) {
                *line = map->keys[i].at.line;
            }
            return &map->items[i];
        }
    }
    return nullptr;
}

// Adds the variables in a text that gave it their value and not their default.
void add_variables(std::string_view text, const environment& variables, std::string& out)
{
    for (auto at = text.find("${"); at != text.npos; at = text.find("${", at + 2)) {
        const auto inside = text.substr(at + 2, text.find('}', at) - at - 2);
        const auto name = variable_of(inside);
        const bool literal = at > 0 && text[at - 1] == '$';
        const auto value = literal || !variables ? std::nullopt : variables(name);
        const bool known = (out + ',').find(' ' + name + ',') != std::string::npos;
        if (value && !known && (!value->empty() || inside.find(":-") == inside.npos)) {
            out += (out.empty() ? ", environment " : ", ") + name;
        }
    }
}

void add_variables(const node& value, const environment& variables, std::string& out)
{
    add_variables(value.text, variables, out);
    for (const auto& each : value.items) {
        add_variables(each, variables, out);
    }
}

// The value with a mask for each text in which a variable stood.
json masked_json(const node& value)
{
    if (value.from_outside) {
        return core::masked;
    }
    auto shown = to_json(value);
    for (std::size_t i = 0; i < value.items.size(); ++i) {
        auto hidden = masked_json(value.items[i]);
        if (value.is == node::kind::list) {
            shown[i] = std::move(hidden);
        } else {
            shown[value.keys[i].text] = std::move(hidden);
        }
    }
    return shown;
}

void put(json& tree, std::string_view path, json leaf)
{
    const auto dot = path.find('.');
    auto& below = tree[std::string{path.substr(0, dot)}];
    if (dot == path.npos) {
        below = std::move(leaf);
    } else {
        put(below, path.substr(dot + 1), std::move(leaf));
    }
}

class dumper {
public:
    dumper(const settings& effective, const dump_source& from)
        : from_{from},
          shared_{effective}  // NOLINT(*-slicing): agents are no part of it
    {
        problem_list ignored{""};
        if (!from.text.empty()) {
            raw_ = read_document(from.text, from.file_name, ignored);
            expanded_ = raw_;
        }
        if (expanded_) {
            expand_all(*expanded_, from.variables, ignored);
        }
    }

    json process()
    {
        auto tree = json::object();
        for (const auto& row : all_settings()) {
            const auto flag = from_.flags.find(std::string{row.path});
            auto origin = flag == from_.flags.end() ? origin_of(root(raw_), row.path) : "flag " + flag->second;
            put(tree, row.path, leaf(row.key->print(shared_), origin.value_or("default")));
        }
        return tree;
    }

    json agent(const core::agent& agent)
    {
        agent_ = &agent;
        raw_agent_ = written_agent(root(raw_), agent.id);
        expanded_agent_ = written_agent(root(expanded_), agent.id);
        auto tree = json::object();
        for (const auto& row : all_agent_settings()) {
            // Other spellings and short forms of a key are shown as that key.
            if (!row.is_spelling() && row.type.is != agent_key::relation::transport_part) {
                auto value = agent_value(row);
                auto origin = origin_of(row, value);
                put(tree, row.name, leaf(std::move(value), std::move(origin)));
            }
        }
        return tree;
    }

private:
    static const node* written_agent(const node* root, std::string_view id)
    {
        const auto* found = member_of_map(member_of_map(root, "agents"), id);
        for (const auto section : client_sections()) {
            found = found != nullptr ? found : member_of_map(member_of_map(root, section), id);
        }
        return found;
    }

    static const node* root(const std::optional<node>& document) { return document ? &*document : nullptr; }

    static json leaf(json value, std::string origin)
    {
        return {{"value", std::move(value)}, {"origin", std::move(origin)}};
    }

    std::optional<std::string> origin_of(const node* map, std::string_view path) const
    {
        unsigned line = 0;
        for (std::size_t begin = 0; begin <= path.size() && map != nullptr;) {
            const auto end = std::min(path.find('.', begin), path.size());
            map = member_of_map(map, path.substr(begin, end - begin), &line);
            begin = end + 1;
        }
        if (map == nullptr) {
            return std::nullopt;
        }
        std::string names;
        add_variables(*map, from_.variables, names);
        return std::string{from_.file_name} + ':' + std::to_string(line) + names;
    }

    // Whether a flag of the command line gave the value of this row.
    bool is_of_flag(const agent_setting& row) const
    {
        const bool mcp = agent_->speaks == core::protocol::mcp;
        const bool program = mcp && agent_->url.empty();
        return row.name == (program ? "transport" : "url") || (mcp && row.name == "protocol");
    }

    std::string origin_of(const agent_setting& row, const json& value) const
    {
        const auto flag = from_.flags.find("agents." + agent_->id);
        if (flag != from_.flags.end() && is_of_flag(row)) {
            return "flag " + flag->second;
        }
        auto paths = names_of(row);
        if (!value.is_null()) {
            paths.push_back(row.also_from);
        }
        std::optional<std::string> found;
        for (const auto path : paths) {
            found = found ? found : origin_of(raw_agent_, path);
        }
        const std::string stand_in{row.usual.setting};
        return found ? *found : "default" + (stand_in.empty() ? "" : ": " + stand_in);
    }

    // The key and its other spellings.
    static std::vector<std::string_view> names_of(const agent_setting& row)
    {
        std::vector<std::string_view> names{row.name};
        for (const auto& other : all_agent_settings()) {
            if (other.is_spelling() && other.type.of == row.name) {
                names.push_back(other.name);
            }
        }
        return names;
    }

    json agent_value(const agent_setting& row)
    {
        if (row.name == "card" || row.name == "metadata" || row.type.is == agent_key::relation::transport) {
            return row.name == "card"       ? card()
                   : row.name == "metadata" ? written("metadata", json::object())
                                            : transport();
        }
        if (row.type.is == agent_key::relation::file) {
            return file(row);
        }
        auto value = shown_value(row, *agent_);
        const bool stands_in = value.empty() && !row.usual.setting.empty() && (agent_->mcp || !only_of_mcp(row));
        return stands_in ? find_setting(row.usual.setting)->key->print(shared_) : value;
    }

    json file(const agent_setting& row) const
    {
        json path;
        for (const auto name : names_of(row)) {
            path = path.is_null() ? plain(name) : path;
        }
        return path;
    }

    json plain(std::string_view key) const
    {
        const auto* value = member_of_map(expanded_agent_, key);
        return value == nullptr ? json{} : json(value->text);
    }

    json written(std::string_view key, json otherwise) const
    {
        const auto* value = member_of_map(expanded_agent_, key);
        return value == nullptr ? std::move(otherwise) : masked_json(*value);
    }

    json card() const
    {
        if (agent_->card.empty()) {
            return {};
        }
        const auto* own = member_of_map(expanded_agent_, "card");
        const auto* other = member_of_map(member_of_map(expanded_agent_, "metadata"), "agentCard");
        return own != nullptr ? masked_json(*own) : other != nullptr ? masked_json(*other) : json{};
    }

    // The record keeps the transport without credentials.
    json transport() const
    {
        const auto metadata = core::parse_json(agent_->metadata);
        const auto* kept = metadata ? core::member(*metadata, "transport") : nullptr;
        return kept == nullptr || agent_->speaks != core::protocol::mcp ? json{} : *kept;
    }

    const dump_source& from_;
    process_settings shared_;
    std::optional<node> raw_;
    std::optional<node> expanded_;
    const core::agent* agent_ = nullptr;
    const node* raw_agent_ = nullptr;
    const node* expanded_agent_ = nullptr;
};

bool is_leaf(const json& value)
{
    const auto* origin = core::member(value, "origin");
    return origin != nullptr && origin->is_string();
}

void write(const json& tree, std::size_t depth, std::string& out)
{
    for (const auto& [key, value] : tree.items()) {
        const bool letters = !key.empty() && core::is_letter(key[0]);
        out += std::string(2 * depth, ' ') + (letters ? key : json(key).dump()) + ':';
        if (is_leaf(value)) {
            out += ' ' + core::to_text(value["value"]) + "  # " + value["origin"].get<std::string>() + '\n';
        } else {
            out += value.empty() ? " {}\n" : "\n";
            write(value, depth + 1, out);
        }
    }
}

}  // namespace

json dump(const settings& effective, const dump_source& from)
{
    dumper one{effective, from};
    auto tree = one.process();
    auto agents = json::object();
    for (const auto& each : effective.agents) {
        append_member(agents, each.id, one.agent(each));
    }
    tree["agents"] = std::move(agents);
    return tree;
}

json given_values(const core::agent& agent)
{
    const auto usual = usual_agent(agent.speaks);
    auto given = json::object();
    for (const auto& row : all_agent_settings()) {
        auto value = same_value(row, agent, usual) ? json{} : shown_value(row, agent);
        if (!value.is_null()) {
            put(given, row.name, std::move(value));
        }
    }
    return given;
}

std::string dump_text(const json& dumped)
{
    std::string out;
    write(dumped, 0, out);
    return out;
}

}  // namespace config
