#include "config/agent_kinds.hpp"

#include "config/access_table.hpp"
#include "config/agent_cards.hpp"
#include "config/agent_credentials.hpp"
#include "config/agent_hosts.hpp"
#include "config/agent_parts.hpp"
#include "config/agent_table.hpp"
#include "config/json_value.hpp"
#include "config/mcp_server.hpp"
#include "config/url.hpp"

#include <array>

namespace config {
namespace {

using core::json;

template <class T>
value_kind<T> read_apart(value_form form, json (*print)(const T&))
{
    return {std::move(form), [](const field&, const reading&) { return std::optional<T>{}; }, print};
}

json nothing(const std::string& /*shown in another way*/)
{
    return {};
}

json shown_list(const std::vector<std::string>& list)
{
    return list;
}

json list_of_texts()
{
    return schema::list_of(schema::any_text());
}

json shown_dialects(const std::vector<core::a2a_dialect>& dialects)
{
    auto names = json::array();
    for (const auto each : dialects) {
        names.push_back(core::name(each));
    }
    return names;
}

json shown_headers(const secret_map& secrets)
{
    auto masked = json::object();
    for (const auto& each : secrets) {
        append_member(masked, each.first, core::masked);
    }
    return masked;
}

json caller_credentials_schema()
{
    constexpr auto words = std::to_array({word_drop, word_passthrough});
    return {{"anyOf", {schema::names_of(words), list_of_texts()}}};
}

json skill_rules_schema()
{
    return schema::list_of_maps(
        {{"id", schema::any_text()},
         {"visibility", schema::one_of(core::choices<core::skill_visibility>)},
         {"required_scopes", schema::texts()}},
        {"id"}
    );
}

json overlays_schema()
{
    auto whole = schema::list_of_maps(
        {{"when", schema::reference("policy")}, {"card", {{"type", "object"}}}, {"file", schema::any_text()}},
        {"when"}
    );
    whole["items"]["anyOf"] = {{{"required", {"card"}}}, {{"required", {"file"}}}};
    return whole;
}

json card_patch_schema()
{
    auto provider = schema::closed_map({{"organization", schema::any_text()}, {"url", schema::url()}});
    provider["required"] = {"organization", "url"};
    auto patch = schema::closed_map(
        {{"description", schema::any_text()},
         {"documentationUrl", schema::url()},
         {"provider", std::move(provider)},
         {"skills", schema::list_of_maps({{"id", schema::any_text()}, {"tags", schema::texts()}}, {"id", "tags"})}}
    );
    patch["type"] = {"object", "null"};
    return patch;
}

json mcp_filter_schema()
{
    auto filter = schema::closed_map(
        {{"allow", list_of_texts()},
         {"deny", list_of_texts()},
         {"rename", schema::map_of(schema::any_text())},
         {"describe", schema::map_of(schema::any_text())}}
    );
    filter["type"] = {"object", "null"};
    return {{"anyOf", {list_of_texts(), std::move(filter)}}};
}

}  // namespace

value_kind<std::string> agent_url()
{
    return read_apart<std::string>(
        {"an http, https, grpc or grpcs URL", schema::agent_url, masked_part::query},
        [](const std::string& text) { return text.empty() ? json{} : json(shown_url(text)); }
    );
}

value_kind<std::string> grpc_url()
{
    return kind<std::string>(
        {"`grpc://host:port` or `grpcs://host:port`", schema::grpc_url},
        read_grpc_url,
        [](const std::string& text) { return text.empty() ? json{} : json(text); }
    );
}

value_kind<std::vector<std::string>> relay_services()
{
    return kind<std::vector<std::string>>({"a list of gRPC services", list_of_texts}, read_relay_services, shown_list);
}

value_kind<core::http_version> http_version()
{
    auto kind = choice_of<core::http_version>();
    kind.schema = [] {
        auto schema = schema::one_of(core::choices<core::http_version>);
        schema["anyOf"].push_back({{"enum", {1.1, 2}}});
        return schema;
    };
    return kind;
}

value_kind<std::vector<std::string>> urls()
{
    return read_apart<std::vector<std::string>>(
        {"a list of URLs", [] { return schema::list_of(schema::agent_url()); }, masked_part::query},
        [](const std::vector<std::string>& all) { return all.empty() ? json{} : json(all); }
    );
}

value_kind<core::agent_credentials> credentials()
{
    return read_apart<core::agent_credentials>(
        {"a map", [] { return schema::reference("credentials"); }, masked_part::anywhere},
        shown_credentials
    );
}

value_kind<std::string> card()
{
    return read_apart<std::string>({"a map", [] { return json{{"type", "object"}, {"required", {"name"}}}; }}, nothing);
}

value_kind<std::string> metadata()
{
    return read_apart<std::string>({"a map", [] { return json{{"type", {"object", "null"}}}; }}, nothing);
}

value_kind<std::string> health_path()
{
    auto kind = line("path", "");
    kind.parse = [](const field& f, const reading& with) { return read_health_path(f, with.problems); };
    return kind;
}

value_kind<std::vector<std::string>> relay_paths()
{
    return kind<std::vector<std::string>>({"a list of patterns", list_of_texts}, read_relay_paths, shown_list);
}

value_kind<std::vector<std::string>> host_names()
{
    return kind<std::vector<std::string>>({"a list of DNS names", list_of_texts}, read_agent_hosts, shown_list);
}

value_kind<std::vector<core::a2a_dialect>> dialects()
{
    return kind<std::vector<core::a2a_dialect>>(
        {"a list of " + listed<core::a2a_dialect>(),
         [] { return schema::list_of(schema::one_of(core::choices<core::a2a_dialect>)); }},
        read_dialects,
        shown_dialects
    );
}

value_kind<secret_map> headers(header_use use)
{
    return {
        {"a map of secrets", [] { return schema::map_of(schema::any_text()); }, masked_part::members},
        [use](const field& f, const reading& with) { return std::optional{read_headers(f, with.problems, use)}; },
        shown_headers
    };
}

value_kind<core::caller_credentials> caller_credentials()
{
    return kind<core::caller_credentials>(
        {"drop, passthrough, or a list", caller_credentials_schema},
        read_caller_credentials,
        shown_caller_credentials
    );
}

value_kind<core::access_policy> policy(decision about)
{
    return {
        {"a map, a list of maps, or a word", [] { return schema::reference("policy"); }},
        [about](const field& f, const reading& with) { return read_policy(f, about, with.problems); },
        shown_policy
    };
}

value_kind<std::vector<core::skill_rule>> skill_rules()
{
    return kind<std::vector<core::skill_rule>>(
        {"a list of maps", skill_rules_schema},
        read_skill_rules,
        shown_skill_rules
    );
}

value_kind<std::vector<core::card_overlay>> overlays()
{
    return {
        {"a list of maps", overlays_schema},
        [](const field& f, const reading& with) {
            return std::optional{read_overlays(f, with.secrets, with.problems)};
        },
        shown_overlays
    };
}

value_kind<core::boxed<core::card_patch>> card_patch()
{
    return kind<core::boxed<core::card_patch>>(
        {"a map", card_patch_schema},
        read_card_patch,
        [](const core::boxed<core::card_patch>& patch) { return patch ? shown_card_patch(*patch) : json{}; }
    );
}

value_kind<core::mcp_filter> mcp_filter()
{
    return kind<core::mcp_filter>({"a map", mcp_filter_schema}, read_mcp_filter, shown_mcp_filter);
}

value_kind<std::vector<std::string>> forwarded_headers()
{
    return kind<std::vector<std::string>>(
        {"a list of header fields", list_of_texts},
        read_forwarded_headers,
        shown_list
    );
}

value_kind<std::vector<core::principal_name>> acts_as()
{
    return kind<std::vector<core::principal_name>>(
        {"a list of maps",
         [] {
             return schema::list_of_maps(
                 {{"provider", schema::any_text()}, {"principal", schema::any_text()}},
                 {"provider", "principal"}
             );
         }},
        read_acts_as,
        shown_acts_as
    );
}

value_kind<core::pin_settings> pin()
{
    return kind<core::pin_settings>(
        {"off, warn, enforce, or a map",
         [] {
             auto modes = schema::one_of(core::choices<core::pin_mode>);
             auto map = schema::closed_map({{"mode", modes}, {"except", schema::texts()}});
             map["type"] = {"object", "null"};
             return json{{"anyOf", {std::move(modes), std::move(map)}}};
         }},
        read_pin,
        shown_pin
    );
}

// Keys that describe a package are for other gateways, and accepted in any form.
json transport_schema()
{
    auto map = schema::closed_map(json::object());
    for (const auto key : transport_keys) {
        const auto* row = find_agent_setting(key);
        map["properties"][std::string{key}] = row == nullptr ? json::object() : row->form().schema();
    }
    for (const auto* key : {"url", "command", "package"}) {
        map["anyOf"].push_back({{"required", {key}}});
    }
    return map;
}

}  // namespace config
