// Configuration files of MCP clients, pasted as they are: what such a file has that is not ours. Pure.
#pragma once

#include "config/document.hpp"
#include "config/problem.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace config {

// A key that has a meaning for clients only, and what a warning says about it.
struct client_key {
    std::string_view name;
    std::string_view why;
};

// The keys of one server, and those of a whole file.
std::span<const client_key> client_server_keys();
std::span<const client_key> client_file_keys();

// Top-level keys whose value is a map of MCP servers in the clients' form.
std::span<const std::string_view> client_sections();
bool is_client_section(std::string_view key) noexcept;

// The problem of a top-level key below which a client has its servers in another form; empty for other keys.
std::string_view foreign_section(std::string_view key) noexcept;

// parse_document() of a file with this name: a name that ends with `.json` or `.jsonc` may have the comments of VS Code in
// it, and TOML is refused by its name. Keys of clients are left out, each with a warning, so that nothing else sees them.
std::optional<node> read_document(std::string_view text, std::string_view file_name, problem_list& problems);

}  // namespace config
