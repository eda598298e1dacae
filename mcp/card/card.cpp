#include "mcp/card/card.hpp"

#include "a2a/card/card_edits.hpp"
#include "a2a/card/card_interfaces.hpp"
#include "a2a/card/card_shape.hpp"
#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "mcp/card/card_parts.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcp {
namespace {

using core::json;

constexpr std::array<std::string_view, list_kinds> list_members{"tools", "resources", "resourceTemplates", "prompts"};

// first_of() those that are not blank.
std::string first_said(std::initializer_list<std::string> texts)
{
    const auto* const found = std::ranges::find_if(texts, [](const std::string& text) {
        return text.find_first_not_of(" \t\r\n") != std::string::npos;
    });
    return found == texts.end() ? std::string{} : *found;
}

// A heading or a sentence; empty: the text begins with more than that.
std::string first_line(std::string_view text)
{
    constexpr std::size_t longest = 500;
    const auto begin = text.find_first_not_of(" \t\r\n#");
    if (begin == std::string_view::npos) {
        return {};
    }
    auto line = text.substr(begin);
    line = core::trim(line.substr(0, line.find_first_of("\r\n")));
    return line.size() > longest ? std::string{} : std::string{line};
}

std::string icon_of(const server_facts& server)
{
    const auto found = std::ranges::find_if(server.icons, is_icon);
    return found == server.icons.end() ? std::string{} : *found;
}

// Over every served binding where calls are bridged; else over the first alone, which offer_no_calls() takes out again.
json interfaces_at(const a2a::public_address& at)
{
    auto all = json::array();
    for (const auto& binding : a2a::served_bindings) {
        for (const auto version : a2a::bridged_versions) {
            const auto of = version == a2a::bridged_versions.front() ? a2a::generation::v1 : a2a::generation::v03;
            if (at.bridged ? a2a::is_offered(binding, at, of) : &binding == &a2a::served_bindings.front()) {
                all.push_back(a2a::made_interface(binding, at, version));
            }
        }
    }
    return all;
}

// The members that A2A requires of a card, without anything of MCP.
json plain_card(const server_lists& from, const card_request& asked)
{
    const auto& server = from.server;
    json card;
    card["name"] = asked.agent_id;
    card["description"] =
        first_of({server.description, first_line(server.instructions), server.title, server.name, asked.agent_id});
    card["version"] = first_of({server.version, "0.0.0"});
    card["supportedInterfaces"] = interfaces_at(asked.at);
    card["capabilities"] = json{{"streaming", asked.at.bridged}, {"pushNotifications", false}};
    card["defaultInputModes"] = json::array({"application/json", "text/plain"});
    card["defaultOutputModes"] = json::array({"text/plain", "application/json"});
    card["skills"] = json::array();
    for (const auto& tool : from[list_kind::tools]) {
        card["skills"].push_back(skill_of(tool));
    }
    if (auto icon = icon_of(server); !icon.empty()) {
        card["iconUrl"] = std::move(icon);
    }
    if (is_page(server.website)) {
        card["documentationUrl"] = server.website;
    }
    if (asked.access) {
        a2a::set_access(card, a2a::card_generation::hybrid, *asked.access);
    }
    if (asked.at.extended_card == a2a::extended_card_flag::yes) {
        card["capabilities"]["extendedAgentCard"] = true;
    }
    a2a::apply_patch(card, asked.patch);
    return card;
}

// A description that its skill has to the letter stands there only. One that is the tool's name stays: a skill is described
// by that too where the tool is not described at all.
std::string tool_text(const listed_item& tool)
{
    auto safe = with_safe_links(tool.raw);
    const auto read = members_of(safe);
    const auto said = read.text("description");
    if (said.empty() || said == tool.key) {
        return safe;
    }
    std::string out{"{"};
    for (const auto& member : read.members()) {
        if (member.name != "description") {
            append_member(out, member.name, member.value);
        }
    }
    close(out, '}');
    return out;
}

std::string list_text(const server_lists& from, std::size_t list)
{
    std::string out{"["};
    for (const auto& item : from.lists[list]) {
        out.append(list == index_of(list_kind::tools) ? tool_text(item) : with_safe_links(item.raw)).append(",");
    }
    close(out, ']');
    return out;
}

// The lists from `first` on that the server offers.
void append_lists(std::string& out, const server_lists& from, std::size_t first)
{
    for (auto i = first; i < list_kinds; ++i) {
        if (from.server.offers[i]) {
            append_member(out, list_members[i], list_text(from, i));
        }
    }
}

// The value of a member of the server's capabilities, else null.
std::string_view offered(const raw_object& capabilities, std::string_view name)
{
    const auto raw = capabilities.object(name);
    return raw.empty() ? std::string_view{"null"} : raw;
}

// Where MCP clients reach the server, and how: the version is the one that it has agreed to, since it may know others or not.
void append_endpoint(std::string& out, const server_facts& server, const a2a::public_address& at)
{
    append_text_member(out, "url", at.base + "/mcp");
    append_member(out, "versions", core::to_text(json::array({server.protocol_version})));
    append_member(out, "transports", R"(["streamable-http"])");
    append_text_member(out, "calls", "mcp");
}

// The server in its own words: A2A's members hold but a part of them.
std::string server_text(const server_facts& server, const a2a::public_address& at)
{
    std::string out{"{"};
    append_endpoint(out, server, at);
    for (const auto& [name, text] :
         {std::pair{"name", &server.name}, {"title", &server.title}, {"instructions", &server.instructions}}) {
        if (!text->empty()) {
            append_text_member(out, name, *text);
        }
    }
    append_member(out, "capabilities", server.capabilities);
    close(out, '}');
    return out;
}

// Beside `url`, as 0.3 names them.
void append_interfaces_of_03(std::string& out, const a2a::public_address& at)
{
    auto more = json::array();
    for (const auto& binding : a2a::served_bindings) {
        if (!a2a::is_offered(binding, at, a2a::generation::v03)) {
            continue;
        }
        more.push_back(json{{"url", a2a::url_of(binding, at)}, {"transport", std::string{binding.name}}});
    }
    append_text_member(out, "preferredTransport", a2a::served_bindings.front().name);
    append_member(out, "additionalInterfaces", core::to_text(more));
}

std::string superset(const server_lists& from, const json& plain, const a2a::public_address& at)
{
    const auto text_of_member = [&](const char* name) { return core::to_text(plain[name]); };
    std::string out{"{"};
    append_member(out, "name", text_of_member("name"));
    append_text_member(out, "protocol", "mcp");
    append_text_member(out, "protocolVersion", from.server.protocol_version);
    append_member(out, "description", text_of_member("description"));
    append_member(out, "version", text_of_member("version"));

    const auto capabilities = members_of(from.server.capabilities);
    std::string offers{"{"};
    for (const auto* name : {"tools", "resources", "prompts", "sampling"}) {
        append_member(offers, name, offered(capabilities, name));
    }
    append_member(offers, "streaming", at.bridged ? "true" : "false");
    append_member(offers, "pushNotifications", "false");
    const bool extends = plain["capabilities"].contains("extendedAgentCard");
    if (extends) {
        append_member(offers, "extendedAgentCard", "true");
    }
    close(offers, '}');
    append_member(out, "capabilities", offers);
    append_member(out, "mcp", server_text(from.server, at));

    const auto& tools = from[list_kind::tools];
    std::string skills{"["};
    for (std::size_t i = 0; i < tools.size(); ++i) {
        skills.append(skill_text(plain["skills"][i], tools[i])).append(",");
    }
    close(skills, ']');
    append_member(out, "skills", skills);
    append_lists(out, from, index_of(list_kind::resources));

    append_member(out, "url", core::to_text(plain["supportedInterfaces"][0]["url"]));
    append_member(out, "supportedInterfaces", at.bridged ? text_of_member("supportedInterfaces") : "[]");
    if (at.bridged) {
        append_interfaces_of_03(out, at);
    }
    if (extends) {
        append_member(out, "supportsAuthenticatedExtendedCard", "true");
    }
    for (const auto* name :
         {"defaultInputModes",
          "defaultOutputModes",
          "securitySchemes",
          "security",
          "securityRequirements",
          "iconUrl",
          "documentationUrl",
          "provider"}) {
        if (plain.contains(name)) {
            append_member(out, name, text_of_member(name));
        }
    }
    close(out, '}');
    return out;
}

std::string extension_text(const server_lists& from, const json& extension, const a2a::public_address& at)
{
    std::string params{"{"};
    append_endpoint(params, from.server, at);
    append_text_member(params, "era", name(from.server.speaks));
    append_text_member(params, "protocolVersion", from.server.protocol_version);
    append_member(params, "serverInfo", with_safe_links(from.server.info));
    append_member(params, "capabilities", from.server.capabilities);
    if (!from.server.instructions.empty()) {
        append_text_member(params, "instructions", from.server.instructions);
    }
    append_lists(params, from, 0);
    close(params, '}');
    std::string out{"{"};
    for (const auto& [key, value] : extension.items()) {
        append_member(out, key, core::to_text(value));
    }
    append_member(out, "params", params);
    close(out, '}');
    return out;
}

// Calls of A2A are not bridged: no list of interfaces offers any, and no transport is preferred. The `url` that 0.3 requires stays.
void offer_no_calls(json& card)
{
    card.erase("additionalInterfaces");
    card.erase("preferredTransport");
    if (card.contains("supportedInterfaces")) {
        card["supportedInterfaces"] = json::array();
    }
}

core::result<std::string> strict(const server_lists& from, json plain, const card_request& asked)
{
    plain["capabilities"]["extensions"] = json::array({json{
        {"uri", std::string{card_extension}},
        {"description", "The MCP server behind this agent: what it offers, in its own words"},
        {"required", false},
    }});
    plain["name"] = first_said({from.server.title, from.server.name, asked.agent_id});
    auto shaped = a2a::shape_card(std::move(plain), asked.shape, asked.at);
    if (!shaped) {
        return shaped.error();
    }
    if (!asked.at.bridged) {
        offer_no_calls(shaped->document);
    }
    std::string out{"{"};
    for (const auto& [key, value] : shaped->document.items()) {
        if (key != "capabilities") {
            append_member(out, key, core::to_text(value));
            continue;
        }
        std::string capabilities{"{"};
        for (const auto& [word, said] : value.items()) {
            const bool ours = word == "extensions";
            append_member(
                capabilities,
                word,
                ours ? "[" + extension_text(from, said[0], asked.at) + "]" : core::to_text(said)
            );
        }
        close(capabilities, '}');
        append_member(out, key, capabilities);
    }
    close(out, '}');
    return out;
}

// Bytes of the lists that stand in a card of any shape as they are; not counted further than beyond `limit`.
std::size_t least_size(const server_lists& from, std::size_t limit)
{
    std::size_t sum = 0;
    for (std::size_t i = 0; i < list_kinds; ++i) {
        for (const auto& item : from.lists[i]) {
            const auto read = members_of(item.raw);
            for (const auto& member : read.members()) {
                const bool as_it_is = i != index_of(list_kind::tools) || !means_something_else(member.name);
                if (as_it_is && !holds_links(member.name)) {
                    sum += member.name.size() + std::string_view{R"("":)"}.size() + member.value.size();
                }
            }
            if (sum > limit) {
                return sum;
            }
        }
    }
    return sum;
}

// `how` reads " of 5 bytes".
core::error too_large(const server_lists& from, const card_request& asked, const std::string& how)
{
    auto detail = std::string{core::name(asked.shape)} + " card" + how + ":";
    for (std::size_t i = 0; i < list_kinds; ++i) {
        std::size_t bytes = 0;
        for (const auto& item : from.lists[i]) {
            bytes += item.raw.size();
        }
        detail += std::string{i == 0 ? " " : ", "} + std::to_string(from.lists[i].size()) + " " +
                  std::string{list_members[i]} + " of " + std::to_string(bytes);
    }
    return core::upstream_error(core::errc::card_too_large, std::move(detail));
}

}  // namespace

