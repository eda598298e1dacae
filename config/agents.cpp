#include "config/agents.hpp"

#include "config/agent_parts.hpp"
#include "config/env_file.hpp"
#include "config/json_value.hpp"
#include "config/mcp_program.hpp"
#include "config/mcp_server.hpp"
#include "config/schema.hpp"
#include "config/signatures.hpp"
#include "config/url.hpp"
#include "config/values.hpp"
#include "core/json/json.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace config {
namespace {

constexpr auto usual_trust = core::card_trust::same_origin;
constexpr std::string_view expected_id = "expected 1 to 128 letters, digits, '.', '_' and '-', without '..'";

std::string_view first_segment(std::string_view name)
{
    return name.substr(0, name.find('.'));
}

// One record. The parts of a record depend on each other, so that its keys are gathered first.
class record_reader {
public:
    record_reader(
        const secret_reader& secrets,
        const tls_checks& tls,
        problem_list& problems,
        core::protocol by_default = core::protocol::a2a
    )
        : by_default_{by_default},
          secrets_{secrets},
          tls_{tls},
          problems_{problems}
    {
    }

    core::agent read(const field& record, const node::name& id)
    {
        agent_.id = id.text;
        path_ = record.path;
        at_ = id.at;
        if (!core::valid_agent_id(id.text)) {
            problems_.add(id.at, path_, "is not an agent's id; " + std::string{expected_id});
        }
        if (const auto* map = read_map(record, "a map of the agent's settings", problems_)) {
            gather(*map);
            read_protocol();
            read_addresses();
            read_credentials();
            read_notes();
            read_cards();
        }
        return std::move(agent_);
    }

private:
    const field* find(agent_key key) const
    {
        const auto found = given_.find(key);
        return found == given_.end() ? nullptr : &found->second;
    }

    void gather(const node& map)
    {
        for (std::size_t i = 0; i < map.keys.size() && !problems_.full(); ++i) {
            const auto& key = map.keys[i];
            auto value = member(map, i, path_);
            const auto rows = all_agent_settings();
            const auto row = std::find_if(rows.begin(), rows.end(), [&](const agent_setting& s) {
                return first_segment(s.name) == key.text;
            });
            if (row == rows.end()) {
                problems_.add(key.at, value.path, unknown_agent_key(key.text));
            } else if (const auto* before = find(row->key)) {
                problems_.add(
                    key.at,
                    value.path,
                    "is the same as " + before->path + ", which is given too; expected one of the two"
                );
            } else {
                given_.emplace(row->key, std::move(value));
            }
        }
    }

    void read_protocol()
    {
        const bool has_transport = find(agent_key::transport) != nullptr || find(agent_key::command) != nullptr;
        agent_.speaks = has_transport ? core::protocol::mcp : by_default_;
        const auto* f = find(agent_key::protocol);
        const auto* text = f == nullptr ? nullptr : read_text(*f, "a2a or mcp", problems_);
        if (text == nullptr) {
            return;
        }
        if (*text != "a2a" && *text != "mcp") {
            refuse(*f, text->empty() ? "is empty" : "is not a protocol", "a2a or mcp", problems_);
            return;
        }
        agent_.speaks = *text == "mcp" ? core::protocol::mcp : core::protocol::a2a;
    }

    void read_addresses()
    {
        if (agent_.speaks == core::protocol::mcp) {
            read_mcp();
            return;
        }
        if (const auto* f = find(agent_key::url)) {
            agent_.url = read_url(*f, query::refused, problems_).value_or("");
        }
        if (find(agent_key::url) == nullptr) {
            problems_
                .add(at_, path_ + ".url", "is missing; expected an http or https URL such as http://10.0.0.7:9000/a2a");
        }
        refuse_mcp_keys(given_, problems_);
    }

    void read_mcp()
    {
        auto parts = read_mcp_server(given_, path_, at_, problems_);
        agent_.url = std::move(parts.url);
        agent_.mcp = std::move(parts.server);
        transport_ = std::move(parts.shown);
        if (const auto* f = find(agent_key::env_file)) {
            add_env_file(*f);
        }
    }

