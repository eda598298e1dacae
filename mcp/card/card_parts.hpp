// The parts of a card: skills, which are the tools of an MCP server, and the links that it may show. Pure; any thread. Internal to mcp.
#pragma once

#include "core/json/json.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <initializer_list>
#include <string>
#include <string_view>

namespace mcp {

// Whether a tool's own member of this name would be taken for one that A2A gives a skill.
bool means_something_else(std::string_view member);

// The first that is not empty; empty: none.
std::string first_of(std::initializer_list<std::string> texts);

// The members that A2A requires of a skill, without anything of MCP.
core::json skill_of(const listed_item& tool);

// That skill with all members of its tool, as JSON text.
std::string skill_text(const core::json& skill, const listed_item& tool);

// An http or https URL (RFC 3986) with a host and without a user.
bool is_page(std::string_view address);

// An https URL with a host and without a user, or an image as a `data:` URL.
bool is_icon(std::string_view address);

// Whether a member of this name may not be shown as it is.
bool holds_links(std::string_view member);

// `raw`, an object, without those of its `icons` whose `src` is no is_icon(), also in another case; without `websiteUrl` that
// is no is_page(). If there is nothing of that kind, its bytes.
std::string with_safe_links(std::string_view raw);

}  // namespace mcp
