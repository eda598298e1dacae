// A card that is ready to be published, with all that the control loop says of it. Made on the card thread: what an agent may
// make long is cut here. Pure; any thread.
#pragma once

#include "a2a/card/card.hpp"
#include "config/settings.hpp"
#include "core/agent.hpp"
#include "core/error.hpp"
#include "gateway/cards/card_signer.hpp"
#include "gateway/cards/card_variants.hpp"
#include "gateway/cards/card_verifier.hpp"
#include "gateway/cards/session_card.hpp"
#include "gateway/model/agent_filter.hpp"
#include "gateway/model/call_address.hpp"
#include "mcp/protocol/discovery.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::cards {

// Words for the log: cut, and without what the agent was given to keep.
struct card_words_for_log {
    std::string name;
    std::string version;
    std::string protocol_version;
    std::string capabilities;
    std::string security_schemes;
    std::string sha256;  // of the body
};

// What one shape cannot say of the card.
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

struct made_card {
    std::shared_ptr<const model::card_bytes> bytes;
    core::card_shape shape = core::card_shape::automatic;
    a2a::card_facts facts;  // name, description and version are cut
    model::card_words words;
    std::vector<a2a::card_problem> problems;
    std::optional<good_signature> signature;  // by which it was accepted, of one that was verified
    std::string signed_by;                    // the `kid` of the gateway's key; empty: not signed
    model::call_address address;              // where calls go
    card_words_for_log log;
    std::vector<told_loss> losses;
    std::vector<told_refusal> refusals;
};

// How cards are made.
struct card_making {
    const config::card_settings& settings;
    const card_signer* signer = nullptr;  // null: cards are not signed
    const std::string& public_base;
};

// As a2a::parse_card(), within these settings.
core::result<a2a::card> read_card(std::string_view document, const config::card_settings& settings);

// Of a card as its agent or the operator wrote it, in pieces: others may have their turn between. Fails with
// card_unrewritable, and with internal if signing does.
class card_work {
public:
    // `record` outlives this.
    explicit card_work(const core::agent& record)
        : record_{record}
    {
    }

    core::result<> begin(a2a::card card, const card_making& how);

    // One more piece; false: it is done.
    core::result<bool> step();

    made_card take() &&;

private:
    const core::agent& record_;
    made_card made_;
    std::optional<variant_maker> variants_;
};

// Likewise of the card of what an MCP server lists. Fails as session_card_maker does.
class session_card_work {
public:
    // The lists, `record` and what `how` refers to outlive this.
    session_card_work(const mcp::server_lists& from, const core::agent& record, const card_making& how);

    core::result<bool> step() { return maker_.step(); }
    made_card take() &&;

private:
    const core::agent& record_;
    core::card_shape shape_;
    session_card_maker maker_;
};

// All at once.
core::result<made_card> make_card(a2a::card card, const core::agent& record, const card_making& how);

core::result<made_card> make_card(const mcp::server_lists& from, const core::agent& record, const card_making& how);

}  // namespace gateway::cards
