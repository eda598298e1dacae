// What the measured MCP server says: one of 2025-11-25, or of 2026-07-28 alone, whatever carries its messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

class mcp_answers {
public:
    // `body`: bytes of the answer to a call whose id has one digit. `tools`: how many it lists.
    explicit mcp_answers(std::size_t body, std::size_t tools = 1, bool modern = false);

    // The answer to a client's message, which holds until the next one; empty: none. The message is one that Cardea sends: its id
    // is a number or a string without escapes.
    std::string_view of(std::string_view message);

private:
    std::string_view put(std::string_view id, std::string_view rest);

    bool modern_;
    std::string call_;  // what follows the id
    std::string list_;
    std::string answer_;
};

}  // namespace bench
