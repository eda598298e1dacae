// Makes cards for the control loop from texts and lists, on another thread: the card_editor, or a test's own.
#pragma once

#include "core/clock.hpp"
#include "core/ip.hpp"
#include "core/secret.hpp"
#include "gateway/cards/served_card.hpp"
#include "net/loop/types.hpp"

#include <memory>
#include <string>

namespace gateway::cards {

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
};

}  // namespace gateway::cards
