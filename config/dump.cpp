// over 400 lines: one table of all keys, and what is shown of each.
#include "config/dump.hpp"

#include "config/client_files.hpp"
#include "config/document.hpp"
#include "config/json_value.hpp"
#include "config/schema.hpp"
#include "config/url.hpp"
#include "config/values.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

namespace config {
namespace {

using core::json;
using std::string_view_literals::operator""sv;

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

// The variables in a text whose value it has got, and not their default.
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

// Without what variables put in.
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

json text_or_null(const std::string& text)
{
    return text.empty() ? json{} : json(text);
}

json certificate(const certificate_files& files)
{
    json out{{"cert", files.cert}, {"key", files.key}};
    if (!files.names.empty()) {
        out["names"] = files.names;
    }
    return out;
}

json setting_value(const setting_type& type, settings& of)
{
    if (const auto* count = std::get_if<count_setting>(&type)) {
        return count->member(of);
    }
    if (const auto* on = std::get_if<switch_setting>(&type)) {
        return on->member(of);
    }
    if (const auto* certificates = std::get_if<certificate_list_setting>(&type)) {
        auto all = json::array();
        for (const auto& each : certificates->member(of)) {
            all.push_back(certificate(each));
        }
        return all;
    }
    const auto* hosts = std::get_if<host_list_setting>(&type);
    const auto* networks = std::get_if<network_list_setting>(&type);
    const auto* origins = std::get_if<origin_list_setting>(&type);
    if (hosts != nullptr || networks != nullptr || origins != nullptr) {
        return hosts != nullptr ? hosts->member(of) : networks != nullptr ? networks->member(of) : origins->member(of);
    }
    return text_or_null(value_text(type, of));
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
        : from_{from}
    {
        static_cast<process_settings&>(shared_) = effective;
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
            put(tree, row.path, leaf(setting_value(row.type, shared_), origin.value_or("default")));
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
            if (is_own_row(row)) {
                auto [value, stand_in] = agent_value(row);
                put(tree, row.name, leaf(std::move(value), origin_of(row, stand_in)));
            }
        }
        return tree;
    }

private:
    struct shown {
        json value;
        std::string_view stand_in{};  // the key that speaks for one that is not given
    };

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

