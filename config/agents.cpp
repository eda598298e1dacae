#include "config/agents.hpp"

#include "config/agent_credentials.hpp"
#include "config/agent_parts.hpp"
#include "config/agent_table.hpp"
#include "config/choice.hpp"
#include "config/client_files.hpp"
#include "config/expand.hpp"
#include "config/json_value.hpp"
#include "config/mcp_program.hpp"
#include "config/mcp_server.hpp"
#include "config/schema.hpp"
#include "config/signatures.hpp"
#include "config/url.hpp"
#include "config/values.hpp"
#include "core/json/json.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace config {
namespace {

constexpr std::string_view expected_id = "expected 1 to 128 letters, digits, '.', '_' and '-', without '..'";

// Reads one record. Its parts depend on each other, so its keys are gathered first.
class record_reader {
public:
    explicit record_reader(const reading& with, core::protocol by_default = core::protocol::a2a)
        : by_default_{by_default},
          with_{with},
          problems_{with.problems}
    {
    }

    core::agent read(const field& record, const node::name& id)
    {
        path_ = record.path;
        at_ = id.at;
        if (!core::valid_agent_id(id.text)) {
            problems_.add(id.at, path_, "is not an agent's id; " + std::string{expected_id});
        }
        if (const auto* map = read_map(record, "a map of the agent's settings", problems_)) {
            gather(*map);
            read_protocol();
            read_reach();
            read_credentials();
            read_metadata();
            read_maps();
            read_values();
            check_session();
            check_registered();
            check_overlays();
            check_dialects();
            check_grpc(agent_, given_, problems_);
            check_credentials(agent_, path_, at_, problems_);
        }
        agent_.id = id.text;
        return std::move(agent_);
    }

private:
    // Takes a key that is read here; read_values() reads the others.
    std::optional<field> take(std::string_view key)
    {
        const auto found = given_.find(key);
        return found == given_.end() ? std::nullopt : std::optional{given_.extract(found).mapped()};
    }

    void gather(const node& map)
    {
        for (std::size_t i = 0; i < map.keys.size() && !problems_.full(); ++i) {
            const auto& key = map.keys[i];
            auto value = member(map, i, path_);
            const bool whole = key.text.find('.') != std::string::npos;  // the name of a row is not how it is written
            const auto* row = whole ? nullptr : find_agent_setting(key.text);
            if (row == nullptr) {
                problems_.add(key.at, value.path, unknown_agent_key(key.text));
                continue;
            }
            const auto known_as = row->is_spelling() ? row->type.of : std::string_view{key.text};
            if (const auto* before = find_field(given_, known_as)) {
                problems_.add(
                    key.at,
                    value.path,
                    "is the same as " + before->path + ", which is given too; expected one of the two"
                );
            } else {
                const bool in_ms = row->type.is == agent_key::relation::milliseconds;
                given_.emplace(known_as, in_ms ? with_milliseconds(value, made_, problems_) : std::move(value));
            }
        }
    }

    void read_protocol()
    {
        auto speaks = given_.contains("transport") || given_.contains("command") ? core::protocol::mcp : by_default_;
        if (const auto f = take("protocol")) {
            speaks = read_choice<core::protocol>(*f, problems_).value_or(speaks);
        }
        agent_ = usual_agent(speaks);
    }

    void read_reach()
    {
        if (agent_.speaks == core::protocol::a2a) {
            take_mcp_keys(given_, problems_);
            read_upstreams(given_, path_, at_, agent_, problems_);
            return;
        }
        refuse_upstreams_of_mcp(given_, problems_);
        auto parts = read_mcp_server(given_, path_, at_, problems_);
        for (const auto* key : {"url", "headers"}) {
            given_.erase(key);
        }
        agent_.url = std::move(parts.url);
        agent_.headers = std::move(parts.headers);
        agent_.mcp = std::move(parts.server);
        transport_ = std::move(parts.shown);
        if (const auto f = take("env_file")) {
            add_env_file(*f);
        }
    }

    // `env` takes precedence.
    void add_env_file(const field& f)
    {
        if (agent_.mcp->command.empty()) {
            problems_.add(f, "stands without a command; expected both");
        }
        auto& given = agent_.mcp->environment;
        auto all = read_env_file(f, with_.secrets, problems_);
        std::set<std::string_view> own;
        for (const auto& [name, value] : given) {
            own.insert(name);
        }
        std::erase_if(all, [&](const auto& each) { return own.contains(each.first); });
        std::move(given.begin(), given.end(), std::back_inserter(all));
        given = std::move(all);
    }

