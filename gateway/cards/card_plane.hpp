// Where cards come from: fetched from the agents, when somebody asks and before, at most one fetch per agent at a time;
// kept by the rules of the cache, published to the workers when they change. On the control loop's thread; cards themselves
// are made elsewhere (gateway/cards/card_maker.hpp), and what comes back for an agent that has changed meanwhile is dropped.
#pragma once

#include "a2a/card/card.hpp"
#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/cards/card_cache.hpp"
#include "gateway/cards/card_keeper.hpp"
#include "gateway/cards/card_maker.hpp"
#include "gateway/cards/card_schedule.hpp"
#include "gateway/cards/card_source.hpp"
#include "gateway/model/agent_filter.hpp"
#include "gateway/model/card_answer.hpp"
#include "gateway/model/request_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/protocol/discovery.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/task_signal.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::cards {

// What agents/get and the metrics say of an agent's card.
struct card_status {
    std::shared_ptr<const model::published_card> card;  // null: never had one
    a2a::card_facts facts;                              // of that card
    model::card_words words;                            // of that card
    std::vector<a2a::card_problem> problems;
    std::optional<a2a::card_problem> address_problem;  // why calls do not go where the card says
    std::string found_at;                              // the URL it was fetched from; empty: inline, or none yet
    std::optional<good_signature> signature;  // of the agent, by which it was accepted; of one that is verified
    std::string signed_by;                    // the `kid` of the gateway's key; empty: it is not signed
    std::optional<core::error> failure;       // of the latest fetch
    bool vouched = false;                     // by a session that is there: it does not age
    std::uint64_t changes = 0;                // how often different bytes were published
    std::uint64_t fetched = 0;                // fetches that gave a card, also an unchanged one
    std::uint64_t not_modified = 0;           // of those, answered with 304
    std::vector<std::pair<core::errc, std::uint64_t>> failures;  // fetches that did not
};

// As of when the card of `status` is seen.
inline core::steady_time seen_at(const card_status& status, core::steady_time now) noexcept
{
    return status.vouched && status.card ? status.card->fetched_at : now;
}

// What a fetch would publish.
struct card_preview {
    std::shared_ptr<const model::card_bytes> before;  // null: nothing has been published
    std::shared_ptr<const model::card_bytes> after;   // the same object as before: nothing would change
    std::vector<a2a::card_problem> problems;
    std::string difference;  // what would change: a JSON Patch as text
};

class card_plane final : public net::timed {
public:
    using clock = std::function<core::steady_time()>;
    using publisher = std::function<void(const std::string& id, std::shared_ptr<const model::published_card> card)>;

    using pathfinder = std::function<void(const std::string& id, const std::string& call_url)>;

    // Everything given by reference outlives the plane, and the loop has run to its end before it is destroyed.
    card_plane(
        net::loop& control,
        card_source& source,
        card_maker& maker,
        const config::card_settings& settings,
        const core::logger& log,
        clock now = std::chrono::steady_clock::now
    );

    // From now on every card that is published goes here, a null one when an agent is gone or has changed.
    void set_publisher(publisher publish) { publish_ = std::move(publish); }

    // From now on it is told where the card says that calls go, of an agent whose card may; empty: nowhere that counts.
    void set_pathfinder(pathfinder find) { find_path_ = std::move(find); }

    // From now on it is told whose card is asked for while its session has not begun.
    void set_demand(std::function<void(const std::string& id)> demand) { demand_ = std::move(demand); }

    // From now on it is asked when a session that was lost is made again; nothing: that is under way.
    using attempts = std::function<std::optional<core::steady_time>(const std::string& id)>;
    void set_attempts(attempts next) { next_attempt_ = std::move(next); }

    // What the session with an MCP server lists is its card from now on. `done` is told whether it makes one, once it is
    // published; who asks for the card meanwhile waits.
    using card_told = std::function<void(bool made)>;
    void set_session_card(const std::string& id, std::shared_ptr<const mcp::server_lists> from, card_told done);

    // What set_session_card() would publish. Fails with agent_not_found, and as session_card_maker does.
    net::task<core::result<card_preview>>
    preview_session_card(std::string id, std::shared_ptr<const mcp::server_lists> from);

    // Why there is no card of an MCP server; nothing: its session is well, and the previous card counts again.
    void set_session_trouble(const std::string& id, std::optional<core::error> why);

    // From now on good cards are kept, and those of agents that come with set_agents() are recalled before they are
    // fetched.
    void set_keeper(card_keeper& keeper) noexcept { keeper_ = &keeper; }

    // The agents of `now`: new ones get their inline card published, changed ones lose what was cached, others are
    // forgotten.
    void set_agents(std::shared_ptr<const model::snapshot> now);

