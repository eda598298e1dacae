// The parameters with which callers ask for a page of the directory. Pure.
#pragma once

#include "core/agent.hpp"
#include "core/error.hpp"
#include "gateway/model/directory_kind.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::model {

inline constexpr std::size_t largest_page = 1000;  // agents; catalogs with more of them are catalogs of pages

inline constexpr std::string_view latest_version = "latest";  // of a server, whatever it is called

struct directory_request {
    directory_kind kind = directory_kind::agents;
    std::optional<std::string> cursor;  // only agents with ids behind this one; empty: from the first
    std::size_t limit = largest_page;
    std::function<bool(const core::agent&)> shows{};  // whether the caller may know of an agent; empty: of every one
    std::string agent{};                              // of a document about one agent: its id
    std::string address{};  // of the same: the agent's, if the request came to a name of its own; empty: it did not
    std::string search{};   // of servers: only those with this in their names
    std::string version{};  // of servers, and of one of them: only this version; empty: any

    // No parameter was given and every agent is shown, as most callers ask.
    bool plain() const noexcept;
};

// `query` is what follows the path, with its '?', or empty: `cursor`; for agents and servers `limit` (1 to 1000, otherwise 100);
// for servers also the other parameters of the MCP registry's API v0.1, of which `updated_since` and `include_deleted` leave nothing
// out. Only `search` and `version` are decoded. Fails with invalid_params; the detail is for the caller and says what was
// expected. Not of a document about one agent.
core::result<directory_request> read_directory_request(directory_kind kind, std::string_view query);

}  // namespace gateway::model
