// One agent's card on the control loop: what is known of it, and the tasks that wait until that changes.
#pragma once

#include "a2a/card/card.hpp"
#include "core/error.hpp"
#include "gateway/cards/card_cache.hpp"
#include "gateway/cards/card_source.hpp"
#include "gateway/cards/served_card.hpp"
#include "gateway/model/agent_filter.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/protocol/discovery.hpp"
#include "net/loop/waiting_tasks.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gateway::cards {

// All that is known of an agent's card, for agents/get and the metrics too. The `failure` of an MCP server's card is why there is
// none now: the session is not there, or what it lists makes no card.
struct card_status : card_state {
    ::a2a::card_facts facts;    // of that card
    model::card_words words;    // of that card
    std::string shown_name;     // without the agent's secrets, as the log has it
    std::string shown_version;  // the same
    std::vector<::a2a::card_problem> problems;
    std::optional<::a2a::card_problem> address_problem;  // why calls do not go where the card says
    std::string found_at;                                // the URL it was fetched from; empty: inline, or none yet
    std::optional<good_signature> signature;  // of the agent, by which it was accepted; of one that is verified
    std::string signed_by;                    // the `kid` of the gateway's key; empty: it is not signed
    std::optional<hidden_tools> hidden;       // of the MCP server that has a filter; nullopt: it has none
    bool vouched = false;                     // by a session that is there: it does not age
    std::uint64_t changes = 0;                // how often different bytes were published
    std::uint64_t fetched = 0;                // fetches that gave a card, also an unchanged one
    std::uint64_t not_modified = 0;           // of those, answered with 304
    std::vector<std::pair<core::errc, std::uint64_t>> failures;  // fetches that did not
};

// The time at which the card of `status` is seen.
inline core::steady_time seen_at(const card_status& status, core::steady_time now) noexcept
{
    return status.vouched && status.card ? status.card->fetched_at : now;
}

// Is called with true once the card of a session's lists is published, with false if they make none.
using card_told = std::function<void(bool is_card)>;

class card_entry;
using entry_pointer = std::shared_ptr<card_entry>;  // work that is under way outlives the agent's removal
using card_shelf = model::string_map<entry_pointer>;

class card_entry {
public:
    explicit card_entry(std::shared_ptr<const model::agent_entry> of)
        : agent{std::move(of)}
    {
        status.refetched = is_fetched();
    }

    const std::string& id() const noexcept { return agent->record.id; }
    std::shared_ptr<const core::agent> record() const { return {agent, &agent->record}; }

    // Its card comes from the operator, from the agent, or else from the session with an MCP server.
    bool is_written() const noexcept { return !agent->record.card.empty(); }
    bool is_fetched() const noexcept { return !is_written() && agent->takes_a2a(); }

    // The tasks that wait go on inside this call.
    void wake() { waiting_.wake(); }

    // Returns at the next wake().
    static net::task<> next_change(entry_pointer entry) { co_await entry->waiting_.wait(); }

    static net::task<> wait_while(entry_pointer entry, bool card_entry::* flag)
    {
        while ((*entry).*flag) {
            co_await next_change(entry);
        }
    }

    std::shared_ptr<const model::agent_entry> agent;
    card_status status;
    bool making = false;    // a card is being made of what the operator wrote or a session lists
    bool outdated = false;  // what is under way may be made by rules that no longer count
    bool gone = false;      // the agent is gone or has changed: what comes back for this entry is dropped

    // Only for a card that is fetched.
    card_validators validators;
    bool fetching = false;
    bool recalled = true;  // whether the last good card has been asked for, or need not be
    bool recalling = false;
    std::size_t document = 0;  // a hash of what was fetched or learnt last, with a store that is shared
    std::optional<core::steady_time> asked_at;  // when may_be_fetched() last allowed a fetch

    // Only for an MCP server's card.
    std::optional<core::error> card_trouble;            // why what it lists makes no card
    std::shared_ptr<const ::mcp::server_lists> listed;  // what the next card is made of
    std::vector<card_told> told;                        // who waits for that card
    bool lost_meanwhile = false;                        // the session was lost while its card is being made

private:
    net::waiting_tasks waiting_;
};

}  // namespace gateway::cards
