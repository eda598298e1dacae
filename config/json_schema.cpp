#include "config/json_schema.hpp"

#include "config/access_table.hpp"
#include "config/agent_table.hpp"
#include "config/client_files.hpp"
#include "config/schema.hpp"

#include <span>
#include <string>
#include <utility>

namespace config {
namespace {

using core::json;

json variable()
{
    return {{"$ref", "#/$defs/variable"}};
}

json number(std::uint64_t least, std::uint64_t most, std::string_view text)
{
    const json whole{{"type", "integer"}, {"minimum", least}, {"maximum", most}};
    return {{"anyOf", {whole, schema::text_like(text), variable()}}};
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
        properties[key] = schema::closed_map(json::object());
        properties[key]["type"] = {"object", "null"};
    }
    add(properties[key], path.substr(dot + 1), std::move(schema));
}

json agent_schema()
{
    auto agent = schema::closed_map(json::object());
    for (const auto& row : all_agent_settings()) {
        add(agent, row.name, schema::described(row.form().schema(), row.meaning));
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
        map["properties"][std::string{each.name}] = schema::described(
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

namespace schema {

json or_variable(json expected)
{
    return {{"anyOf", json::array({std::move(expected), variable()})}};
}

json any_text()
{
    return {{"type", {"string", "number", "boolean"}}};
}

json text_like(std::string_view pattern)
{
    return {{"type", "string"}, {"pattern", pattern}};
}

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

json size(std::uint64_t least, std::uint64_t most)
{
    return number(least, most, "^[0-9]+(GiB|MiB|KiB|GB|MB|kB|B)?$");
}

json count(std::uint64_t least, std::uint64_t most)
{
    return number(least, most, "^[0-9]+$");
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

json grpc_url()
{
    return or_variable(text_like("^[gG][rR][pP][cC][sS]?://[^/?#]+:[0-9]+$"));
}

json agent_url()
{
    return or_variable(text_like("^([hH][tT][tT][pP][sS]?://|[gG][rR][pP][cC][sS]?://[^/?#]+:[0-9]+$)"));
}

json url()
{
    return or_variable(text_like("^[hH][tT][tT][pP][sS]?://"));
}

json closed_map(json properties)
{
    return {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
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

json texts()
{
    return {{"anyOf", {any_text(), list_of(any_text())}}};
}

json names_of(std::span<const std::string_view> names)
{
    return or_variable({{"enum", names}});
}

json three_of(json element)
{
    auto list = list_of(std::move(element));
    list["minItems"] = 3;
    list["maxItems"] = 3;
    return list;
}

json list_of_maps(json properties, std::vector<std::string_view> required)
{
    auto map = closed_map(std::move(properties));
    map["required"] = std::move(required);
    return list_of(std::move(map));
}

}  // namespace schema

json json_schema()
{
    json root{
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"title", "Configuration of Cardea"},
    };
    root.update(schema::closed_map(json::object()));
    for (const auto& row : all_settings()) {
        auto one = schema::described(row.key->form().schema(), row.meaning);
        if (const auto usual = text_of(row.key->print({})); !usual.empty()) {
            one["default"] = usual;
        }
        add(root, row.path, std::move(one));
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
        {"variable", schema::text_like("\\$\\{")},
        {"condition", map_schema(access_map::policy_rule)},
        {"policy", policy_schema()},
        {"credentials", map_schema(access_map::credentials)},
        {"agent", agent_schema()},
        {"server", client_server_schema()}
    };
    return root;
}

}  // namespace config
