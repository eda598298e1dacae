// The tools of a published bundle, as its callers may look for them. Pure; any thread.
#pragma once

#include "gateway/bundles/bundle_sight.hpp"
#include "gateway/bundles/tool_index.hpp"
#include "gateway/model/published_bundle.hpp"
#include "mcp/bundle/bundle_catalog.hpp"
#include "mcp/bundle/tool_search.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gateway::bundles {

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
