// The members of a bundle, the part of their lists that a caller gets, and the tools that it may look for. Pure; any thread.
#pragma once

#include "core/access.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/bundles/tool_index.hpp"
#include "gateway/model/published_bundle.hpp"
#include "mcp/bundle/bundle_catalog.hpp"
#include "mcp/protocol/message.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::bundles {

// Whom it is about. Both outlive what is made of it.
struct bundle_caller {
    const access::access_plan* access = nullptr;  // null: callers need no credential
    const core::principal* principal = nullptr;   // null: an anonymous caller
};

// The method that a caller may need the right to call for a list to be of use.
std::string_view method_for(::mcp::list_kind list) noexcept;

// Whether the caller may know of the member and call it with this method, at its own address too; empty: somehow.
bool may_use(
    const model::published_bundle& bundle,
    std::size_t member,
    std::string_view method,
    const bundle_caller& caller
);

// Whether a member is left for the caller; to others the bundle does not exist.
bool may_enter(const model::published_bundle& bundle, const bundle_caller& caller);

// For as long as `bundle` and what `caller` names.
::mcp::bundle_sight sight_of(const model::published_bundle& bundle, const bundle_caller& caller);

// The ids of members that are down and that the caller may use.
std::vector<std::string> unavailable_of(const model::published_bundle& bundle, const bundle_caller& caller);

// Where this agent stands among the members. Nothing: it is none of them.
std::optional<std::size_t> place_of(const model::published_bundle& bundle, std::string_view agent);

// Names that no tool of a member has in a bundle with search.
const std::vector<std::string>& search_names();

// All tools of the catalog, whose bytes it keeps.
tools_to_search tools_of(const model::published_bundle& bundle);

// Those of tools_of() that the caller has.
visible_tools tools_seen(const model::published_bundle& bundle, const bundle_caller& caller);

// The definitions of the three tools for the caller, with commas between them: raw, for the front of a list.
std::string search_front(const model::published_bundle& bundle, const bundle_caller& caller);

// The tools that are listed beside them: those whose names fit `always`. For as long as sight_of().
::mcp::bundle_sight listed_sight_of(const model::published_bundle& bundle, const bundle_caller& caller);

// A number for both together: another one as soon as the caller's list has changed, but for chance. For comparison within the process.
std::uint64_t listed_digest(const model::published_bundle& bundle, const bundle_caller& caller);

}  // namespace gateway::bundles