    // What `env` says counts.
    void add_env_file(const field& f)
    {
        if (agent_.mcp->command.empty()) {
            problems_.add(f.at, f.path, "stands without a command; expected both");
        }
        auto& given = agent_.mcp->environment;
        auto all = read_env_file(f, secrets_, problems_);
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
        const auto* bearer = find(agent_key::bearer);
        if (bearer != nullptr) {
            const auto* text = read_text(*bearer, "a token", problems_);
            agent_.bearer = text == nullptr ? core::secret{} : bearer_of(*bearer, *text, problems_);
        }
        if (const auto* file = find(agent_key::bearer_file)) {
            if (!agent_.bearer.empty()) {
                problems_.add(file->at, file->path, "stands beside " + bearer->path + "; expected one of the two");
            }
            read_bearer_file(*file);
        }
        if (const auto* f = find(agent_key::card_headers)) {
            agent_.card_headers = read_headers(*f, problems_);
        }
        if (const auto* f = find(agent_key::tls)) {
            read_agent_tls(*f, tls_, agent_, problems_);
        }
    }

    void read_bearer_file(const field& f)
    {
        constexpr std::string_view expected = "the path of a file with a token";
        const auto text = read_named_file(f, expected, secrets_, problems_);
        if (text && text->empty()) {
            refuse(f, "is a file without a token", expected, problems_);
        } else if (text) {
            agent_.bearer = bearer_of(f, *text, problems_);
        }
    }

    void read_notes()
    {
        if (const auto* f = find(agent_key::timeout)) {
            agent_.timeout = read_duration(*f, std::chrono::milliseconds{1}, std::chrono::hours{24}, problems_);
        }
        if (const auto* f = find(agent_key::relay_paths)) {
            agent_.relay_paths = read_relay_paths(*f, problems_);
        }
        if (const auto* f = find(agent_key::disabled)) {
            agent_.disabled = read_switch(*f, problems_).value_or(false);
        }
        if (const auto* f = find(agent_key::shape)) {
            read_shape(*f);
        }
        read_signatures();
        if (const auto* f = find(agent_key::version)) {
            agent_.version = read_line(*f, "a version", problems_).value_or("");
        }
        if (const auto* f = find(agent_key::protocol_version)) {
            agent_.protocol_version = read_line(*f, "a version", problems_).value_or("");
        }
    }

    void read_shape(const field& f)
    {
        constexpr std::string_view expected = "auto, v1, v0.3 or hybrid";
        const auto* text = read_text(f, expected, problems_);
        if (text == nullptr) {
            return;
        }
        const auto shape = parse_card_shape(*text);
        if (shape) {
            agent_.shape = *shape;
        } else {
            refuse(f, shape.error().detail, expected, problems_);
        }
    }

    void read_signatures()
    {
        if (const auto* f = find(agent_key::signatures)) {
            agent_.signatures = read_signature_policy(*f, problems_);
        }
        if (const auto* f = find(agent_key::trusted_keys)) {
            agent_.trusted_keys = read_checked_file(*f, file_kind::key_set, tls_, problems_);
        }
        if (const auto* f = find(agent_key::key_set_origins)) {
            agent_.key_set_origins = read_origins(*f, problems_);
        }
    }

