// The lock file: which cards, instructions and tools of which agents are approved, by their fingerprints (mcp/pins/definition.hpp).
//
//     {"version": 1, "agents": {"query": {"card": null, "instructions": "<sha256>", "tools": {"search": "<sha256>"}}}}
//
// Pure; any thread.
#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace mcp {

inline constexpr std::size_t longest_lock_file = 16 * 1024 * 1024;  // bytes

// The part of one agent; an empty fingerprint approves nothing.
struct locked_agent {
    std::string card;
    std::string instructions;
    std::map<std::string, std::string, std::less<>> tools;  // fingerprints by name

    friend bool operator==(const locked_agent&, const locked_agent&) = default;
};

using lock_file = std::map<std::string, locked_agent, std::less<>>;  // by the agent's id

// Fails with config_invalid, whose detail names line and column of what is not JSON, or the member that is not as expected.
core::result<lock_file> read_lock_file(std::string_view text);

// Indented and sorted, so that two of them can be compared line by line.
std::string lock_file_text(const lock_file& file);

}  // namespace mcp