    void read_credentials()
    {
        const auto bearer = take("bearer");
        if (bearer) {
            const auto* text = read_text(*bearer, "a token", problems_);
            agent_.bearer = text == nullptr ? core::secret{} : bearer_of(*bearer, *text, problems_);
        }
        if (const auto file = take("bearer_file")) {
            if (bearer && !agent_.bearer.empty()) {
                problems_.add(*file, "stands beside " + bearer->path + "; expected one of the two");
            }
            read_bearer_file(*file);
        }
        if (const auto f = take("credentials")) {
            if (bearer || !agent_.bearer.empty()) {
                problems_.add(*f, "stands beside the agent's bearer; expected one of the two");
            }
            agent_.credentials = config::read_credentials(*f, with_);
        }
        const auto proxy = take("proxy");
        const auto proxy_file = take("proxy_file");
        if (proxy && proxy_file) {
            problems_.add(*proxy_file, "stands beside " + proxy->path + "; expected one of the two");
        } else if (proxy) {
            agent_.proxy = read_proxy(*proxy, problems_).value_or(core::secret{});
        } else if (proxy_file) {
            agent_.proxy = read_proxy_file(*proxy_file, with_.secrets, problems_).value_or(core::secret{});
        }
        if (const auto f = take("tls")) {
            read_agent_tls(*f, with_.tls, agent_, problems_);
        }
    }

    void read_bearer_file(const field& f)
    {
        constexpr std::string_view expected = "the path of a file with a token";
        const auto text = read_named_file(f, expected, with_.secrets, problems_);
        if (text && text->empty()) {
            refuse(f, "is a file without a token", expected, problems_);
        } else if (text) {
            agent_.bearer = bearer_of(f, *text, problems_);
        }
    }

    void read_metadata()
    {
        metadata_parts parts;
        if (const auto f = take("metadata")) {
            parts = read_metadata_parts(*f, problems_);
            if (!transport_.is_null() && parts.members.contains("transport")) {
                problems_.add(
                    f->at,
                    f->path + ".transport",
                    "is where the agent's transport is shown; expected another name"
                );
            }
        }
        agent_.card = std::move(parts.card);
        agent_.card_url = std::move(parts.card_url);
        if (const auto f = take("card")) {
            if (!agent_.card.empty()) {
                problems_.add(*f, "stands beside " + path_ + ".metadata.agentCard; expected one of the two");
            }
            agent_.card = read_card(*f, problems_);
        }
        if (!transport_.is_null()) {
            parts.members["transport"] = std::move(transport_);
        }
        agent_.metadata = core::to_text(parts.members);
    }

    // The keys of a map such as `timeouts`, with its name in front.
    void read_maps()
    {
        members below;
        for (const auto& [name, f] : given_) {
            const auto keys = keys_below(name);
            const auto* map = keys.empty() ? nullptr : read_map(f, "a map", problems_);
            if (map != nullptr) {
                for (auto& [key, value] : read_members(*map, f.path, keys, problems_)) {
                    auto path = name;
                    path.append(1, '.').append(key);
                    if (const auto* other = find_field(given_, path)) {
                        problems_.add(
                            *other,
                            "is the same as " + value.path + ", which is given too; expected one of the two"
                        );
                    }
                    below.emplace(std::move(path), std::move(value));
                }
            }
        }
        given_.merge(below);
    }

    // The keys that depend on no other one, and were not taken.
    void read_values()
    {
        for (const auto& row : all_agent_settings()) {
            const auto* f = row.type.member == nullptr ? nullptr : find_field(given_, row.name);
            if (f != nullptr && !agent_.mcp && only_of_mcp(row)) {
                problems_.add(*f, "is for MCP servers; remove it");
            } else if (f != nullptr) {
                row.type.member->read(*f, with_, agent_);
            }
        }
    }

    void check_session()
    {
        if (!agent_.mcp) {
            return;
        }
        const auto* era = find_field(given_, "era");
        if (era != nullptr && agent_.mcp->era == core::mcp_era::modern &&
            agent_.mcp->transport == core::mcp_transport::sse) {
            problems_.add(*era, "stands beside the type sse, which has no modern era; expected auto or legacy");
        }
        const bool over_http = agent_.mcp->transport == core::mcp_transport::streamable_http;
        const auto* forwarded = find_field(given_, "forward_headers");
        if (forwarded != nullptr && !agent_.mcp->forward_headers.empty() && !over_http) {
            problems_.add(
                *forwarded,
                "stands beside a program or the type sse, which get no header fields of callers; expected a url of "
                "streamable HTTP"
            );
        }
        const auto* restart = find_field(given_, "restart");
        if (restart != nullptr && agent_.mcp->backoff > agent_.mcp->max_backoff) {
            problems_.add(*restart, "has a backoff over its max_backoff; expected at most max_backoff");
        }
    }