    void read_cards()
    {
        metadata_parts parts;
        if (const auto* f = find(agent_key::metadata)) {
            parts = read_metadata(*f, problems_);
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
        if (const auto* f = find(agent_key::card)) {
            if (!agent_.card.empty()) {
                problems_
                    .add(f->at, f->path, "stands beside " + path_ + ".metadata.agentCard; expected one of the two");
            }
            agent_.card = read_card(*f, problems_);
        }
        if (const auto* f = find(agent_key::card_url)) {
            agent_.card_url = read_url(*f, query::allowed, problems_).value_or("");
        }
        const auto* trust = find(agent_key::trust_card_url);
        if (trust != nullptr) {
            agent_.trust = read_card_trust(*trust, problems_);
        } else if (agent_.speaks == core::protocol::a2a) {
            agent_.trust = usual_trust;
        }
        if (const auto* f = find(agent_key::extended_card)) {
            agent_.extended_card = read_extended_card(*f, problems_);
        }
        if (!transport_.is_null()) {
            parts.members["transport"] = std::move(transport_);
        }
        agent_.metadata = core::to_text(parts.members);
    }

    core::protocol by_default_;
    const secret_reader& secrets_;
    const tls_checks& tls_;
    problem_list& problems_;
    core::agent agent_;
    std::string path_;
    place at_;
    agent_keys given_;
    core::json transport_;
};

// What stands where a credential is expected, and is none.
void refuse_placeholder(const node::name& key, const node& value, const std::string& path, problem_list& problems)
{
    if (value.text == core::masked) {
        problems.add(key.at, path, "is the mask of a credential; expected the credential itself");
    } else if (value.text.find("${") != std::string::npos) {
        problems.add(key.at, path, "has a variable in it, which only the configuration file may; expected its value");
    }
}

// Of a transport, or of one in its short form.
void refuse_environment(const node& map, const std::string& path, problem_list& problems)
{
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
        const auto& key = map.keys[i];
        const auto& value = map.items[i];
        if (loads_code(key.text)) {
            problems
                .add(key.at, join(path, key.text), "decides which code is loaded; the configuration file may set it");
        } else if (value.is == node::kind::scalar) {
            refuse_placeholder(key, value, join(path, key.text), problems);
        } else if (key.text == "env" || key.text == "headers") {
            refuse_environment(value, join(path, key.text), problems);
        }
    }
}

void refuse_placeholders(const node& record, std::string_view path, problem_list& problems)
{
    for (std::size_t i = 0; i < record.keys.size(); ++i) {
        const auto& key = record.keys[i];
        const auto& value = record.items[i];
        if (key.text == "bearer") {
            refuse_placeholder(key, value, join(path, key.text), problems);
        }
        if (key.text == "transport" || key.text == "env") {
            refuse_environment(value, join(path, key.text), problems);
        }
        for (std::size_t j = 0; (key.text == "card_headers" || key.text == "headers") && j < value.keys.size(); ++j) {
            const auto& header = value.keys[j];
            refuse_placeholder(header, value.items[j], join(join(path, key.text), header.text), problems);
        }
    }
}

}  // namespace

std::vector<core::agent> read_agents(
    const field& agents,
    const secret_reader& secrets,
    const tls_checks& tls,
    problem_list& problems,
    core::protocol by_default
)
{
    std::vector<core::agent> records;
    const auto* map = read_map(agents, "a map from ids to agents", problems);
    for (std::size_t i = 0; map != nullptr && i < map->keys.size(); ++i) {
        const auto record = member(*map, i, agents.path);
        records.push_back(record_reader{secrets, tls, problems, by_default}.read(record, map->keys[i]));
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
    out.agent = record_reader{no_files, tls, problems}.read(record, {std::string{id}, root.at});
    out.problems = problems.take();
    return out;
}

core::result<core::agent> parse_agent_flag(std::string_view flag)
{
    const auto invalid = [](std::string what) {
        return core::gateway_error(core::errc::config_invalid, std::move(what));
    };
    const auto equals = flag.find('=');
    if (equals == std::string_view::npos) {
        return invalid("has no '='; expected ID=URL such as weather=http://10.0.0.7:9000/a2a");
    }
    core::agent agent;
    agent.trust = usual_trust;
    agent.id = flag.substr(0, equals);
    if (!core::valid_agent_id(agent.id)) {
        return invalid("the id is not an agent's id; " + std::string{expected_id});
    }
    auto url = parse_http_url(flag.substr(equals + 1));
    if (!url) {
        return invalid(
            "the URL of " + agent.id + ' ' + url.error().detail +
            "; expected an http or https URL such as http://10.0.0.7:9000/a2a"
        );
    }
    agent.url = std::move(*url);
    return agent;
}

}  // namespace config
