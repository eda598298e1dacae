// Clients of the legacy era, whatever era their server speaks: a session is one with a program, or a translated one where the
// server speaks only the modern era, as its record says or as it has answered `initialize`. On the thread of one loop.
#pragma once

#include "core/agent.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/eras/modern_program.hpp"
#include "gateway/mcp/eras/translated_sessions.hpp"
#include "gateway/mcp/http/cancel_notifier.hpp"
#include "gateway/mcp/http/session_recovery.hpp"
#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/mcp/shared/shared_sessions.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/transport/http_wire.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/signal.hpp"
#include "net/loop/types.hpp"

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::mcp::eras {

// Asks a server over streamable HTTP whether it refuses the legacy era.
class legacy_probe {
public:
    static constexpr core::duration verdict_life = std::chrono::hours{24};

    // References outlive it.
    explicit legacy_probe(const table::local_session_services& services);
    legacy_probe(const legacy_probe&) = delete;
    legacy_probe& operator=(const legacy_probe&) = delete;

    // Whether the server, which speaks the modern era, refuses `initialize`. One that cannot be reached, or whose answer says nothing
    // of eras, counts as one that does, and is asked again the next time. Those who ask at once share one attempt.
    net::task<bool> refuses(std::shared_ptr<const model::agent_entry> agent);

    // Its server is another one, or it is gone: who waits is told that it refuses.
    void forget(const std::string& agent_id);

    // Callers that wait are told that it refuses.
    void stop();

private:
    struct verdict {
        bool refuses;
        core::steady_time until;
    };

    struct attempt {
        std::shared_ptr<const model::agent_entry> agent;
        std::shared_ptr<const ::mcp::http_settings> settings;
        std::unique_ptr<http::session_recovery> opening;
        std::optional<bool> refuses;
        std::vector<net::task_signal*> waiting;
    };

    std::shared_ptr<attempt> begin(const std::shared_ptr<const model::agent_entry>& agent);
    void ended(const std::shared_ptr<attempt>& at, const core::result<::mcp::upstream_session>& session);
    void tell(std::shared_ptr<attempt> at, bool refuses);

    const table::local_session_services& services_;
    net::exchange_client exchanges_;
    const ::mcp::client_info name_;
    http::cancel_notifier notes_;
    model::string_map<verdict> verdicts_;  // by agent
    std::list<std::shared_ptr<attempt>> attempts_;
    bool stopped_ = false;
};

class legacy_clients {
public:
    using agent_pointer = std::shared_ptr<const model::agent_entry>;

    // So long a program that has refused the legacy era is not asked again.
    static constexpr core::duration verdict_life = std::chrono::hours{24};

    // References outlive it.
    legacy_clients(
        const table::local_session_services& services,
        programs::program_sessions& programs,
        modern_programs& modern,
        shared::shared_sessions& shared
    );
    legacy_clients(const legacy_clients&) = delete;
    legacy_clients& operator=(const legacy_clients&) = delete;

    // Begins a session of program_sessions or translated_sessions. Over streamable HTTP every session is a translated one; its server gets the
    // fields of `head`.
    core::result<programs::begun_session> begin(
        const agent_pointer& agent,
        const std::string& principal,
        const ::mcp::kept_message& initialize,
        const ::mcp::message_head& head
    );
    core::result<std::shared_ptr<table::text_queue>>
    call(const agent_pointer& agent, const std::string& principal, const programs::single_call& single);

    // The table that has this session, if one does.
    table::session_table& table_of(const table::session_key& key);

    // Whether a session that begins now, or a call without one, is a translated one, as far as that is known.
    bool is_modern_only(const model::agent_entry& agent) const;
    bool translates_calls(const model::agent_entry& agent) const;

    // Whether clients of this server over streamable HTTP need a translated session; false as long as nothing is known of it. It
    // may be asked first, and if they do, its lists are read before that is known.
    net::task<bool> translates(agent_pointer agent);

    // The lists of the agent's server have changed to this.
    void lists_changed(const std::string& id, const std::shared_ptr<const ::mcp::server_lists>& now)
    {
        translated_.lists_changed(id, now);
    }

    // Null: it is gone. `same_server`: what is known of its server is known of this one.
    void set_agent(const std::string& id, const agent_pointer& agent, bool same_server);
    void sweep(core::steady_time now);
    void stop();

    const table::session_table& translated() const noexcept { return translated_; }
    table::session_table& translated() noexcept { return translated_; }

private:
    core::result<programs::begun_session>
    translate(const agent_pointer& agent, const std::string& principal, const ::mcp::client_message& initialize);
    bool serve_after_refusal(
        const table::session_name& session,
        std::string_view refusal,
        const ::mcp::client_message& request,
        const std::shared_ptr<table::text_queue>& reader
    );
    programs::other_way other_way_of(const core::agent& record);
    net::task<> read_lists(std::string agent_id);
    modern_upstream upstream_of(const agent_pointer& agent);
    core::result<std::shared_ptr<table::text_queue>>
    share(const std::string& agent_id, const ::mcp::client_message& request);

    const table::local_session_services& services_;
    programs::program_sessions& programs_;
    modern_programs& modern_;
    shared::shared_sessions& shared_;
    translated_sessions translated_;
    legacy_probe probe_;
    model::string_map<agent_pointer> sharing_;  // of which the control session serves all callers
    // Until when an agent's program counts as one that speaks only the modern era, because it has refused the other one; by agent.
    model::string_map<core::steady_time> modern_only_;
};

}  // namespace gateway::mcp::eras
