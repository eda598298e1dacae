#include "gateway/model/directory_page.hpp"

#include "a2a/card/card.hpp"
#include "core/ascii.hpp"
#include "core/ip.hpp"
#include "core/json/json.hpp"
#include "core/url.hpp"
#include "core/utf8.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/model/well_known.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>
#include <utility>

namespace gateway::model {
namespace {

constexpr std::size_t longest_text = 512;  // bytes of a name or a description
constexpr std::size_t longest_version = 64;

constexpr std::string_view card_type = "application/a2a-agent-card+json";
constexpr std::string_view catalog_type = "application/ai-catalog+json";
constexpr std::string_view server_card_type = "application/mcp-server-card+json";
constexpr std::string_view server_card_schema =
    "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
constexpr std::string_view server_schema =
    "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";
constexpr std::size_t longest_summary = 100;         // characters of a server's title and description there
constexpr std::size_t longest_server_version = 255;  // the same of its version

std::string joined(std::string_view first, std::string_view second, std::string_view third = {})
{
    std::string out;
    out.reserve(first.size() + second.size() + third.size());
    return out.append(first).append(second).append(third);
}

std::string_view name_of(const listed_agent& agent)
{
    return agent.name.empty() ? agent.id : core::cut_utf8(agent.name, longest_text);
}

void write_tags(core::json_writer& out, const listed_agent& agent)
{
    out.name("tags");
    out.open('[');
    for (const auto& tag : agent.tags) {
        out.value(tag);
    }
    out.close(']');
}

void write_target(core::json_writer& out, std::string_view href, std::string_view type, std::string_view title)
{
    out.open('{');
    out.member("href", href);
    out.member_if_any("type", type);
    out.member_if_any("title", title);
    out.close('}');
}

void begin_entry(core::json_writer& out, std::string_view identifier, std::string_view type, std::string_view url)
{
    out.open('{');
    out.member("identifier", identifier);
    out.member("type", type);
    out.member("url", url);
}

// The host of a URL, in letters that names of servers and URNs have.
std::string host_of(std::string_view base)
{
    const auto url = core::http_url::parse(base);
    auto host = core::in_lower_case(url ? std::string_view{url->host} : std::string_view{"localhost"});
    for (auto& c : host) {
        c = core::is_letter(c) || core::is_digit(c) || c == '.' ? c : '-';
    }
    while (host.ends_with('.')) {
        host.pop_back();
    }
    return host;
}

// `agent` as its publisher names it: `urn:air:{publisher}:{name}:{kind}`.
std::string air_name(std::string_view publisher, const listed_agent& agent)
{
    std::string name = "urn:air:";
    return name.append(publisher).append(":").append(agent.id).append(
        agent.speaks == core::protocol::mcp ? ":mcp" : ":a2a"
    );
}

void begin_ai_catalog(core::json_writer& out, std::string_view base)
{
    out.open('{');
    out.member("specVersion", "0.9");
    out.name("host");
    out.open('{');
    const auto scheme = base.find("://");
    out.member("displayName", scheme == std::string_view::npos ? base : base.substr(scheme + 3));
    out.close('}');
    out.name("entries");
    out.open('[');
}

std::string page_address(std::string_view base, directory_kind kind, std::string_view cursor)
{
    return joined(joined(base, path_of(kind)), "?cursor=", cursor);
}

// Up to what lies at the catalog in this relation.
void begin_api_catalog(core::json_writer& out, std::string_view base, std::string_view relation)
{
    out.open('{');
    out.name("linkset");
    out.open('[');
    out.open('{');
    out.member("anchor", joined(base, path_of(directory_kind::api_catalog)));
    out.name(relation);
    out.open('[');
}

std::string api_index_text(std::string_view base, const std::vector<std::string>& cursors)
{
    std::string text;
    core::json_writer out{text};
    begin_api_catalog(out, base, "api-catalog");
    for (const auto& each : cursors) {
        write_target(out, page_address(base, directory_kind::api_catalog, each), "application/linkset+json", {});
    }
    out.close(']');
    out.close('}');
    out.close(']');
    out.close('}');
    return text;
}

std::string ai_index_text(std::string_view base, const std::vector<std::string>& cursors)
{
    std::string text;
    core::json_writer out{text};
    begin_ai_catalog(out, base);
    for (const auto& each : cursors) {
        const auto url = page_address(base, directory_kind::ai_catalog, each);
        begin_entry(out, url, catalog_type, url);
        out.member("displayName", each.empty() ? "The first agents" : "Agents behind " + each);
        out.close('}');
    }
    out.close(']');
    out.close('}');
    return text;
}

std::string_view content_type_of(directory_kind kind)
{
    switch (kind) {
        case directory_kind::agents:
            return "application/json";
        case directory_kind::api_catalog:
            return R"(application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727")";
        case directory_kind::ai_catalog:
            return catalog_type;
        case directory_kind::server_card:
            return server_card_type;
        case directory_kind::servers:
        case directory_kind::server_versions:
        case directory_kind::server_version:
            break;
    }
    return "application/json";
}

// RFC 9727 section 2 asks for the link on HEAD; it is on every answer.
std::string links(std::string_view base, std::string_view next_page)
{
    std::string out = "<";
    out.append(base).append(path_of(directory_kind::api_catalog)).append(">; rel=\"api-catalog\", <");
    out.append(base).append(path_of(directory_kind::ai_catalog)).append(">; rel=\"ai-catalog\"");
    if (!next_page.empty()) {
        out.append(", <").append(next_page).append(">; rel=\"next\"");
    }
    return out;
}

directory_page finished(directory_kind kind, std::string_view base, std::string body, std::string_view next_page)
{
    directory_page out;
    out.etag = ::a2a::strong_etag(body);
    net::http1::head_writer fields{out.fields};
    fields.field("Content-Type", content_type_of(kind));
    fields.field("Content-Length", body.size());
    fields.field("Link", links(base, next_page));
    net::http1::head_writer validators{out.validators};
    validators.field("ETag", out.etag);
    // Kept by everybody, and asked for again each time: agents come and go.
    validators.field("Cache-Control", "public, no-cache");
    out.body = std::move(body);
    return out;
}

// Where MCP clients reach the server, in the words of its card, and that callers of A2A do too.
void write_mcp(core::json_writer& out, std::string_view url, std::string_view version, bool bridged)
{
    out.name("mcp");
    out.open('{');
    out.member("url", joined(url, mcp_path));
    if (!version.empty()) {
        out.name("versions");
        out.open('[');
        out.value(version);
        out.close(']');
    }
    out.name("transports");
    out.open('[');
    out.value("streamable-http");
    out.close(']');
    out.close('}');
    if (bridged) {
        out.name("calls");
        out.open('[');
        out.value("a2a");
        out.value("mcp");
        out.close(']');
    }
}

}  // namespace

