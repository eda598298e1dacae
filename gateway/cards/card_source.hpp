// Fetches an agent's card from wherever it is: the search order, conditional requests, and which credentials go where.
#pragma once

#include "config/settings.hpp"
#include "core/agent.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/secret.hpp"
#include "gateway/cards/served_card.hpp"
#include "gateway/model/snapshot.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/types.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gateway::cards {

// Validators that make the next fetch conditional (RFC 9110 section 13). Belongs to one URL.
struct card_validators {
    std::string url;  // where the card was found, behind redirects; tried first if it is a location of the agent
    std::string etag;
    std::string last_modified;
};

struct fetched_card {
    bool not_modified = false;  // 304: the card of last time
    bool held = false;          // `card` is the approved one instead
    std::string document;       // unless not_modified: as the agent sent it
    served_card card;           // made of that
    core::duration fresh_for{};
    card_validators validators;
};

// Where a card is looked for, in this order: its own URL if it has one, and nothing else; else the two well-known paths
// (of 0.3 and later, and of 0.2) below the agent's URL without its query, then at its origin.
std::vector<std::string> card_locations(const core::agent& agent);

class card_source {
public:
    // References outlive the source, the fetcher only until stop(). `maker` reads what was fetched.
    card_source(net::fetcher& fetcher, card_maker& maker, const config::settings& settings);

    // Fails with what the fetch failed with; upstream_status if the agent has no card or refuses; and as card_maker::make().
    // All locations together take at most cards.timeout, or `longest` if that is shorter. The agent's credentials go to its own origin only. A card
    // that has to be verified is fetched whole each time, so that a key that has been withdrawn is noticed although the card is
    // the same. Fails with upstream_credentials without a token that is needed.
    net::task<core::result<fetched_card>>
    fetch(core::agent agent, card_validators last, core::duration longest = core::duration::max());

    // Where the tokens of agents come from whose credentials are of an OAuth server. Without it their cards cannot be fetched from
    // their own origin.
    // `refused` is a token that the agent did not take; empty: any will do.
    using tokens = std::function<net::task<core::result<core::secret>>(std::string agent_id, core::secret refused)>;
    void set_tokens(tokens from) { tokens_ = std::move(from); }

    // Agents that are asked for nothing, which fails with agent_contained, not even for the rest of a fetch under way. Empty: there are none.
    void set_contained(std::function<bool(const std::string& agent_id)> asked) { contained_ = std::move(asked); }

    // From now on the fetcher is not touched: a fetch that would ask a further location fails with draining.
    void stop() noexcept { stopped_ = true; }

private:
    net::task<core::result<fetched_card>>
    fetch_one(core::agent agent, std::string url, card_validators last, core::duration timeout);

    struct followed {
        net::fetch_response answer;
        std::string url;       // of the answer
        core::secret token{};  // that it was asked for with
    };

    // The token that a card of this agent at this URL is fetched with; empty: none is needed there.
    net::task<core::result<core::secret>>
    token_for(const core::agent& agent, const std::string& url, core::secret refused);

    // With the credentials that belong there. If the agent refuses its token, it is asked once more with another one.
    net::task<core::result<followed>>
    fetch_with_credentials(core::agent agent, std::string url, card_validators last, core::duration timeout);

    // Follows up to three redirects within the same origin.
    net::task<core::result<followed>> fetch_followed(net::fetch_request request, std::string agent_id);

    // Why nothing more is asked of the agent; nullopt: it may be.
    std::optional<core::error> obstacle(const std::string& agent_id) const;

    net::fetcher& fetcher_;
    card_maker& maker_;
    const config::settings& settings_;
    tokens tokens_;
    std::function<bool(const std::string& agent_id)> contained_;
    bool stopped_ = false;
};

// The addresses of the agent, in the order in which its card is asked for: those of usable endpoints first.
std::vector<std::string> card_order(const model::agent_entry& agent, core::steady_time now);

// Whether no endpoint that the card is asked of gets calls now: its breakers are open.
bool is_paused(const model::agent_entry& agent, core::steady_time now) noexcept;

// The record at that one of its addresses which `found_at` is of; else as it is.
core::agent record_at(const core::agent& record, const std::string& found_at);

// Works as card_source::fetch(). Another endpoint is asked if one does not answer, until `patience` is over.
net::task<core::result<fetched_card>> fetch_card(
    card_source& source,
    std::shared_ptr<const model::agent_entry> agent,
    card_validators last,
    core::duration patience
);

}  // namespace gateway::cards
