// The approved tools and instructions of one MCP server, by which lists and calls of its callers are judged. The approvals do not change; what
// was found out about texts of servers is remembered in atomics. Any thread.
#pragma once

#include "core/error.hpp"
#include "core/keyed_hash.hpp"
#include "mcp/protocol/discovery.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcp {

inline constexpr std::size_t most_variants = 8;  // approved ones of one tool

// One approved form of a tool.
struct approved_variant {
    std::string shape;  // tool_print::shape
    std::string raw;    // as callers get it
};

// Everything that is approved of one server. Immutable once it is shared.
struct approved_server {
    struct tool {
        std::vector<approved_variant> variants;
        bool callable = true;  // false: the gateway's own list has it in a shape that is not approved
    };

    bool seen = false;                        // false: nothing is known that could be approved
    std::optional<std::string> instructions;  // nothing: none are approved; empty: that there are none is
    std::map<std::string, tool, std::less<>> tools;
};

class pinned_server {
public:
    // `except`: patterns of tools that are not judged.
    pinned_server(approved_server approved, std::vector<std::string> except);

    // False: lists and calls have to wait for what the gateway itself will see.
    bool seen() const noexcept { return approved_.seen; }

    // The tool is not judged.
    bool leaves_out(std::string_view name) const noexcept;

    // Whether callers may call the tool of this name, as the server calls it.
    bool admits(std::string_view name) const noexcept;

    // The approved form of a tool that the server lists as `raw`. Nothing: callers do not get it. A view into this.
    std::optional<std::string_view> shown(std::string_view name, std::string_view raw) const;

    // Whether this form of a tool is seen here for the first time; may say so again later.
    bool is_news(std::string_view name, std::string_view raw) const noexcept;

    // The approved ones; empty: none.
    std::string_view instructions() const noexcept;

    const std::vector<std::string>& except() const noexcept { return except_; }
    const approved_server& approved() const noexcept { return approved_; }

private:
    // Hashes of texts whose variant is known; 0: none.
    struct known_texts {
        std::array<std::atomic<std::uint64_t>, 4> hashes{};
        std::array<std::atomic<std::uint8_t>, 4> variants{};
        std::atomic<std::uint8_t> next = 0;
    };
    struct judged_tool {
        const approved_server::tool* tool = nullptr;
        std::unique_ptr<known_texts> known = std::make_unique<known_texts>();
    };

    std::uint64_t hash(std::string_view name, std::string_view raw) const noexcept;

    approved_server approved_;
    std::vector<std::string> except_;
    std::unordered_map<std::string_view, judged_tool> tools_;
    core::keyed_hash hash_;
    mutable std::array<std::atomic<std::uint64_t>, 64> news_{};
};

// The lists of a server as callers get them: tools without those that nobody has approved, which are in server_lists::held, and the approved
// instructions.
server_lists approved_lists(const pinned_server& pins, const server_lists& seen);

// The answer to `initialize` or `server/discover` with the approved instructions. Nothing: it stays as it is. Fails with upstream_protocol: a
// result that is not an object whose names stand once.
core::result<std::optional<std::string>>
with_approved_instructions(const pinned_server& pins, std::string_view message);

}  // namespace mcp
