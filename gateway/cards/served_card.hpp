// A card that is ready to be published, with all that the control loop says of it. Made on the card thread: what an agent may
// make long is cut here. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "core/agent.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ip.hpp"
#include "core/redaction.hpp"
#include "core/secret.hpp"
#include "gateway/cards/card_renderer.hpp"
#include "gateway/cards/card_verifier.hpp"
#include "gateway/model/agent_filter.hpp"
#include "gateway/model/call_address.hpp"
#include "mcp/calls/name_filter.hpp"
#include "mcp/protocol/discovery.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace gateway::cards {

// Words for the log: cut, and without what the agent was given to keep.
struct card_words_for_log {
    std::string name;
    std::string version;
    std::string protocol_version;
    std::string capabilities;
    std::string security_schemes;
    std::vector<std::string> scheme_names;  // the first of them
    std::string sha256;                     // of the body
};

// A part of the card that one shape cannot express.
struct told_loss {
    core::card_shape shape = core::card_shape::automatic;
    std::size_t count = 0;
    std::string first;  // paths, up to 20
};

// A shape that is refused.
struct told_refusal {
    core::card_shape shape = core::card_shape::automatic;
    core::errc code = core::errc::internal;
    std::string detail;
};

// A tool of an MCP server that callers do not get.
struct hidden_tool {
    std::string name;  // the server's, as model::shown_words()
    ::mcp::hiding why = ::mcp::hiding::denied;
};

struct hidden_tools {
    static constexpr std::size_t most_told = 100;

    std::size_t count = 0;
    std::vector<hidden_tool> first;  // at most most_told, in the server's order
    std::string displaced;           // names of up to 8 that are hidden because another one has their name
};

struct served_card {
    std::shared_ptr<const model::card_bytes> bytes;
    std::shared_ptr<const model::whole_card> whole;         // null: no extended card is made of it
    std::shared_ptr<const model::extension_uris> required;  // extensions, by an A2A agent; null: none
    bool extended = false;                                  // an A2A agent says that it has an extended card
    std::shared_ptr<const ::mcp::agent_tools> as_tools;     // of an A2A agent; null: MCP clients do not call it
    std::shared_ptr<const model::tool_names> tools;         // of an MCP server; null: of none
    std::optional<::mcp::era> era;                          // the same; nothing: of none
    std::string mcp_version;                                // the same; empty: of none
    std::optional<hidden_tools> hidden;                     // by the agent's filter; nullopt: it has none
    core::card_shape shape = core::card_shape::automatic;
    ::a2a::card_facts facts;  // name, description and version are cut
    model::card_words words;
    std::vector<::a2a::card_problem> problems;
    std::optional<good_signature> signature;  // by which it was accepted, of one that was verified
    std::string signed_by;                    // the `kid` of the gateway's key; empty: not signed
    model::call_address address;              // where calls go
    card_words_for_log log;
    std::vector<told_loss> losses;
    std::vector<told_refusal> refusals;
};

// Description of a card before it is rendered: facts, words, problems, and the log's words but for `sha256`.
// `secrets`: what the agent was given to keep.
served_card describe(const ::a2a::card& card, const core::redaction& secrets);

// Description of the card of an MCP server, which is read from what was rendered from its lists. Fails as a2a::parse_card().
core::result<served_card> describe(
    const ::mcp::server_lists& lists,
    const core::redaction& secrets,
    const rendered_card& rendered,
    core::json_limits limits
);

// Adds what rendering gave: bytes, shape, signed_by, losses, refusals and the log's `sha256`.
void add_bytes(served_card& card, rendered_card rendered, core::card_shape shape, const core::redaction& secrets);

// Adds what is said of an MCP server's tools: `listed` by the server, of which callers get those that are `exposed`.
void add_tools(
    served_card& card,
    const ::mcp::server_lists& listed,
    const ::mcp::server_lists& exposed,
    const core::mcp_filter& filter,
    const core::redaction& secrets
);

// A card's text, as its agent or the operator wrote it.
struct card_document {
    std::string text;
    std::string url = {};     // where it was found
    core::secret token = {};  // of the agent's OAuth server, that it was asked for with
    // Whether it has to be signed as the agent's rules ask for, and how long it may take to fetch the keys.
    bool verified = false;
    core::duration timeout{};
    std::shared_ptr<const core::address_rule> addresses = {};  // where the keys may be; null: at any address
};

// Lists of an MCP server.
struct listed_card {
    std::shared_ptr<const ::mcp::server_lists> lists;
    core::secret token = {};  // of the agent's OAuth server, that the server got
};

// Two cards as JSON text.
struct card_pair {
    std::shared_ptr<const model::card_bytes> before;  // null: there was none
    std::shared_ptr<const model::card_bytes> after;
};

// A card as its agent wrote it, and as callers get it.
struct shown_card {
    std::string text;    // JSON; empty: it was made of an MCP server's lists, or is not known
    std::string url;     // where it was found
    core::secret token;  // of the agent's OAuth server, that it was asked for with
    std::shared_ptr<const model::card_bytes> served;
    std::stop_token left{};  // once set, nobody waits for the explanation any more
};

// Makes cards for the control loop from texts and lists, on another thread: the card_editor, or a test's own.
class card_maker {
public:
    virtual ~card_maker() = default;

    // Each returns on the loop of whoever awaits it. What is asked for one agent is begun in that order; long work of one
    // agent goes on in turn. All fail with draining when the gateway ends.

    // Fails with card_not_json, card_invalid, card_too_large, card_unrewritable, card_signature and internal.
    virtual net::task<core::result<served_card>>
    make(std::shared_ptr<const core::agent> agent, card_document document) = 0;

    // Makes a card of the lists of an MCP server. Fails with card_too_large, card_unrewritable and internal.
    virtual net::task<core::result<served_card>>
    make_of_lists(std::shared_ptr<const core::agent> agent, listed_card listed) = 0;

    // Difference between two cards of the agent: a JSON Patch (RFC 6902), as text.
    virtual net::task<core::result<std::string>> compare(std::shared_ptr<const core::agent> agent, card_pair cards) = 0;

    // Members `raw`, `served`, `changes` and `lint` of a JSON object, as text without its braces: explain_card() and a2a::lint_card()
    // of the raw card. The agent's secrets are masked in it. Without a text: null and empty lists. One at a time:
    // an explanation takes many times the memory of its card. Fails as make(), with overloaded while many wait, and with caller_gone.
    virtual net::task<core::result<std::string>> explain(std::shared_ptr<const core::agent> agent, shown_card card) = 0;
};

}  // namespace gateway::cards
