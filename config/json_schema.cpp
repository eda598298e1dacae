#include "config/json_schema.hpp"

#include "config/client_files.hpp"
#include "config/schema.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <variant>

namespace config {
namespace {

using core::json;

constexpr std::string_view size_pattern = "^[0-9]+(GiB|MiB|KiB|GB|MB|kB|B)?$";

template <class... Functions>
struct overloaded : Functions... {
    using Functions::operator()...;
};

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

json on_or_off()
{
    return or_variable({{"enum", {true, false, "true", "True", "TRUE", "false", "False", "FALSE"}}});
}

json url()
{
    return or_variable(text_like("^[hH][tT][tT][pP][sS]?://"));
}

// Of "a, b or c", also with backticks.
json one_of(std::string_view words)
{
    std::string text{words};
    std::erase(text, '`');
    if (const auto last = text.rfind(" or "); last != std::string::npos) {
        text.replace(last, 4, ", ");
    }
    auto choices = json::array();
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find(", ", at), text.size());
        choices.push_back(text.substr(at, end - at));
        at = end + 2;
    }
    return or_variable({{"enum", std::move(choices)}});
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

json transport_type()
{
    return one_of("stdio, local, sse, streamable-http, streamable_http, streamableHttp or http");
}

// What describes a package is for other gateways, and taken in whatever form.
json transport()
{
    auto map = closed_map(
        {{"type", transport_type()},
         {"url", url()},
         {"headers", map_of(any_text())},
         {"command", any_text()},
         {"args", list_of(any_text())},
         {"env", map_of(any_text())},
         {"cwd", any_text()}}
    );
    for (const auto* key : {"package", "memory", "cpus", "network"}) {
        map["properties"][key] = json::object();
    }
    for (const auto* key : {"url", "command", "package"}) {
        map["anyOf"].push_back({{"required", {key}}});
    }
    return map;
}

json schema_of(const setting_type& type)
{
    const auto expected = written_as(type);
    return std::visit(
        overloaded{
            [](const duration_setting&) { return duration(); },
            [](const size_setting& s) { return number(s.least, s.most, size_pattern); },
            [](const count_setting& s) { return number(s.least, s.most, "^[0-9]+$"); },
            [](const switch_setting&) { return on_or_off(); },
            [](const address_setting&) { return or_variable(text_like("^.+:[0-9]+$")); },
            [](const base_url_setting&) { return url(); },
            [&](const log_level_setting&) { return one_of(expected); },
            [&](const card_shape_setting&) { return one_of(expected); },
            [&](const signature_policy_setting&) { return one_of(expected); },
            [](const file_setting&) { return any_text(); },
            [](const origin_list_setting&) { return list_of(url()); },
            [](const store_setting&) { return or_variable(text_like("^(memory$|sqlite:.)")); },
            [](const host_list_setting&) { return list_of(any_text()); },
            [](const network_list_setting&) { return list_of(any_text()); },
            [](const certificate_list_setting&) { return certificates(); },
        },
        type
    );
}

json schema_of(const agent_setting& row)
{
    switch (row.key) {
        case agent_key::url:
        case agent_key::card_url:
            return url();
        case agent_key::protocol:
        case agent_key::shape:
        case agent_key::signatures:
        case agent_key::trust_card_url:
        case agent_key::extended_card:
        case agent_key::start:
        case agent_key::era:
            return one_of(row.written_as);
        case agent_key::timeout:
        case agent_key::timeouts:
        case agent_key::walk:
        case agent_key::restart:
            return duration();
        case agent_key::max_message:
            return number(core::least_mcp_message, core::most_mcp_message, size_pattern);
        case agent_key::disabled:
        case agent_key::stale_if_error:
            return on_or_off();
        case agent_key::relay_paths:
        case agent_key::args:
            return list_of(any_text());
        case agent_key::key_set_origins:
            return list_of(url());
        case agent_key::card:
            return {{"type", "object"}, {"required", {"name"}}};
        case agent_key::card_headers:
        case agent_key::env:
        case agent_key::headers:
            return map_of(any_text());
        case agent_key::metadata:
            return {{"type", {"object", "null"}}};
        case agent_key::transport:
            return transport();
        case agent_key::type:
            return transport_type();
        case agent_key::bearer:
        case agent_key::bearer_file:
        case agent_key::env_file:
        case agent_key::trusted_keys:
        case agent_key::tls:  // one of its members
        case agent_key::version:
        case agent_key::protocol_version:
        case agent_key::command:
        case agent_key::cwd:
            return any_text();
    }
    return {};
}

json described(json schema, std::string_view meaning)
{
    schema["description"] = meaning;
    return schema;
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
    for (const auto* key : {"url", "serverUrl", "httpUrl", "transport", "command"}) {
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
    root["$defs"] = {{"variable", text_like("\\$\\{")}, {"agent", agent_schema()}, {"server", client_server_schema()}};
    return root;
}

}  // namespace config
