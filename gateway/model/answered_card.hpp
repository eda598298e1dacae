// Cards on their way to the card plane and back: extended cards, of which it knows what callers may see, be they inside the answers
// of agents, from the relay, which has the bytes, or made by the gateway itself; and the answer to a request for a card.
#pragma once

#include "a2a/card/extended_card.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/published_card.hpp"
#include "gateway/model/request_record.hpp"
#include "gateway/model/snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::model {

// Where the card stands in the answer, and in whose words.
struct card_position {
    ::a2a::card_dialect dialect = ::a2a::card_dialect::v03;
    bool in_result = true;  // of a JSON-RPC answer; else it is the whole body
};

// Room for the envelope and white space around the card in an answer.
inline constexpr std::uint64_t card_envelope = 64 * 1024;

struct answered_card {
    std::shared_ptr<const agent_entry> agent;
    std::string text;  // the whole answer, or the data of one event
    card_position where;
    std::shared_ptr<const core::principal> caller{};  // null: an anonymous one
    std::string origin{};  // of a name of the agent's own, where it was asked for; empty: the gateway's
};

// For an extended card that the gateway makes.
struct extended_request {
    std::shared_ptr<const agent_entry> agent;
    std::shared_ptr<const whole_card> card;
    std::shared_ptr<const core::principal> caller;
    std::vector<std::size_t> overlays;  // those of the agent's record that are for the caller, in their order
    ::a2a::card_dialect dialect = ::a2a::card_dialect::v03;
    std::string origin{};  // as that of an answered_card
};

// A card that is asked for at a name of the agent's own.
struct rebased_card {
    std::shared_ptr<const agent_entry> agent;
    std::shared_ptr<const card_bytes> bytes;  // as they are served at the gateway's
    std::string origin;
};

struct edited_answer {
    std::string text;
    bool edited = false;                  // false: it holds no card, and stays as it is
    unsigned status = 0;                  // of HTTP, instead of the agent's; 0: that
    std::optional<core::errc> refused{};  // the text is an error of the gateway's own; nullopt: the agent's answer
};

// A card, or why there is none.
struct card_answer {
    std::shared_ptr<const published_card> card;  // null: see failure
    card_use use = card_use::miss;
    std::optional<core::error> failure;  // with a card: why it is a stale one; nullopt then: it is being fetched again
    std::optional<core::steady_time> again_at = std::nullopt;  // of a session that is not there: when asking may help
};

}  // namespace gateway::model
