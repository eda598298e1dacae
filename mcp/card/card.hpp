// The card of an MCP server, made from what it lists. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "a2a/card/card_access.hpp"
#include "a2a/extension_header.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"
#include "mcp/protocol/discovery.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mcp {

// The extension whose `params` carry what A2A has no word for: `url`, `versions` and `transports` of the endpoint for MCP
// clients, `calls` (always "mcp": messages that `url` takes), `era`, `protocolVersion`, `serverInfo`, `capabilities`, `instructions`, `tools`, `resources`, `resourceTemplates`,
// `prompts`, the lists as the server sent their items, but that a tool without `description` has that of its skill, unless that
// is the tool's name: the tools stand in the order of the skills.
inline constexpr std::string_view card_extension = a2a::mcp_facts_extension;

struct card_request {
    std::string agent_id;    // the card's `name`
    a2a::public_address at;  // what its URLs point at
    core::card_shape shape = core::card_shape::automatic;
    std::size_t limit = core::json_limits{}.bytes;  // of the card
    core::boxed<core::card_patch> patch = {};       // goes over what the server says
    std::optional<a2a::card_access> access = {};    // which credentials callers need; nullopt: the card does not say
};

// Compact JSON; equal for equal snapshots and requests.
//   automatic: `protocol`, `protocolVersion` (MCP's), `capabilities` with the server's `tools`, `resources`, `prompts` and
//              `sampling` (null: absent), `mcp` with `url`, `versions` and `transports` of the endpoint for MCP clients, `calls` and
//              with the server's name, title, instructions and capabilities as declared, the tools as `skills` with all
//              their members, `resources`, `resourceTemplates` and `prompts` (absent: not offered); and what A2A wants of
//              a card, of 0.3 and of 1.0.
//   the others: what a2a::shape_card() makes of the A2A part, with the rest in one extension. Their `name` is the server's
//              title, else its name, else the id.
// With `at.bridged` calls of A2A are: the card offers both generations over every served binding, and streams; else no list of
// interfaces has any. A skill is called what its tool is (`title`, else
// `annotations.title`, else its name); its tags are those that FastMCP gives the tool, and say what the annotations do. Icons
// and pages are shown as mcp/card/card_parts.hpp says. Fails with card_too_large, and the detail says of which shape, and what takes
// how much room; nothing is ever cut. Fails with card_unrewritable if `at` is no address.
core::result<std::string> synthesize_card(const server_lists& from, const card_request& asked);

// A card as text, and what its readers make of it.
struct written_card {
    std::string text;
    core::json document;
};

// Like synthesize_card(), for several shapes: their common parts are made once.
class card_writer {
public:
    // The lists outlive this.
    card_writer(const server_lists& from, card_request asked);

    // Makes what the shapes have in common, which takes as long as one of them; write() does it otherwise.
    core::result<> prepare();

    core::result<written_card> write(core::card_shape shape);

private:
    const server_lists& from_;
    card_request asked_;
    core::json plain_;  // what A2A wants of a card, of any shape
    bool prepared_ = false;
};

}  // namespace mcp
