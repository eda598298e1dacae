// A card as it is served: bytes that do not change, and until when they may be called fresh. Immutable; shared by all
// loops.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "mcp/protocol/version.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {
struct server_lists;
struct agent_tools;
}  // namespace mcp

namespace gateway::model {

// A card with all skills, of which extended ones are made. Of an agent whose extended card the gateway makes.
struct whole_card {
    std::string text;                                  // JSON: the agent's card, repaired; its URLs are the agent's own
    std::shared_ptr<const ::mcp::server_lists> lists;  // of an MCP server, instead; null: there is a text
};

// Names of an MCP server's tools as callers see them, sorted: those that may be labels of metrics.
using tool_names = std::vector<std::string>;

inline constexpr std::size_t most_tool_names = 200;
inline constexpr std::size_t longest_tool_name = 128;  // bytes; a longer one is no label

// URIs of extensions that an agent's card requires.
using extension_uris = std::vector<std::string>;

inline constexpr std::size_t most_required_extensions =
    16;  // half of what a caller may name; further ones are not enforced

struct card_bytes {
    std::string body;
    std::string etag;        // strong, over the body; weak with a signature, which differs each time it is made
    std::string fields;      // Content-Type and Content-Length as header lines
    std::string validators;  // ETag, and Vary if others get other bytes; 304 has these too (RFC 9110 section 15.4.5)
    // For callers whose A2A-Version is 1.x, or 0.x; null: these bytes are theirs too.
    std::shared_ptr<const card_bytes> v1;
    std::shared_ptr<const card_bytes> v03;
    bool by_version = false;  // what is served depends on A2A-Version, even if it happens to be the same
    std::optional<core::error> refused =
        std::nullopt;  // of a version: why there is nothing of it, and what is answered
};

struct card_body {
    std::string text;
    std::string etag;
};

// For bytes that are the same whenever they are made.
card_body body_with_strong_etag(std::string text);

// The bodies for callers that name a version, or why there is none.
struct version_bodies {
    core::result<card_body> v1;
    core::result<card_body> v03;
};

std::shared_ptr<const card_bytes> make_card_bytes(card_body body);
std::shared_ptr<const card_bytes> make_card_bytes(card_body body, version_bodies others);

// Whether all callers are served the same of both.
bool same_bytes(const card_bytes& a, const card_bytes& b) noexcept;

// Those of `all` for a caller who sent this A2A-Version ("1.0"; empty: none). A version that is neither 0.x nor 1.x counts as none:
// the card is where callers learn which versions they may speak, so that it is no place to refuse them one.
const card_bytes& for_version(const card_bytes& all, std::string_view a2a_version) noexcept;

// Caching that callers are told of a card (RFC 9111 section 5.2.2).
enum class card_caching : std::uint8_t {
    while_fresh,   // anybody's may answer with it until its freshness ends
    asking,        // that it may be kept, and no answer made of it without asking: a session can end at any time
    asking_alone,  // the same, and by the caller's own cache only: what it says is not for everybody
};

struct published_card {
    std::shared_ptr<const card_bytes> bytes;
    std::shared_ptr<const whole_card> whole = nullptr;  // null: no extended card is made of it
    std::shared_ptr<const tool_names> tools = nullptr;  // of an MCP server; null: of none
    std::optional<::mcp::era> era = std::nullopt;       // that its server lists in, of the same; nothing: of none
    std::string mcp_version = {};                       // that it has agreed to, of the same; empty: of none
    std::shared_ptr<const extension_uris> required = nullptr;  // by an A2A agent; null: none
    std::string name = {};  // of the agent, cut and without its secrets; empty: it has none
    bool extended = false;  // an A2A agent says that it has an extended card
    card_caching caching = card_caching::while_fresh;
    // When callers were first told what it says (HTTP-date); empty: another card was published within that second.
    std::string modified = {};
    core::steady_time fetched_at{};
    core::steady_time fresh_until{};                   // served without a question until here
    core::steady_time usable_until{};                  // served as stale until here, while the agent fails
    core::steady_time stale_until{};                   // workers serve it as stale until here, without a question
    core::steady_time refresh_at{};                    // while it is stale, a request has it fetched again from here on
    std::optional<core::errc> failure = std::nullopt;  // of the latest fetch; nullopt: it succeeded
    std::shared_ptr<const ::mcp::agent_tools> as_tools = nullptr;  // of an A2A agent, for MCP clients; null: none
};

// The answer that a card allows at a time, whoever holds it.
enum class card_standing : std::uint8_t {
    fresh,
    stale,       // its agent has failed a moment ago
    refreshing,  // served as stale, and fetched again in the background
    expired,     // the control loop decides
};

card_standing standing_of(const published_card& card, core::steady_time now) noexcept;

// Validators that a caller sends.
struct kept_by_caller {
    const std::string_view* none_match = nullptr;      // If-None-Match; null: absent
    const std::string_view* modified_since = nullptr;  // If-Modified-Since
};

// Whether that is what would be served. A date counts only without an If-None-Match (RFC 9110 section 13.1.3), and only if
// it is the very one that was given out: another may be from an earlier gateway.
bool has_it(const kept_by_caller& kept, std::string_view etag, std::string_view modified) noexcept;

// Whether an If-None-Match field's value matches `etag` (RFC 9110 section 13.1.2: weak comparison, lists, `*`).
bool none_match_hits(std::string_view field_value, std::string_view etag) noexcept;

// Seconds for `Cache-Control: max-age`: what is left of the freshness.
long max_age(const published_card& card, core::steady_time now);

}  // namespace gateway::model
