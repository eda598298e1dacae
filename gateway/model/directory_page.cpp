#include "gateway/model/directory_page.hpp"

#include "a2a/card/etag.hpp"
#include "core/json/json.hpp"
#include "core/utf8.hpp"
#include "gateway/model/json_text.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/model/well_known.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>

namespace gateway::model {
namespace {

constexpr std::size_t longest_text = 512;  // bytes of a name or a description
constexpr std::size_t longest_version = 64;

constexpr std::string_view card_type = "application/a2a-agent-card+json";
constexpr std::string_view catalog_type = "application/ai-catalog+json";

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

void write_tags(json_text& out, const listed_agent& agent)
{
    out.key("tags");
    out.open('[');
    for (const auto& tag : agent.tags) {
        out.value(tag);
    }
    out.close(']');
}

void write_target(json_text& out, std::string_view href, std::string_view type, std::string_view title)
{
    out.open('{');
    out.member("href", href);
    out.member_if_any("type", type);
    out.member_if_any("title", title);
    out.close('}');
}

// What an entry of a catalog has in any case. `mediaType` and `displayName` are for readers of drafts before June 2026.
void begin_entry(json_text& out, std::string_view identifier, std::string_view title, std::string_view type)
{
    out.open('{');
    out.member("identifier", identifier);
    out.member("displayName", title);
    out.member("type", type);
    out.member("mediaType", type);
}

void begin_ai_catalog(json_text& out, std::string_view base)
{
    out.open('{');
    out.member("specVersion", "1.0");
    out.key("host");
    out.open('{');
    const auto scheme = base.find("://");
    out.member("displayName", scheme == std::string_view::npos ? base : base.substr(scheme + 3));
    out.close('}');
    out.key("entries");
    out.open('[');
}

std::string page_address(std::string_view base, directory_kind kind, std::string_view cursor)
{
    return joined(joined(base, path_of(kind)), "?cursor=", cursor);
}

// Up to what lies at the catalog in this relation.
void begin_api_catalog(json_text& out, std::string_view base, std::string_view relation)
{
    out.open('{');
    out.key("linkset");
    out.open('[');
    out.open('{');
    out.member("anchor", joined(base, path_of(directory_kind::api_catalog)));
    out.key(relation);
    out.open('[');
}

std::string api_index_text(std::string_view base, const std::vector<std::string>& cursors)
{
    json_text out;
    begin_api_catalog(out, base, "api-catalog");
    for (const auto& each : cursors) {
        write_target(out, page_address(base, directory_kind::api_catalog, each), "application/linkset+json", {});
    }
    out.close(']');
    out.close('}');
    out.close(']');
    out.close('}');
    return out.take();
}

std::string ai_index_text(std::string_view base, const std::vector<std::string>& cursors)
{
    json_text out;
    begin_ai_catalog(out, base);
    for (const auto& each : cursors) {
        const auto url = page_address(base, directory_kind::ai_catalog, each);
        begin_entry(out, url, each.empty() ? "The first agents" : "Agents behind " + each, catalog_type);
        out.member("url", url);
        out.close('}');
    }
    out.close(']');
    out.close('}');
    return out.take();
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
    out.etag = a2a::strong_etag(body);
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

// Where MCP clients reach the server, in the words of its card.
void write_mcp(json_text& out, std::string_view url, std::string_view version)
{
    out.key("mcp");
    out.open('{');
    out.member("url", joined(url, mcp_path));
    if (!version.empty()) {
        out.key("versions");
        out.open('[');
        out.value(version);
        out.close(']');
    }
    out.key("transports");
    out.open('[');
    out.value("streamable-http");
    out.close(']');
    out.close('}');
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
    }
    return "unknown";
}

page_writer::page_writer(const directory_request& asked, std::string base)
    : kind_{asked.kind},
      limit_{asked.limit},
      base_{std::move(base)}
{
    switch (kind_) {
        case directory_kind::agents:
            out_.open('{');
            out_.key("agents");
            out_.open('[');
            break;
        case directory_kind::api_catalog:
            begin_api_catalog(out_, base_, "item");
            break;
        case directory_kind::ai_catalog:
            begin_ai_catalog(out_, base_);
            break;
    }
}

void page_writer::add(const listed_agent& agent)
{
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
        write_mcp(out_, url, agent.mcp_version);
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
    contexts_.key("service-desc");
    contexts_.open('[');
    write_target(contexts_, joined(url, card_path), "application/json", {});
    contexts_.close(']');
    contexts_.close('}');
}

void page_writer::add_to_ai_catalog(const listed_agent& agent)
{
    // The draft has a type for an MCP server's own card, which is not what is served for one.
    if (agent.speaks != core::protocol::a2a) {
        return;
    }
    const auto url = public_address(base_, agent.id);
    begin_entry(out_, url, name_of(agent), card_type);
    out_.member("url", joined(url, card_path));
    out_.member_if_any("description", core::cut_utf8(agent.description, longest_text));
    write_tags(out_, agent);
    out_.member_if_any("version", core::cut_utf8(agent.version, longest_version));
    out_.close('}');
}

directory_page page_writer::finish(std::string_view next)
{
    out_.close(']');
    if (kind_ == directory_kind::agents) {
        out_.member_if_any("nextCursor", next);
    } else if (kind_ == directory_kind::api_catalog) {
        out_.close('}');
        out_.raw(contexts_.take());
        out_.close(']');
    }
    out_.close('}');
    // Pages of a catalog stand side by side in its index.
    const bool goes_on = kind_ == directory_kind::agents && !next.empty();
    const auto next_page =
        goes_on ? page_address(base_, kind_, next) + "&limit=" + std::to_string(limit_) : std::string{};
    return finished(kind_, base_, out_.take(), next_page);
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
    const bool callable = agent.speaks == core::protocol::a2a;
    json_text out;
    out.open('{');
    out.member("id", agent.id);
    out.member("protocol", core::name(agent.speaks));
    out.member(
        "about",
        callable
            ? "An A2A agent behind this gateway: cardUrl says what it can do, and url takes JSON-RPC calls by POST."
            : "An MCP server behind this gateway: cardUrl says what it offers, and mcp.url takes messages of MCP. It "
              "takes no "
              "calls of A2A."
    );
    out.member("url", joined(url, "/"));
    out.member("cardUrl", joined(url, card_path));
    if (!callable) {
        write_mcp(out, url, mcp_version);
    }
    out.key("methods");
    out.open('{');
    out.member("GET", "this description");
    out.member("HEAD", "the same without a body");
    if (callable) {
        out.member("POST", "a JSON-RPC 2.0 request, sent as application/json");
    }
    out.close('}');
    out.member("directory", joined(base, path_of(directory_kind::agents)));
    out.close('}');
    return out.take();
}

}  // namespace gateway::model
