// How the servers of agents are reached, by the gateway's own sessions and by those of callers. On the control loop's thread.
#pragma once

#include "core/agent.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/redaction.hpp"
#include "core/secret.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/threads/side_thread.hpp"
#include "mcp/protocol/stderr_log.hpp"
#include "mcp/session/session_context.hpp"
#include "mcp/transport/http_wire.hpp"
#include "mcp/transport/transport.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gateway::sessions {

// Settings that an agent's record makes for the session with it, but for its secrets and tokens, which change.
// `turns`: for what is a program of this machine; anything else waits for nobody. `walk`: mcp.walk.
::mcp::runner_settings
runner_settings_of(const core::agent& record, ::mcp::start_turns* turns = nullptr, core::duration walk = {});

// Settings of a server that is reached over HTTP. The agent's credentials are for its MCP server too; a bearer, unless the server's own
// headers say who is calling.
::mcp::http_settings http_settings_of(const model::agent_entry& agent);

// `made`, or null if that is: its texts over mcp::read_at_once are read on `thread` and told on `loop`, which outlive them. Without a
// thread they are read where they come.
// `largest` and `most_items` as mcp::read_apart(): bytes of one message, and items of each list in a result.
::mcp::transport_factory read_on(
    threads::side_thread* thread,
    net::loop& loop,
    ::mcp::transport_factory made,
    std::size_t largest,
    std::size_t most_items = 0
);

// Works as tokens::token_plane::token(): for agents whose credentials come from an OAuth server. The agent's entry has each token by the
// time that it comes.
using token_supply = std::function<net::task<core::result<core::secret>>(std::string id, core::secret refused)>;

class server_reach {
public:
    // `inherited`: what programs get of the gateway's own environment. `long_bodies`: the thread that long messages of servers are
    // read on; null: the loop's. All outlive it.
    server_reach(
        net::loop& control,
        const core::logger& log,
        std::vector<std::pair<std::string, std::string>> inherited,
        threads::side_thread* long_bodies = nullptr
    );

    // Before the first agent with such credentials.
    void set_tokens(token_supply tokens) { tokens_ = std::move(tokens); }

    // Null: in no way that the gateway knows. Long pages of lists are read with their items. What is logged of what the server says is without `secrets`. `complaints` gets what
    // programs write to stderr; null: nobody asks for it.
    ::mcp::transport_factory of_gateway(
        const model::agent_entry& agent,
        std::shared_ptr<const core::redaction> secrets,
        std::shared_ptr<::mcp::stderr_lines> complaints = nullptr
    );

    // A factory for sessions of callers, without what secrets_of_callers() has.
    ::mcp::transport_factory of_callers(const model::agent_entry& agent);

    // Another transport, with its long messages read on that thread.
    ::mcp::transport_factory
    reading(::mcp::transport_factory made, const core::agent& record, std::size_t most_items = 0);

    // Secrets that are hidden in all callers' sessions with the agent: also its tokens from renew(), for as long as one of them holds it.
    std::shared_ptr<const core::redaction> secrets_of_callers(const model::agent_entry& agent);

    // The agent has changed, such as its token. Null: it is gone.
    void renew(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // Keeps no connection from now on: the last thing, when no session is left.
    void close_connections() { exchanges_.close(); }

private:
    ::mcp::transport_factory made_for(
        const model::agent_entry& agent,
        std::shared_ptr<const core::redaction> secrets,
        std::shared_ptr<::mcp::stderr_lines> complaints,
        bool own = false
    );
    ::mcp::http_settings over_http(const model::agent_entry& agent, std::shared_ptr<const core::redaction> secrets);

    struct given_secrets {
        core::redaction own;  // without tokens
        core::secret token;
        std::weak_ptr<core::redaction> hidden;
    };

    net::loop& loop_;
    const core::logger& log_;
    net::exchange_client exchanges_;
    std::vector<std::pair<std::string, std::string>> inherited_;
    threads::side_thread* long_bodies_;
    token_supply tokens_;
    model::string_map<given_secrets> given_;
};

}  // namespace gateway::sessions
