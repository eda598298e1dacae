// The sessions of callers that live in this process, as the workers reach them. On the thread of the control loop but for open().
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/eras/legacy_clients.hpp"
#include "gateway/mcp/eras/modern_client_calls.hpp"
#include "gateway/mcp/eras/modern_program.hpp"
#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/mcp/shared/shared_sessions.hpp"
#include "gateway/mcp/table/local_session_exchange.hpp"
#include "gateway/mcp/table/local_session_services.hpp"
#include "gateway/mcp/table/resumable_streams.hpp"
#include "gateway/mcp/table/session_table.hpp"
#include "gateway/model/containments.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/snapshot.hpp"
#include "net/loop/deadlines.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace gateway::mcp {

struct live_sessions {
    std::size_t sessions = 0;
    std::optional<std::size_t> warm;  // programs; nothing: the server is no program
};

class local_session_plane final : public model::program_port, public model::plane {
public:
    // References outlive it, and it the workers.
    explicit local_session_plane(table::local_session_services services);

    std::unique_ptr<model::program_reader> open(model::program_request asked, net::executor here, net::signal& wake)
        override;
    net::task<core::result<>> find_era(std::string agent_id) override;
    net::task<bool> translates(std::string agent_id) override;

    // There is such an agent, whose server callers reach.
    bool has_agent(const std::string& id) { return find(id) != nullptr; }

    // Something is kept of this agent: callers have asked for it, or it is no bridged one, or it is contained.
    bool keeps(const std::string& id) const { return agents_.contains(id) || contained_.contains(id); }

    // Null: it is gone. The sessions end that were made of a record that has changed.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent) override;

    bool is_contained(const std::string& id) const { return contained_.contains(id); }

    // Ends the sessions that live here, and refuses the requests of the others until set_agent(): the sessions of a server over streamable
    // HTTP are its own, and stay.
    void contain(const std::string& id) override;

    // Ends the sessions that principals have here which are contained from now on.
    void end_of_principals(const model::containments& now);

    // How many these are.
    std::size_t of_principals(const model::containments& then) const;

    // How many sessions contain() would end.
    std::size_t ending(const std::string& id) const;

    // What is late or idle ends, in all parts; done every second by itself.
    void sweep(core::steady_time now);

    // Seals the states of calls that wait for input so that other replicas open them too; not null.
    void set_seals(std::shared_ptr<const ::mcp::session_ids> ids) { services_.seals = std::move(ids); }

    // What the agent's server lists has changed to this.
    void lists_changed(const std::string& id, const std::shared_ptr<const ::mcp::server_lists>& lists)
    {
        translated_.lists_changed(id, lists);
        legacy_clients_.lists_changed(id, lists);
    }

    // Ends all sessions in order. busy() until their programs are gone.
    void stop() override;
    bool busy() const noexcept override { return sessions_.busy(); }
    // Requests under way, without listeners and subscriptions. Any thread.
    std::size_t calls() const noexcept { return static_cast<std::size_t>(calls_.use_count() - 1); }

    // Since the start.
    table::session_counts counts() const noexcept;

    const ::mcp::question_tally& asked_of_callers() const noexcept { return *services_.asked; }

    // Now, of all agents.
    std::size_t parked_calls() const noexcept { return translated_.parked(); }

    // Counts of an agent, now; nothing: it has no such sessions.
    std::optional<live_sessions> live(const std::string& agent_id) const;

private:
    // The only timer of callers' sessions that live in this process.
    class sweeper final : public net::timed {
    public:
        explicit sweeper(local_session_plane& of)
            : of_{of}
        {
            set_due(core::steady_time::min());
        }
        void on_due() override;

    private:
        local_session_plane& of_;
    };

    void carry_out(const model::program_request& asked, table::local_session_exchange& exchange);
    void begin(const model::program_request& asked, table::local_session_exchange& exchange);
    core::result<std::shared_ptr<table::text_queue>>
    ask(const model::program_request& asked, table::local_session_exchange& exchange);
    core::result<std::shared_ptr<table::text_queue>> ask_alone(
        const std::shared_ptr<const model::agent_entry>& agent,
        const model::program_request& asked,
        table::local_session_exchange& exchange
    );
    void resume(const model::program_request& asked, table::local_session_exchange& exchange);
    core::result<std::shared_ptr<table::text_queue>> ask_shared(
        const std::shared_ptr<const model::agent_entry>& agent,
        const model::program_request& asked,
        table::local_session_exchange& exchange
    );
    std::shared_ptr<const model::agent_entry> find(const std::string& id);
    bool shares(const std::string& agent_id) const;
    const table::local_session_services& services_with_ends();

    // Where this session is, if it is.
    table::session_table& table_of(const table::session_key& key);

    net::executor there_;
    std::shared_ptr<const int> calls_ = std::make_shared<const int>(0);    // held by each call under way
    model::string_map<std::shared_ptr<const model::agent_entry>> agents_;  // that may have such sessions
    std::set<std::string, std::less<>> contained_;
    table::local_session_services services_;
    table::resumable_streams streams_;
    programs::program_sessions sessions_;
    eras::modern_programs modern_;
    shared::shared_sessions shared_;
    eras::legacy_clients legacy_clients_;
    eras::modern_client_calls translated_;
    sweeper sweeper_;
};

}  // namespace gateway::mcp