    void check_registered()
    {
        const auto* registered = find_field(given_, "registered");
        if (registered != nullptr && agent_.registered && agent_.mcp &&
            agent_.mcp->transport == core::mcp_transport::stdio) {
            problems_.add(*registered, "is of a program; expected a url, or false");
        }
        const auto* owner = find_field(given_, "registered_by");
        if (owner != nullptr && !agent_.registered) {
            problems_.add(*owner, "stands without `registered: true`; expected both");
        }
    }

    void check_overlays()
    {
        if (!agent_.overlays.empty() && agent_.extended_card != core::extended_card_access::managed) {
            problems_.add(at_, path_ + ".overlays", "stands without `extended_card: managed`; expected both");
        }
    }

    void check_dialects()
    {
        for (const auto* key : {"speaks", "push", "as_tools", "tool_wait", "grpc_url", "relay_services"}) {
            const auto* given = find_field(given_, key);
            if (given != nullptr && agent_.mcp) {
                problems_.add(*given, "is for A2A agents; remove it");
            }
        }
    }

    core::protocol by_default_;
    const reading& with_;
    problem_list& problems_;
    core::agent agent_;
    std::string path_;
    place at_;
    members given_;
    std::deque<node> made_;  // values that were written in another unit
    core::json transport_;
};

}  // namespace

std::vector<core::agent> read_agents(const field& agents, const reading& with, core::protocol by_default)
{
    std::vector<core::agent> records;
    const auto* map = read_map(agents, "a map from ids to agents", with.problems);
    for (std::size_t i = 0; map != nullptr && i < map->keys.size(); ++i) {
        const auto record = member(*map, i, agents.path);
        records.push_back(record_reader{with, by_default}.read(record, map->keys[i]));
    }
    return records;
}

agent_definition
read_agent(std::string_view id, const core::json& definition, std::string_view path, const tls_checks& tls)
{
    problem_list problems{""};
    const auto root = to_node(definition);
    refuse_placeholders(root, path, problems);
    const field record{std::string{path}, &root, root.at, false};
    agent_definition out;
    const secret_reader no_files;
    const reading with{no_files, tls, problems};
    out.agent = record_reader{with}.read(record, {std::string{id}, root.at});
    out.problems = problems.take();
    return out;
}

core::result<core::agent> parse_agent_flag(std::string_view flag)
{
    const auto equals = flag.find('=');
    if (equals == std::string_view::npos) {
        return invalid("has no '='; expected ID=URL such as weather=http://10.0.0.7:9000/a2a");
    }
    auto agent = usual_agent(core::protocol::a2a);
    agent.id = flag.substr(0, equals);
    if (!core::valid_agent_id(agent.id)) {
        return invalid("the id is not an agent's id; " + std::string{expected_id});
    }
    auto url = parse_agent_url(flag.substr(equals + 1), query::allowed);
    if (!url) {
        return invalid(
            "the URL of " + agent.id + ' ' + url.error().detail +
            "; expected an http or https URL such as http://10.0.0.7:9000/a2a"
        );
    }
    agent.url = std::move(*url);
    if (auto query = take_query(agent.url); !query.empty()) {
        agent.queries.push_back(std::move(query));
    }
    return agent;
}

std::string unknown_agent_key(std::string_view key)
{
    const auto of_clients = client_server_keys();
    if (std::any_of(of_clients.begin(), of_clients.end(), [&](const client_key& each) { return each.name == key; })) {
        return "is a key of MCP clients that has no meaning here; remove it";
    }
    if (auto instead = replacement("agents.ID." + std::string{key}); !instead.empty()) {
        return instead;
    }
    std::vector<std::string_view> known;
    for (const auto& row : all_agent_settings()) {
        const auto first = first_part(row.name);
        if (known.empty() || known.back() != first) {
            known.push_back(first);
        }
    }
    const auto nearest = nearest_key(key, known);
    return nearest.empty() ? unknown_key(key, known)
                           : "is not a known key; did you mean `" + std::string{nearest} + "`?";
}

}  // namespace config
