// The rules of the card cache, without a clock and without I/O: what to do with a request for a card, and what a fetch
// changes. One state per agent, on the control loop.
#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/published_card.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::cards {

struct card_state {
    std::shared_ptr<const model::published_card> card;  // the last good one
    std::optional<core::error> failure;                 // of the latest fetch; nullopt: it succeeded, or there was none
    core::steady_time failed_at{};
    model::card_caching caching = model::card_caching::while_fresh;   // of the cards that come
    std::shared_ptr<const model::whole_card> whole = nullptr;         // of the cards that come
    std::shared_ptr<const model::tool_names> tools = nullptr;         // of the cards that come
    std::shared_ptr<const ::mcp::agent_tools> as_tools = nullptr;     // of the cards that come
    std::optional<::mcp::era> era = std::nullopt;                     // of the cards that come
    std::string name = {};                                            // of the agent, as the log has it
    std::string mcp_version = {};                                     // the same
    std::shared_ptr<const model::extension_uris> required = nullptr;  // of the cards that come
    bool extended = false;                                            // of the cards that come
    std::string modified = {};                                        // of the last good one, as callers are told
    std::string changed_at = {};                                      // the same, whether callers are told or not
    bool refetched = true;  // the cards come from fetches, so that a stale one may be served while the next one runs
};

enum class card_decision {
    serve,              // fresh
    serve_and_refresh,  // over its time, but usable: served as stale, and fetched again in the background
    serve_stale,        // the agent has failed a moment ago, and there is a usable old card
    refuse,             // the agent has failed a moment ago, and there is none
    fetch,              // somebody has to wait
};

// Agrees with model::standing_of() as long as that is not `expired`.
card_decision decide(const card_state& state, core::steady_time now, const config::card_settings& settings);

// Whether the last good card may still be served after a fetch has failed.
bool usable(const card_state& state, core::steady_time now);

// Freshness of a card by its agent's answer (RFC 9111 sections 4.2 and 5.2), kept within min_ttl and max_ttl.
// Without a word: ttl. no-store and no-cache: min_ttl. An Age is subtracted.
core::duration freshness(std::string_view cache_control, std::string_view age, const config::card_settings& settings);

// The state after a fetch.
void succeed(
    card_state& state,
    std::shared_ptr<const model::card_bytes> bytes,
    core::steady_time now,
    core::duration fresh_for,
    const config::card_settings& settings
);

// The card that succeed() publishes next differs from the previous one; `now` is an HTTP-date.
void change(card_state& state, std::string_view now);

// Nobody vouches for the card any more: it was right until now, and may be served as stale for so long.
void outdate(card_state& state, core::steady_time now, core::duration usable_for);

void fail(card_state& state, core::error why, core::steady_time now, const config::card_settings& settings);

}  // namespace gateway::cards
