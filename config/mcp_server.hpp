// The keys of an MCP server: how it is reached, which of its tools callers get, and which header fields go on to it. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/choices.hpp"
#include "core/json/json.hpp"
#include "core/mcp_server.hpp"
#include "core/secret.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace config {

// The values of `type`. Several may mean the same.
inline constexpr auto transport_types = std::to_array<core::choice<core::mcp_transport>>(
    {{core::mcp_transport::stdio, "stdio"},
     {core::mcp_transport::stdio, "local"},
     {core::mcp_transport::sse, "sse"},
     {core::mcp_transport::streamable_http, "streamable-http"},
     {core::mcp_transport::streamable_http, "streamable_http"},
     {core::mcp_transport::streamable_http, "streamableHttp"},
     {core::mcp_transport::streamable_http, "http"}}
);

struct mcp_parts {
    core::mcp_server server;
    core::json shown;  // the transport as it may be shown: only members that cannot hold a credential keep their value
    std::string url;   // of servers that are reached over HTTP
    std::vector<std::pair<std::string, core::secret>> headers;  // of these: sent with every request
};

// `path` and `at` are the agent's. `url` beside a transport is the short form of one.
mcp_parts read_mcp_server(const members& given, const std::string& path, place at, problem_list& problems);

// Keys that only MCP servers have are problems here. They are taken out.
void take_mcp_keys(members& given, problem_list& problems);

inline constexpr std::size_t most_filter_patterns = 256;  // of `allow`, and of `deny`
inline constexpr std::size_t most_filter_names = 256;     // of `rename`, and of `describe`
inline constexpr std::size_t longest_exposed_name = 128;
inline constexpr std::size_t longest_exposed_description = 16 * 1024;
inline constexpr std::size_t most_forwarded_headers = 32;
inline constexpr std::size_t most_session_keys = 8;

// Names or patterns of names, at most most_filter_patterns of them.
std::vector<std::string> read_name_patterns(const field& f, problem_list& problems);

// `tools`, `prompts`, `resources`: `allow`, `deny`, `rename` and `describe`, or a list, which is `allow`. Two names may not become
// one.
core::mcp_filter read_mcp_filter(const field& f, problem_list& problems);

// The inverse of read_mcp_filter(). Null: the filter is the default.
core::json shown_mcp_filter(const core::mcp_filter& filter);

// `mcp.session_keys`: paths of files with 32 bytes each, as 64 hexadecimal digits or as base64. Their text, which no problem shows.
std::vector<core::secret> read_session_keys(const field& f, const secret_reader& files, problem_list& problems);

// `forward_headers`: names of header fields that are neither credentials, nor MCP's or HTTP's own, nor the gateway's.
std::vector<std::string> read_forwarded_headers(const field& f, problem_list& problems);

}  // namespace config
