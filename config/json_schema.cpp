#include "config/json_schema.hpp"

#include "config/access_table.hpp"
#include "config/agent_table.hpp"
#include "config/choice.hpp"
#include "config/client_files.hpp"
#include "config/mcp_server.hpp"
#include "config/schema.hpp"

#include <span>
#include <string>
#include <utility>
#include <variant>

namespace config {
namespace {

using core::json;

constexpr std::string_view size_pattern = "^[0-9]+(GiB|MiB|KiB|GB|MB|kB|B)?$";

// A value with a variable may become anything.
json variable()
{
    return {{"$ref", "#/$defs/variable"}};
}

json or_variable(json expected)
{
    return {{"anyOf", json::array({std::move(expected), variable()})}};
}

// YAML gives a plain scalar a type by its look; the parser takes its text.
json any_text()
{
    return {{"type", {"string", "number", "boolean"}}};
}

json text_like(std::string_view pattern)
{
    return {{"type", "string"}, {"pattern", pattern}};
}

// What looks like a number passes.
json any_text_like(std::string_view pattern)
{
    auto schema = any_text();
    schema["pattern"] = pattern;
    return schema;
}

json list_of(json element)
{
    return {{"type", {"array", "null"}}, {"items", std::move(element)}};
}

json map_of(json value)
{
    return {{"type", {"object", "null"}}, {"additionalProperties", std::move(value)}};
}

json duration()
{
    return {{"anyOf", {{{"const", 0}}, text_like("^(0|([0-9]+(d|h|m|s|ms))+)$"), variable()}}};
}

json number(std::uint64_t least, std::uint64_t most, std::string_view text)
{
    const json whole{{"type", "integer"}, {"minimum", least}, {"maximum", most}};
    return {{"anyOf", {whole, text_like(text), variable()}}};
}

json share(double least, double most)
{
    const json number{{"type", "number"}, {"minimum", least}, {"maximum", most}};
    return {{"anyOf", {number, text_like("^[0-9]+([.][0-9]+)?$"), variable()}}};
}

json on_or_off()
{
    return or_variable({{"enum", {true, false, "true", "True", "TRUE", "false", "False", "FALSE"}}});
}

json url()
{
    return or_variable(text_like("^[hH][tT][tT][pP][sS]?://"));
}

// Of rows of a value and its name.
json one_of(const auto& choices)
{
    auto names = json::array();
    for (const auto& each : choices) {
        names.push_back(each.name);
    }
    return or_variable({{"enum", std::move(names)}});
}

json closed_map(json properties)
{
    return {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

json certificates()
{
    auto one = closed_map({{"cert", any_text()}, {"key", any_text()}, {"names", list_of(any_text())}});
    one["required"] = {"cert", "key"};
    const json several{{"type", "array"}, {"items", one}, {"minItems", 1}};
    return {{"anyOf", {one, several}}};
}

json described(json schema, std::string_view meaning)
{
    schema["description"] = meaning;
    return schema;
}

json reference(std::string_view definition)
{
    return {{"$ref", "#/$defs/" + std::string{definition}}};
}

// One value stands for a list of one.
json texts()
{
    return {{"anyOf", {any_text(), list_of(any_text())}}};
}

json names_of(std::span<const std::string_view> names)
{
    return or_variable({{"enum", names}});
}

json map_schema(access_map map);

json providers()
{
    auto types = json::array();
    for (const auto& each : provider_types) {
        auto provider = map_schema(each.map);
        provider["properties"]["type"]["enum"] = {each.name};
        if (provider["properties"].contains("client_id")) {
            provider["anyOf"] = {{{"required", {"audience"}}}, {{"required", {"client_id"}}}};
        }
        types.push_back(std::move(provider));
    }
    return list_of({{"anyOf", std::move(types)}});
}

json schema_of(access_form form)
{
    using enum access_form;
    switch (form) {
        case on_off:
            return on_or_off();
        case list_of_providers:
            return providers();
        case list_of_rules:
            return list_of(map_schema(access_map::agents_rule));
        case list_of_keys:
            return list_of(map_schema(access_map::key));
        case type_name:
            return json::object();
        case name:
            return or_variable(any_text_like("^[A-Za-z0-9._-]{1,64}$"));
        case texts:
            return config::texts();
        case claims:
            return map_of(config::texts());
        case query_word:
            return or_variable({{"const", "query"}});
        case hash:
            return or_variable(any_text_like("^[0-9A-Fa-f]{64}$"));
        case scrypt_hash:
            return or_variable(text_like("^\\$scrypt\\$ln=[0-9]+,r=[0-9]+,p=[0-9]+\\$[A-Za-z0-9+/]+\\$[A-Za-z0-9+/]+$")
            );
        case time:
            return or_variable(text_like("^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$"));
        case algorithms: {
            const auto one = names_of(token_algorithms);
            return {{"anyOf", {one, list_of(one)}}};
        }
        case secure_url:
            return url();
        case leeway:
        case verifier_timeout:
        case verifier_cache:
            return duration();
        case certificate_name:
            return one_of(core::choices<core::certificate_name>);
        case policy:
            return reference("policy");
        case basic_map:
            return map_schema(access_map::basic);
        case agent_key_map:
            return map_schema(access_map::agent_key);
        case oauth2_map:
            return map_schema(access_map::oauth2);
        case client_authentication:
            return one_of(core::choices<core::client_authentication>);
        case oauth_grant:
            return one_of(core::choices<core::oauth_grant>);
        case text:
        case secret:
        case path:
            return any_text();
    }
    return json::object();
}

json map_schema(access_map map)
{
    auto schema = closed_map(json::object());
    for (const auto& each : all_access_keys()) {
        if (each.of == map) {
            const std::string key{each.name};
            schema["properties"][key] = described(schema_of(each.form), each.meaning);
            if (each.usual == is_required) {
                schema["required"].push_back(key);
            }
        }
    }
    return schema;
}

json policy()
{
    const auto one = reference("condition");
    const json several{{"type", "array"}, {"items", one}, {"minItems", 1}};
    constexpr auto words = std::to_array({word_anyone, word_authenticated, word_nobody});
    return {{"anyOf", {names_of(words), one, several}}};
}

json callers_credentials()
{
    constexpr auto words = std::to_array({word_drop, word_passthrough});
    return {{"anyOf", {names_of(words), list_of(any_text())}}};
}

json access()
{
    auto map = map_schema(access_map::access);
    map["type"] = {"object", "null"};
    return {{"anyOf", {or_variable({{"const", "open"}}), std::move(map)}}};
}

json three_of(json element)
{
    auto list = list_of(std::move(element));
    list["minItems"] = 3;
    list["maxItems"] = 3;
    return list;
}

json schema_of(const setting_type& type)
{
    return std::visit(
        overloaded{
            [](const duration_setting&) { return duration(); },
            [](const size_setting& s) { return number(s.least, s.most, size_pattern); },
            [](const count_setting& s) { return number(s.least, s.most, "^[0-9]+$"); },
            [](const share_setting& s) { return share(s.least, s.most); },
            [](const duration_marks_setting&) { return three_of(duration()); },
            [](const percent_marks_setting& s) { return three_of(number(s.least, s.most, "^[0-9]+$")); },
            [](const field_name_list_setting&) { return list_of(any_text()); },
            [](const switch_setting&) { return on_or_off(); },
            [](const address_setting&) { return or_variable(text_like("^.+:[0-9]+$")); },
            [](const base_url_setting&) { return url(); },
            []<class Enum>(const choice_setting<Enum>&) { return one_of(core::choices<Enum>); },
            [](const file_setting&) { return any_text(); },
            [](const origin_list_setting&) { return list_of(url()); },
            [](const page_origin_list_setting&) { return list_of(any_text()); },
            [](const secret_setting&) { return any_text(); },
            [](const secret_file_setting&) { return any_text(); },
            [](const proxy_setting&) { return any_text(); },
            [](const direct_host_list_setting&) { return list_of(any_text()); },
            [](const session_key_list_setting&) { return list_of(any_text()); },
            [](const store_setting&) { return or_variable(text_like("^(memory$|sqlite:.)")); },
            [](const audit_setting&) { return or_variable(text_like("^(off$|stdout$|file:.)")); },
            [](const host_list_setting&) { return list_of(any_text()); },
            [](const host_pattern_setting&) { return or_variable(text_like("^[^.]*\\{[iI][dD]\\}[^.]*\\..")); },
            [](const network_list_setting&) { return list_of(any_text()); },
            [](const certificate_list_setting&) { return certificates(); },
            [](const access_setting&) { return access(); },
        },
        type
    );
}

json schema_of(const agent_setting& row);

json list_of_maps(json properties, std::vector<std::string_view> required)
{
    auto map = closed_map(std::move(properties));
    map["required"] = std::move(required);
    return list_of(std::move(map));
}

json skill_rules()
{
    return list_of_maps(
        {{"id", any_text()}, {"visibility", one_of(core::choices<core::skill_visibility>)}, {"required_scopes", texts()}
        },
        {"id"}
    );
}

json overlays()
{
    auto schema =
        list_of_maps({{"when", reference("policy")}, {"card", {{"type", "object"}}}, {"file", any_text()}}, {"when"});
    schema["items"]["anyOf"] = {{{"required", {"card"}}}, {{"required", {"file"}}}};
    return schema;
}

json mcp_filter()
{
    auto filter = closed_map(
        {{"allow", list_of(any_text())},
         {"deny", list_of(any_text())},
         {"rename", map_of(any_text())},
         {"describe", map_of(any_text())}}
    );
    filter["type"] = {"object", "null"};
    return {{"anyOf", {list_of(any_text()), std::move(filter)}}};
}

json card_patch()
{
    auto provider = closed_map({{"organization", any_text()}, {"url", url()}});
    provider["required"] = {"organization", "url"};
    auto patch = closed_map(
        {{"description", any_text()},
         {"documentationUrl", url()},
         {"provider", std::move(provider)},
         {"skills", list_of_maps({{"id", any_text()}, {"tags", texts()}}, {"id", "tags"})}}
    );
    patch["type"] = {"object", "null"};
    return patch;
}

// What describes a package is for other gateways, and taken in whatever form.
json transport()
{
    auto map = closed_map(json::object());
    for (const auto key : transport_keys) {
        const auto* row = find_agent_setting(key);
        map["properties"][std::string{key}] = row == nullptr ? json::object() : schema_of(*row);
    }
    for (const auto* key : {"url", "command", "package"}) {
        map["anyOf"].push_back({{"required", {key}}});
    }
    return map;
}

json schema_of(const agent_setting& row)
{
    return std::visit(
        overloaded{
            []<class T>(const duration_key<T>&) { return duration(); },
            [](const size_key& type) { return number(type.range.least, type.range.most, size_pattern); },
            []<class T>(const count_key<T>& type) { return number(type.least, type.most, "^[0-9]+$"); },
            [](const share_key& type) { return share(type.least, type.most); },
            [](const switch_key&) { return on_or_off(); },
            []<class Enum, class T>(const choice_key<Enum, T>&) { return one_of(core::choices<Enum>); },
            [](const url_key&) { return url(); },
            [](const url_list_key&) { return list_of(url()); },
            [](const pattern_list_key&) { return list_of(any_text()); },
            [](const origin_list_key&) { return list_of(url()); },
            [](const dialect_list_key&) { return list_of(one_of(core::choices<core::a2a_dialect>)); },
            [](const secret_map_key&) { return map_of(any_text()); },
            [](const access_policy_key&) { return reference("policy"); },
            [](const skill_rules_key&) { return skill_rules(); },
            [](const overlays_key&) { return overlays(); },
            [](const card_patch_key&) { return card_patch(); },
            [](const mcp_filter_key&) { return mcp_filter(); },
            [](const header_list_key&) { return list_of(any_text()); },
            [](const host_name_list_key&) { return list_of(any_text()); },
            [](const credentials_key&) { return reference("credentials"); },
            [](const caller_credentials_key&) { return callers_credentials(); },
            [](const card_key&) { return json{{"type", "object"}, {"required", {"name"}}}; },
            [](const metadata_key&) { return json{{"type", {"object", "null"}}}; },
            [](const transport_key&) { return transport(); },
            [](const transport_part& type) {
                using enum transport_part::form;
                return type.is == list        ? list_of(any_text())
                       : type.is == secrets   ? map_of(any_text())
                       : type.is == type_name ? one_of(transport_types)
                                              : any_text();
            },
            [](const other_spelling& type) {
                return type.milliseconds ? number(1, 3'600'000, "^[0-9]+$") : schema_of(*find_agent_setting(type.of));
            },
            [](const auto& /*text, the path of a file, a secret*/) { return any_text(); },
        },
        row.type
    );
}

// Puts a schema where its path says, below maps that take no other keys.
void add(json& map, std::string_view path, json schema)
{
    const auto dot = path.find('.');
    auto& properties = map["properties"];
    const std::string key{path.substr(0, dot)};
    if (dot == std::string_view::npos) {
        properties[key] = std::move(schema);
        return;
    }
    if (!properties.contains(key)) {
        properties[key] = closed_map(json::object());
        properties[key]["type"] = {"object", "null"};
    }
    add(properties[key], path.substr(dot + 1), std::move(schema));
}

json agent_schema()
{
    auto agent = closed_map(json::object());
    for (const auto& row : all_agent_settings()) {
        add(agent, row.name, described(schema_of(row), row.meaning));
    }
    for (const auto* key : {"url", "upstreams", "serverUrl", "httpUrl", "transport", "command"}) {
        agent["anyOf"].push_back({{"required", {key}}});
    }
    return agent;
}

// Keys that are left out before anything is read.
void add_ignored(json& map, std::span<const client_key> keys)
{
    for (const auto& each : keys) {
        map["properties"][std::string{each.name}] = described(
            json::object(),
            each.why.empty() ? "A key of MCP clients." : "Of MCP clients; " + std::string{each.why} + '.'
        );
    }
}

json client_server_schema()
{
    auto server = agent_schema();
    add_ignored(server, client_server_keys());
    server["properties"]["timeout"]["anyOf"].push_back({{"type", "integer"}, {"minimum", 0}});
    return server;
}

}  // namespace

json json_schema()
{
    json root{
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"title", "Configuration of Cardea"},
    };
    root.update(closed_map(json::object()));
    for (const auto& row : all_settings()) {
        auto schema = described(schema_of(row.type), row.meaning);
        if (const auto usual = value_text(row.type, {}); !usual.empty()) {
            schema["default"] = usual;
        }
        add(root, row.path, std::move(schema));
    }
    root["properties"]["agents"] = {
        {"description", "The agents by their ids."},
        {"type", {"object", "null"}},
        {"propertyNames", {{"pattern", "^(?!.*\\.\\.)(?!\\.$)[A-Za-z0-9._-]{1,128}$"}}},
        {"additionalProperties", {{"$ref", "#/$defs/agent"}}}
    };
    add_ignored(root, client_file_keys());
    for (const auto section : client_sections()) {
        auto& servers = root["properties"][std::string{section}];
        servers = root["properties"]["agents"];
        servers["description"] = "MCP servers by their ids, as the configurations of MCP clients write them.";
        servers["additionalProperties"] = {{"$ref", "#/$defs/server"}};
    }
    root["$defs"] = {
        {"variable", text_like("\\$\\{")},
        {"condition", map_schema(access_map::policy_rule)},
        {"policy", policy()},
        {"credentials", map_schema(access_map::credentials)},
        {"agent", agent_schema()},
        {"server", client_server_schema()}
    };
    return root;
}

}  // namespace config