std::string_view name(agent_state s) noexcept
{
    switch (s) {
        case agent_state::ready:
            return "ready";
        case agent_state::unavailable:
            return "unavailable";
        case agent_state::unknown:
            return "unknown";
        case agent_state::contained:
            return "contained";
    }
    return "unknown";
}

page_writer::page_writer(const directory_request& asked, std::string base)
    : kind_{asked.kind},
      limit_{asked.limit},
      base_{std::move(base)},
      address_{asked.address}
{
    switch (kind_) {
        case directory_kind::agents:
            out_.open('{');
            out_.name("agents");
            out_.open('[');
            break;
        case directory_kind::api_catalog:
            begin_api_catalog(out_, base_, "item");
            break;
        case directory_kind::ai_catalog:
            begin_ai_catalog(out_, base_);
            publisher_ = host_of(base_);
            break;
        case directory_kind::servers:
        case directory_kind::server_versions:
            name_space_ = server_namespace(base_);
            out_.open('{');
            out_.name("servers");
            out_.open('[');
            break;
        case directory_kind::server_version:
        case directory_kind::server_card:
            name_space_ = server_namespace(base_);
            break;
    }
}

std::string page_writer::address_of(const listed_agent& agent) const
{
    return address_.empty() ? public_address(base_, agent.id) : address_;
}

void page_writer::add(const listed_agent& agent)
{
    ++count_;
    switch (kind_) {
        case directory_kind::agents:
            add_to_agents(agent);
            break;
        case directory_kind::api_catalog:
            add_to_api_catalog(agent);
            break;
        case directory_kind::ai_catalog:
            add_to_ai_catalog(agent);
            break;
        case directory_kind::servers:
        case directory_kind::server_versions:
        case directory_kind::server_version:
            out_.open('{');
            out_.name("server");
            add_server(agent, /*as_card=*/false);
            out_.name("_meta");
            out_.open('{');
            out_.close('}');
            out_.close('}');
            break;
        case directory_kind::server_card:
            add_server(agent, /*as_card=*/true);
            break;
    }
}

void page_writer::add_to_agents(const listed_agent& agent)
{
    const auto url = public_address(base_, agent.id);
    out_.open('{');
    out_.member("id", agent.id);
    out_.member("name", name_of(agent));
    out_.member_if_any("description", core::cut_utf8(agent.description, longest_text));
    out_.member("protocol", core::name(agent.speaks));
    out_.member_if_any("version", core::cut_utf8(agent.version, longest_version));
    out_.member("url", joined(url, "/"));
    out_.member("cardUrl", joined(url, card_path));
    if (agent.speaks == core::protocol::mcp) {
        write_mcp(out_, url, agent.mcp_version, agent.bridged);
    }
    write_tags(out_, agent);
    out_.member("state", name(agent.state));
    out_.close('}');
}

void page_writer::add_to_api_catalog(const listed_agent& agent)
{
    const auto url = public_address(base_, agent.id);
    const auto called = joined(url, agent.speaks == core::protocol::mcp ? mcp_path : "/");
    write_target(out_, called, {}, name_of(agent));
    contexts_.open('{');
    contexts_.member("anchor", called);
    contexts_.name("service-desc");
    contexts_.open('[');
    write_target(contexts_, joined(url, card_path), "application/json", {});
    contexts_.close(']');
    contexts_.close('}');
}