    // Other spellings and short forms of a key are shown as that key.
    static bool is_own_row(const agent_setting& row)
    {
        constexpr std::array other_spellings{"serverUrl"sv, "httpUrl"sv, "envFile"sv, "protocolVersion"sv};
        const bool other = std::find(other_spellings.begin(), other_spellings.end(), row.name) != other_spellings.end();
        return !other && row.key != agent_key::command && row.key != agent_key::args && row.key != agent_key::env &&
               row.key != agent_key::cwd && row.key != agent_key::type;
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

    // What an agent of the command line does not have by default.
    bool is_of_flag(const agent_setting& row) const
    {
        const bool mcp = agent_->speaks == core::protocol::mcp;
        const bool program = mcp && agent_->url.empty();
        return row.key == (program ? agent_key::transport : agent_key::url) || (mcp && row.key == agent_key::protocol);
    }

    std::string origin_of(const agent_setting& row, std::string_view stand_in) const
    {
        const auto flag = from_.flags.find("agents." + agent_->id);
        if (flag != from_.flags.end() && is_of_flag(row)) {
            return "flag " + flag->second;
        }
        auto found = origin_of(raw_agent_, row.name);
        // What speaks for a key below the same agent.
        for (const auto other : other_names(row)) {
            found = found ? found : origin_of(raw_agent_, other);
        }
        return found ? *found : "default" + (stand_in.empty() ? "" : ": " + std::string{stand_in});
    }

    std::vector<std::string_view> other_names(const agent_setting& row) const
    {
        switch (row.key) {
            case agent_key::url:
                return {"transport.url", "serverUrl", "httpUrl"};
            case agent_key::bearer:
                return agent_->bearer.empty() ? std::vector<std::string_view>{} : std::vector{"bearer_file"sv};
            case agent_key::protocol_version:
                return {"protocolVersion"};
            case agent_key::env_file:
                return {"envFile"};
            case agent_key::transport:
                return {"command"};
            case agent_key::card:
                return agent_->card.empty() ? std::vector<std::string_view>{} : std::vector{"metadata.agentCard"sv};
            case agent_key::card_url:
                return agent_->card_url.empty() ? std::vector<std::string_view>{}
                                                : std::vector{"metadata.agentCard.url"sv};
            default:
                return {};
        }
    }

    shown agent_value(const agent_setting& row) const
    {
        // over 60 lines: one case for each key.
        const auto& a = *agent_;
        switch (row.key) {
            case agent_key::url:
                return {text_or_null(shown_url(a.url))};
            case agent_key::protocol:
                return {core::name(a.speaks)};
            case agent_key::bearer:
                return {a.bearer.empty() ? json{} : json(core::masked)};
            case agent_key::bearer_file:
                return {plain("bearer_file")};
            case agent_key::env_file:
                return {plain("env_file").is_null() ? plain("envFile") : plain("env_file")};
            case agent_key::timeout:
                return {to_text(a.timeout.value_or(shared_.timeouts.upstream_head)), "timeouts.upstream_head"};
            case agent_key::relay_paths:
                return {a.relay_paths};
            case agent_key::disabled:
                return {a.disabled};
            case agent_key::shape:
                return {core::name(a.shape.value_or(shared_.cards.shape)), "cards.shape"};
            case agent_key::signatures:
                return {core::name(a.signatures.value_or(shared_.cards.signatures)), "cards.signatures"};
            case agent_key::trusted_keys:
                return {
                    text_or_null(a.trusted_keys.empty() ? shared_.cards.trusted_keys : a.trusted_keys),
                    "cards.trusted_keys"
                };
            case agent_key::key_set_origins:
                return {
                    a.key_set_origins.empty() ? shared_.cards.key_set_origins : a.key_set_origins,
                    "cards.key_set_origins"
                };
            case agent_key::card_url:
                return {text_or_null(shown_url(a.card_url))};
            case agent_key::trust_card_url:
                return {core::name(a.trust)};
            case agent_key::extended_card:
                return {core::name(a.extended_card)};
            case agent_key::card:
                return {card()};
            case agent_key::card_headers:
                return {masked_members(a.card_headers)};
            case agent_key::tls:
                return {text_or_null(
                    row.name == "tls.ca_file" ? a.ca_file
                    : row.name == "tls.cert"  ? a.cert_file
                                              : a.key_file
                )};
            case agent_key::version:
                return {text_or_null(a.version)};
            case agent_key::protocol_version:
                return {text_or_null(a.protocol_version)};
            case agent_key::metadata:
                return {written("metadata", json::object())};
            case agent_key::transport:
                return {transport()};
            case agent_key::headers:
                return {a.mcp ? masked_members(a.mcp->headers) : json{}};
            case agent_key::walk:
                return {a.mcp ? json(to_text(a.mcp->walk.value_or(shared_.mcp.walk))) : json{}, "mcp.walk"};
            case agent_key::start:
            case agent_key::era:
            case agent_key::timeouts:
            case agent_key::restart:
            case agent_key::max_message:
            case agent_key::stale_if_error:
                return {a.mcp ? of_server(row, *a.mcp) : json{}};
            case agent_key::command:
            case agent_key::args:
            case agent_key::env:
            case agent_key::cwd:
            case agent_key::type:
                break;
        }
        return {};
    }

    static json of_server(const agent_setting& row, const core::mcp_server& server)
    {
        if (row.key == agent_key::start) {
            return core::name(server.start);
        }
        if (row.key == agent_key::era) {
            return core::name(server.era);
        }
        if (row.key == agent_key::max_message) {
            return size_text(server.max_message);
        }
        if (row.key == agent_key::stale_if_error) {
            return server.stale_if_error;
        }
        return to_text(
            row.name == "timeouts.initialize" ? server.initialize_timeout
            : row.name == "timeouts.request"  ? server.request_timeout
            : row.name == "timeouts.ping"     ? server.ping_interval
            : row.name == "restart.backoff"   ? server.backoff
                                              : server.max_backoff
        );
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

    static json masked_members(const std::vector<std::pair<std::string, core::secret>>& members)
    {
        auto all = json::object();
        for (const auto& [name, value] : members) {
            append_member(all, name, core::masked);
        }
        return all;
    }

    // As it is kept with the record: without what may be a credential.
    json transport() const
    {
        const auto metadata = core::parse_json(agent_->metadata);
        const auto* kept = metadata ? core::member(*metadata, "transport") : nullptr;
        return kept == nullptr || agent_->speaks != core::protocol::mcp ? json{} : *kept;
    }

    const dump_source& from_;
    settings shared_;
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
        const bool letters = !key.empty() && ((key[0] >= 'a' && key[0] <= 'z') || (key[0] >= 'A' && key[0] <= 'Z'));
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

std::string dump_text(const json& dumped)
{
    std::string out;
    write(dumped, 0, out);
    return out;
}

}  // namespace config