card_writer::card_writer(const server_lists& from, card_request asked)
    : from_{from},
      asked_{std::move(asked)}
{
}

core::result<> card_writer::prepare()
{
    // A card of many megabytes takes long to make, and whoever waits meanwhile waits for nothing.
    if (least_size(from_, asked_.limit) > asked_.limit) {
        return too_large(from_, asked_, " of more than " + std::to_string(asked_.limit) + " bytes");
    }
    plain_ = plain_card(from_, asked_);
    prepared_ = true;
    return {};
}

core::result<written_card> card_writer::write(core::card_shape shape)
{
    asked_.shape = shape;
    if (!prepared_) {
        if (auto done = prepare(); !done) {
            return std::move(done).error();
        }
    }
    auto text = shape == core::card_shape::automatic ? core::result<std::string>{superset(from_, plain_, asked_.at)}
                                                     : strict(from_, plain_, asked_);
    if (!text) {
        return std::move(text).error();
    }
    if (text->size() > asked_.limit) {
        return too_large(
            from_,
            asked_,
            " of " + std::to_string(text->size()) + " bytes, over " + std::to_string(asked_.limit)
        );
    }
    // Nothing above should make a card that its readers refuse; this one is a reader that knows when it does.
    core::json_limits limits;
    limits.bytes = asked_.limit;
    auto read = core::parse_json(*text, limits);
    if (!read) {
        return core::upstream_error(core::errc::card_invalid, read.error().detail);
    }
    if (const auto leak = a2a::find_foreign_address(*read, asked_.at)) {
        return core::upstream_error(core::errc::card_unrewritable, *leak);
    }
    return written_card{std::move(*text), std::move(*read)};
}

core::result<std::string> synthesize_card(const server_lists& from, const card_request& asked)
{
    auto written = card_writer{from, asked}.write(asked.shape);
    if (!written) {
        return std::move(written).error();
    }
    return std::move(written->text);
}

}  // namespace mcp
