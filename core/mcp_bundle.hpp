// Several agents of either protocol behind one address, as one MCP server: a bundle, as an operator configures it. Values only;
// gateway/bundles/ acts on them.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/mcp_server.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace core {

constexpr std::size_t most_mcp_bundles = 32;
constexpr std::size_t most_bundle_agents = 64;  // of one bundle, those of patterns included
constexpr std::size_t longest_bundle_prefix = 32;

// name_length leaves this much behind a prefix at least: "__", and of a name that is cut one character, '_' and 8 digits.
constexpr std::size_t least_behind_prefix = 12;

// The range of name_length. Clients put a prefix of their own in front of a name and stop at 64 characters.
constexpr std::uint64_t least_bundle_name = 24;
constexpr std::uint64_t most_bundle_name = 128;

// The bundle at `/mcp`.
inline constexpr std::string_view default_bundle = "default";

struct bundle_member {
    std::string id;  // of an agent, or a pattern in which `*` is any text
    // In front of its names. Nothing: the id. Empty: nothing stands in front. A pattern has none.
    std::optional<std::string> as = {};

    bool is_pattern() const noexcept { return id.find('*') != std::string::npos; }

    friend bool operator==(const bundle_member&, const bundle_member&) = default;
};

struct mcp_bundle {
    std::string name;                              // as valid_agent_id() says
    std::vector<bundle_member> agents;             // at most most_bundle_agents, each id once
    std::optional<access_policy> call;             // besides each agent's own; nullopt: nobody is kept out
    std::string instructions;                      // for models; empty: those of the members
    std::uint64_t name_length = 48;                // of an exposed name, in bytes
    duration list_wait = std::chrono::seconds{2};  // for members that are starting, all together
    // By exposed names, of what the filters of the members leave: `allow` and `deny` alone.
    mcp_filter tools;
    mcp_filter prompts;
    mcp_filter resources;             // by exposed URI
    bool search = false;              // tools are found instead of listed
    std::vector<std::string> always;  // patterns of exposed names: tools that are listed nevertheless

    friend bool operator==(const mcp_bundle&, const mcp_bundle&) = default;
};

// A letter and up to 31 letters, digits, '-' and '_', without "__" and without '_' at the end; so that `<as>__<name>` reads one way.
bool valid_bundle_prefix(std::string_view as) noexcept;

// A valid prefix that reads like this id; the id itself, if it is one.
std::string proposed_prefix(std::string_view id);

// An agent in a bundle, and what stands in front of its names.
struct bundle_place {
    std::string id;
    std::string as;

    friend bool operator==(const bundle_place&, const bundle_place&) = default;
};

// Why a pattern does not bring an agent: its id is no prefix or too long a one for name_length, has the scheme of another member, or the bundle is full.
enum class bundle_gap : std::uint8_t { unfit_id, taken, full };

// "unfit_id", "taken", "full".
std::string_view name(bundle_gap g) noexcept;

struct bundle_places {
    std::vector<bundle_place> members;
    std::vector<std::pair<std::string, bundle_gap>> skipped;  // ids that a pattern fits
};

// The members of the bundle in their order, if these agents exist. `ids` are in ascending order. An agent stands where its own id
// is written, or else where the first pattern that fits it is. Linear in the product of members and ids.
bundle_places places_of(const mcp_bundle& bundle, const std::vector<std::string>& ids);

// URIs of a member with this prefix begin with this scheme: in lower case, with '-' for '_', since a scheme has no '_' and its
// case does not count (RFC 3986 section 3.1).
std::string bundle_scheme(std::string_view as);

}  // namespace core