    // The same for one agent; null: it is gone. Its previous card is not recalled: it has just been changed. That of a session
    // which the change does not concern stays until set_session_card().
    void set_agent(const std::string& id, std::shared_ptr<const model::agent_entry> agent);

    // Returns when the card that the operator wrote for the agent, if there is one, has been made.
    net::task<> settled(std::string id);

    // What to answer to a request for the agent's card; waits for a fetch only if there is nothing to serve.
    net::task<model::card_answer> obtain(std::string id);

    // Fetches now, whatever is cached. Fails with agent_not_found.
    net::task<core::result<card_status>> refresh(std::string id);

    // Whether a caller who is nobody in particular may have the card fetched: at most once in cards.min_ttl for each agent.
    // Asking counts.
    bool may_be_fetched(const std::string& id);

    // Fetches now and changes nothing. Fails with agent_not_found, and with what the fetch fails with.
    net::task<core::result<card_preview>> preview(std::string id);

    // No more fetches: what would need one fails with draining, and so does one that is on its way to its next location.
    void stop() noexcept
    {
        stopped_ = true;
        source_.stop();
    }

    // Null: no such agent.
    const card_status* status(const std::string& id) const;

    std::size_t agents() const noexcept { return slots_.size(); }

    void on_due() override {}
    void on_sweep(core::steady_time) override;  // starts the fetches whose time has come

private:
    struct slot {
        std::shared_ptr<const model::agent_entry> agent;
        card_state state;
        card_status status;
        card_validators validators;
        std::vector<net::task_signal*> waiting;
        bool fetching = false;
        bool making = false;   // a card of what is at hand: one that the operator wrote, or what a session lists
        bool recalled = true;  // whether the last good card has been asked for, or need not be
        bool recalling = false;
        std::optional<core::steady_time> asked_at;        // when somebody had it fetched who may not do so all the time
        std::optional<core::error> session_trouble;       // of an MCP server: why there is no card
        std::optional<core::error> card_trouble;          // of an MCP server: why what it lists makes no card
        std::shared_ptr<const mcp::server_lists> listed;  // what the next card is made of
        std::vector<card_told> told;                      // who is told of that one
        bool lost_meanwhile = false;                      // the session, since a card of it is being made
        bool gone = false;

        std::shared_ptr<const core::agent> record() const { return {agent, &agent->record}; }
    };

    using slot_pointer = std::shared_ptr<slot>;  // a fetch in flight outlives the agent's removal

    void add(const std::string& id, std::shared_ptr<const model::agent_entry> agent, bool recall);
    void drop(model::string_map<slot_pointer>::iterator which);
    net::task<> recall(slot_pointer which);
    void keep(const slot& which, const fetched_card& fetched);
    static void wake(slot& which);
    void spawn(net::task<> work, std::string_view what);
    void start_fetch(const slot_pointer& which);
    net::task<> fetch(slot_pointer which);
    static net::task<> wait_for_change(slot_pointer which);
    static net::task<> wait_while(slot_pointer which, bool slot::* flag);
    void take(slot& which, core::result<fetched_card> outcome);
    void take_card(slot& which, fetched_card fetched);
    void accept(slot& which, made_card made, core::steady_time fetched_at, core::duration fresh_for);
    void note_address(slot& which, const std::optional<a2a::card_problem>& problem) const;
    void take_made(slot& which, made_card made, core::steady_time fetched_at, core::duration fresh_for);
    void make_written(const slot_pointer& which);
    net::task<> make_written_card(slot_pointer which);
    void make_next();
    net::task<core::result<card_preview>> previewed(slot_pointer which, made_card made);
    net::task<> make_of_session(slot_pointer which);
    bool take_session(slot& which, core::result<made_card> made, const mcp::server_lists& from);
    void renew(slot& which);
    void withdraw(slot& which);
    model::card_answer written_answer(slot& which);
    model::card_answer obtain_from_session(slot& which);
    void log_published(const slot& which, const made_card& made) const;
    void failed(slot& which, core::error why);
    model::card_answer after_fetch(const slot& which) const;

    net::loop& loop_;
    card_source& source_;
    card_maker& maker_;
    const config::card_settings& settings_;
    const core::logger& log_;
    publisher publish_;
    pathfinder find_path_;
    std::function<void(const std::string& id)> demand_;
    attempts next_attempt_;
    card_keeper* keeper_ = nullptr;
    std::string public_base_;
    clock now_;
    card_schedule schedule_;
    std::uint64_t fetching_ = 0;        // fetches under way
    std::deque<slot_pointer> written_;  // agents whose card the operator wrote and which is still to be made
    unsigned making_ = 0;               // such cards that are being made
    model::string_map<slot_pointer> slots_;
    bool stopped_ = false;
};

}  // namespace gateway::cards