// Name, description and version are those of the document that the entry leads to.
void page_writer::add_to_ai_catalog(const listed_agent& agent)
{
    const auto url = public_address(base_, agent.id);
    const bool is_server = agent.speaks == core::protocol::mcp;
    begin_entry(
        out_,
        air_name(publisher_, agent),
        is_server ? server_card_type : card_type,
        joined(url, is_server ? server_card_path : card_path)
    );
    write_tags(out_, agent);
    out_.close('}');
}

void page_writer::add_server(const listed_agent& agent, bool as_card)
{
    const auto title = agent.name == agent.id ? std::string_view{} : core::cut_utf8(agent.name, longest_summary);
    const auto description = core::cut_utf8(agent.description, longest_summary);
    out_.open('{');
    out_.member("$schema", as_card ? server_card_schema : server_schema);
    out_.member("name", server_name(name_space_, agent.id));
    out_.member_if_any("title", title);
    out_.member("description", description.empty() ? "An MCP server behind this gateway." : description);
    out_.member("version", server_version(agent));
    out_.name("remotes");
    out_.open('[');
    out_.open('{');
    out_.member("type", "streamable-http");
    out_.member("url", joined(address_of(agent), mcp_path));
    if (as_card && !agent.mcp_version.empty()) {
        out_.name("supportedProtocolVersions");
        out_.open('[');
        out_.value(agent.mcp_version);
        out_.close(']');
    }
    out_.close('}');
    out_.close(']');
    out_.close('}');
}

directory_page page_writer::finish(std::string_view next)
{
    switch (kind_) {
        case directory_kind::server_version:
        case directory_kind::server_card:
            return finished(kind_, base_, std::move(text_), {});
        case directory_kind::agents:
            out_.close(']');
            out_.member_if_any("nextCursor", next);
            break;
        case directory_kind::api_catalog:
            out_.close(']');
            out_.close('}');
            out_.raw(contexts_text_);
            out_.close(']');
            break;
        case directory_kind::ai_catalog:
            out_.close(']');
            break;
        case directory_kind::servers:
        case directory_kind::server_versions:
            out_.close(']');
            out_.name("metadata");
            out_.open('{');
            out_.member_if_any("nextCursor", next);
            out_.name("count");
            out_.value(count_);
            out_.close('}');
            break;
    }
    out_.close('}');
    // Pages of a catalog stand side by side in its index.
    const bool goes_on = kind_ == directory_kind::agents && !next.empty();
    const auto next_page =
        goes_on ? page_address(base_, kind_, next) + "&limit=" + std::to_string(limit_) : std::string{};
    return finished(kind_, base_, std::move(text_), next_page);
}

std::string server_namespace(std::string_view base)
{
    const auto host = host_of(base);
    const auto url = core::http_url::parse(base);
    if (url && core::parse_ip(url->host)) {
        return host;
    }
    std::string reversed;
    for (auto rest = std::string_view{host}; !rest.empty();) {
        const auto dot = rest.rfind('.');
        const auto label = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
        reversed.append(reversed.empty() ? "" : ".").append(label);
        rest.remove_suffix(std::min(rest.size(), label.size() + 1));
    }
    return reversed;
}

std::string server_name(std::string_view name_space, std::string_view id)
{
    return joined(name_space, "/", id);
}

std::string_view server_version(const listed_agent& agent)
{
    return agent.version.empty() ? "0.0.0" : core::cut_utf8(agent.version, longest_server_version);
}

directory_page index_of(directory_kind kind, std::string_view base, const std::vector<std::string>& cursors)
{
    return finished(
        kind,
        base,
        kind == directory_kind::api_catalog ? api_index_text(base, cursors) : ai_index_text(base, cursors),
        {}
    );
}

std::string
description_of(const core::agent& agent, std::string_view base, std::string_view url, std::string_view mcp_version)
{
    const bool is_server = agent.speaks == core::protocol::mcp;
    const bool callable = !is_server || agent.bridge;
    constexpr std::string_view of_server =
        "An MCP server behind this gateway: cardUrl says what it offers, and mcp.url takes messages of MCP.";
    constexpr std::string_view of_agent =
        "An A2A agent behind this gateway: cardUrl says what it can do, and url takes JSON-RPC calls by POST.";
    auto about = std::string{is_server ? of_server : of_agent};
    if (is_server) {
        about += callable ? " Calls of A2A by POST to url become calls of its tools." : " It takes no calls of A2A.";
    }
    std::string text;
    core::json_writer out{text};
    out.open('{');
    out.member("id", agent.id);
    out.member("protocol", core::name(agent.speaks));
    out.member("about", about);
    out.member("url", joined(url, "/"));
    out.member("cardUrl", joined(url, card_path));
    if (is_server) {
        write_mcp(out, url, mcp_version, agent.bridge);
    }
    out.name("methods");
    out.open('{');
    out.member("GET", "this description");
    out.member("HEAD", "the same without a body");
    if (callable) {
        out.member("POST", "a JSON-RPC 2.0 request, sent as application/json");
    }
    out.close('}');
    out.member("directory", joined(base, path_of(directory_kind::agents)));
    out.close('}');
    return text;
}

}  // namespace gateway::model
