// The keys of an MCP server that say what of it callers get: its tools, prompts and resources, and which header fields of
// callers go on to it. Pure.
#pragma once

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/json/json.hpp"
#include "core/mcp_server.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace config {

inline constexpr std::size_t most_filter_patterns = 256;  // of `allow`, and of `deny`
inline constexpr std::size_t most_filter_names = 256;     // of `rename`, and of `describe`
inline constexpr std::size_t longest_exposed_name = 128;
inline constexpr std::size_t longest_exposed_description = 16 * 1024;
inline constexpr std::size_t most_forwarded_headers = 32;
inline constexpr std::size_t most_session_keys = 8;

// `tools`, `prompts`, `resources`: `allow`, `deny`, `rename` and `describe`, or a list, which is `allow`. Two names may not become
// one.
core::mcp_filter read_mcp_filter(const field& f, problem_list& problems);

// As a configuration has it. Null: it is the usual one.
core::json shown_mcp_filter(const core::mcp_filter& filter);

// `mcp.session_keys`: paths of files with 32 bytes each, as 64 hexadecimal digits or as base64. Their text, which no problem shows.
std::vector<core::secret> read_session_keys(const field& f, const secret_reader& files, problem_list& problems);

// `forward_headers`: names of header fields that are neither credentials, nor MCP's or HTTP's own, nor the gateway's.
std::vector<std::string> read_forwarded_headers(const field& f, problem_list& problems);

}  // namespace config
