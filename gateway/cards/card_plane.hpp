// The cards of all agents: where each comes from, what callers are answered, and what the workers are told when it changes.
// On the control loop's thread; cards themselves are made elsewhere (card_maker in gateway/cards/served_card.hpp).
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/cards/card_entry.hpp"
#include "gateway/cards/card_preview.hpp"
#include "gateway/cards/card_publisher.hpp"
#include "gateway/cards/card_source.hpp"
#include "gateway/cards/card_store.hpp"
#include "gateway/cards/fetched_cards.hpp"
#include "gateway/cards/inline_cards.hpp"
#include "gateway/cards/mcp_cards.hpp"
#include "gateway/cards/served_card.hpp"
#include "gateway/model/answered_card.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/threads/turns.hpp"
#include "mcp/protocol/discovery.hpp"
#include "net/loop/loop.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace gateway::cards {

class card_plane final : public net::timed, public model::plane {
public:
    using clock = card_publisher::clock;
    using publisher = card_publisher::publication;
    using pathfinder = card_publisher::pathfinder;

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
    void set_publisher(publisher publish) { publisher_.set_publication(std::move(publish)); }

    // From now on cards that are published are noted there; it outlives the plane.
    void set_audit(const model::audit_trail& audit) noexcept { publisher_.set_audit(audit); }

    // From now on it is told where the card says that calls go, of an agent whose card may; empty: nowhere that counts.
    void set_pathfinder(pathfinder find) { publisher_.set_pathfinder(std::move(find)); }

    // From now on it is told whose card is asked for while its session has not begun.
    void set_demand(mcp_cards::demand demand) { sessions_.set_demand(std::move(demand)); }

    // From now on it is asked when a session that was lost is made again; nothing: that is under way.
    void set_attempts(mcp_cards::attempts next) { sessions_.set_attempts(std::move(next)); }

    // The lists of the session with an MCP server are its card from now on. `done` is told whether it makes one, once it is
    // published; callers who ask for the card meanwhile wait.
    void set_session_card(const std::string& id, std::shared_ptr<const ::mcp::server_lists> lists, card_told done);

    // The card that set_session_card() would publish. Fails with agent_not_found, and as card_maker::make_of_lists().
    net::task<core::result<card_preview>>
    preview_session_card(std::string id, std::shared_ptr<const ::mcp::server_lists> lists);

    // Why there is no card of an MCP server; nothing: its session is well, and the previous card counts again.
    void set_session_trouble(const std::string& id, std::optional<core::error> why);

    // From now on good cards are kept, and those of agents that come with set_agents() are recalled before they are
    // fetched.
    void set_store(card_store& store) noexcept { fetched_.set_store(store); }

    // A replica that shares the store has fetched or confirmed this card.
    void learn(store::kept_card card);

    // From now on published cards are noted there; it outlives the plane.
    void set_history(card_history& history) noexcept
    {
        history_ = &history;
        publisher_.set_history(history);
    }

    // From now on fetched cards are compared with what was approved.
    void set_judge(model::card_judge judge) { fetched_.set_judge(std::move(judge)); }

    // While this says so, no card is fetched that nobody asks for.
    void set_pause(std::function<bool()> paused) { fetched_.set_pause(std::move(paused)); }

    // The agents of `now`: new ones get their inline card published, changed ones lose what was cached, others are
    // forgotten.
    void set_agents(const std::shared_ptr<const model::snapshot>& now) override;

    // Sets one agent; null: it is gone. Its previous card is not recalled: it has just been changed. That of a session
    // which the change does not concern stays until set_session_card().
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;

    // The content of the cards of some agents has changed, but for those of sessions: those that `chosen` names are made again, and what
    // was made before is stale. In turns of `by`, which outlives the plane.
    using choice = std::function<bool(const core::agent&)>;
    void make_again(choice chosen, threads::turns& by);

    // Makes the card of one agent again, at once.
    void make_again(const std::string& id);

    // Whether make_again() still goes on; after stop() it ends with its turn.
    bool busy() const noexcept override { return walks_.use_count() > 1; }

    // Returns when the card that the operator wrote for the agent, if there is one, has been made.
    net::task<> settled(std::string id);

    // The answer to a request for the agent's card; waits for a fetch only if there is nothing to serve.
    net::task<model::card_answer> obtain(std::string id);

    // A worker has answered with a stale card of the agent: works as fetched_cards::refresh_stale().
    void refresh_stale(const std::string& id);

    // Fetches now, whatever is cached. Fails with agent_not_found.
    net::task<core::result<card_status>> refresh(std::string id);

    // Whether a caller who is nobody in particular may have the card fetched: at most once in cards.min_ttl for each agent.
    // Asking counts.
    bool may_be_fetched(const std::string& id);

    // Fetches now and changes nothing. Fails with agent_not_found, and with what the fetch fails with.
    net::task<core::result<card_preview>> preview(std::string id);

    // The card for callers who send this A2A-Version (empty: none), as card_maker::explain() tells of it. Fetches if nothing is known of
    // it yet. Fails with what there is no card for, with agent_not_found and as card_maker::explain().
    net::task<core::result<std::string>> explain(std::string id, std::string a2a_version, std::stop_token left = {});

    // Works as card_history::versions().
    net::task<core::result<std::vector<store::card_version>>> versions(std::string id);

    // No more fetches: what would need one fails with draining, and so does one that is on its way to its next location.
    void stop() noexcept override;

    // Null: no such agent.
    const card_status* status(const std::string& id) const;

    std::size_t agents() const noexcept { return entries_.size(); }

    void collect(telemetry::metrics& into) const override;

    void on_due() override {}
    void on_sweep(core::steady_time) override { fetched_.sweep(entries_); }

private:
    net::task<> choose_again(choice chosen, threads::turns& by, std::shared_ptr<const int> under_way);
    entry_pointer entry_of(const std::string& id) const;
    void make_again(const entry_pointer& entry);
    void add(const std::string& id, std::shared_ptr<const model::agent_entry> agent, bool recall);
    void drop(card_shelf::iterator place);
    net::task<model::card_answer> obtain_of(entry_pointer entry);
    net::task<core::result<>> refresh_of(entry_pointer entry);

    card_source& source_;
    card_maker& maker_;
    card_history* history_ = nullptr;  // null: there is none
    card_publisher publisher_;
    fetched_cards fetched_;
    inline_cards written_;
    mcp_cards sessions_;
    card_previewer previewer_;
    card_shelf entries_;
    std::shared_ptr<const int> walks_ = std::make_shared<const int>(0);  // held by each make_again() that goes on
    bool stopped_ = false;
};

}  // namespace gateway::cards
