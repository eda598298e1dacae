// Answers to a client of the legacy era that are made here, because a server of the modern era knows no such request, and what it
// hears of such a server in other words (MCP 2025-11-25, basic/lifecycle; 2026-07-28, basic/patterns/subscriptions). Pure; any
// thread.
#pragma once

#include "mcp/protocol/server_facts.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcp {

// The version of a session whose client asked for this one.
std::string_view agreed_version(std::string_view asked) noexcept;

// To `initialize`. `id` is raw; `fallback_name` is that of a server that does not say its name.
std::string initialize_answer(
    std::string_view id,
    std::string_view version,
    const server_facts& facts,
    std::string_view fallback_name
);

// `{"jsonrpc":"2.0","id":…,"result":{}}`.
std::string empty_answer(std::string_view id);

std::string error_answer(std::string_view id, std::int64_t code, std::string_view message);

}  // namespace mcp
