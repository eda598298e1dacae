// Pages that callers find without knowing an agent's name: GET /agents, of /.well-known/api-catalog (RFC 9727, in the
// form of RFC 9264), of /.well-known/ai-catalog.json (AI Catalog 0.9.0) and of /v0.1/servers (MCP registry API v0.1), and what these
// two say of one MCP server (schema of server.json 2025-12-11; MCP extension "Server Cards"). Agents to text; pure. No address of an agent and no credential comes in here.
#pragma once

#include "core/agent.hpp"
#include "core/json/json_writer.hpp"
#include "core/memory_budget.hpp"
#include "gateway/model/agent_filter.hpp"
#include "gateway/model/directory_kind.hpp"
#include "gateway/model/directory_request.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::model {

inline constexpr tag_bounds listed_tags{.most = 32, .longest = 64};  // of an agent

// State that is worth knowing before a call; the names are public.
enum class agent_state : std::uint8_t {
    ready,        // its card is known
    unavailable,  // its card could not be got when that was tried last
    unknown,      // its card has not been asked for yet
    contained,    // an operator has stopped it: calls are refused
};

std::string_view name(agent_state s) noexcept;

struct listed_agent {
    std::string_view id;
    core::protocol speaks = core::protocol::a2a;
    std::string_view name;          // of its card; empty: none is known
    std::string_view description;   // of its card
    std::string_view version;       // of its card
    std::vector<std::string> tags;  // as listed_tags allows
    agent_state state = agent_state::unknown;
    std::string_view mcp_version{};  // of an MCP server, that it has agreed to; empty: not known yet
    bool bridged = false;            // the same; it takes calls of A2A
};

struct directory_page {
    std::string body;        // empty: there is no such document
    std::string fields;      // header lines: Content-Type, Content-Length, Link
    std::string validators;  // ETag and Cache-Control; 304 has these too
    std::string etag;
    core::memory_share memory{};  // what the page takes, for as long as somebody has it
};

// A page as it is written, agent by agent. Descriptions, names and tags are cut to what a list has room for.
class page_writer {
public:
    // `base` is the public address without a slash at the end.
    page_writer(const directory_request& asked, std::string base);

    void add(const listed_agent& agent);

    // Bytes that it has by now, with the room that they have to grow into.
    std::size_t capacity() const noexcept { return text_.capacity() + contexts_text_.capacity(); }

    // `next` is the cursor of what follows; empty: nothing does. The last call.
    directory_page finish(std::string_view next);

private:
    void add_to_agents(const listed_agent& agent);
    void add_to_api_catalog(const listed_agent& agent);
    void add_to_ai_catalog(const listed_agent& agent);
    void add_server(const listed_agent& agent, bool as_card);
    std::string address_of(const listed_agent& agent) const;

    directory_kind kind_;
    std::size_t limit_;
    std::size_t count_ = 0;
    std::string base_;
    std::string publisher_;   // of an AI catalog: the host of the gateway
    std::string name_space_;  // of servers
    std::string address_;     // as directory_request has it
    std::string text_;
    core::json_writer out_{text_};
    std::string contexts_text_;  // of an API catalog: the entries that follow its items
    core::json_writer contexts_{contexts_text_};
};

// The name of an agent in a registry of MCP servers, and its part up to the slash: the host of the gateway in reverse. Reads the
// base, so it is for once, not for each agent.
std::string server_namespace(std::string_view base);
std::string server_name(std::string_view name_space, std::string_view id);

// The version of an MCP server that a registry has; of one that has not told it, the lowest.
std::string_view server_version(const listed_agent& agent);

// A catalog of pages: the cursors of all of them, of which the first is empty.
directory_page index_of(directory_kind kind, std::string_view base, const std::vector<std::string>& cursors);

// Answer to a GET of an agent's own address, `url`. `mcp_version` as in listed_agent.
std::string
description_of(const core::agent& agent, std::string_view base, std::string_view url, std::string_view mcp_version);

}  // namespace gateway::model
