// A2A agents as servers of MCP 2026-07-28: what is asked at `/mcp/<agent>` within the process. Nothing of a client is kept; the tasks that
// are handed out are the agent's. On the control loop.
#pragma once

#include "core/log.hpp"
#include "gateway/bridge/agent_step.hpp"
#include "gateway/bridge/tool_run.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/model/published_card.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/threads/side_thread.hpp"
#include "mcp/bridge/agent_reply.hpp"
#include "mcp/bridge/agent_tools.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/protocol/discovery.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/types.hpp"
#include "net/server/caller_exchange.hpp"

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace gateway::bridge {

class agent_server {
public:
    using tools_pointer = std::shared_ptr<const ::mcp::agent_tools>;
    using lists_pointer = std::shared_ptr<const ::mcp::server_lists>;

    // References outlive the server.
    struct services {
        net::executor control;
        model::inner_calls& calls;
        threads::side_thread& long_texts;
        // Returns when the agent's card has been fetched, or cannot be. Empty: nobody fetches it.
        std::function<net::task<>(std::string agent)> fetch_card = {};
        // The agent of this id, as it is served; null: there is none. Empty: there are no agents.
        std::function<std::shared_ptr<const model::agent_entry>(const std::string& id)> agent = {};
    };

    explicit agent_server(services with)
        : services_{std::move(with)}
    {
    }
    agent_server(const agent_server&) = delete;
    agent_server& operator=(const agent_server&) = delete;

    // Hears of the lists of an agent when they have changed; empty: nobody does. It may look at lists() then.
    using lists_observer = std::function<void(const std::string& agent, const lists_pointer& lists)>;
    void set_listed(lists_observer told) { listed_ = std::move(told); }

    // Whether the agent is one of A2A that MCP clients may call.
    bool serves(const std::string& id) const;

    // Such an agent as an MCP server. Null: it is none.
    std::shared_ptr<const model::agent_entry> server(const std::string& id) const;

    // services::agent gives this from now on. Null, or another kind of agent: it is gone.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // The card of an agent is `card` from now on. Null: there is none; the tools of the previous one stay.
    void set_card(const std::string& id, const std::shared_ptr<const model::published_card>& card);

    // Null: nothing is known of it.
    lists_pointer lists(const std::string& id) const;

    // Has the agent's card fetched, if nothing is known of it and that is not under way.
    void begin_reading(const std::string& id);

    // The card was asked for, and nobody could get it. Another attempt may succeed.
    bool has_failed(const std::string& id) const;

    // Returns true once lists() says something, or the agent's card cannot be fetched.
    net::task<bool> read_lists(std::string id);

    // Answers a request for this agent.
    net::routine<> serve(net::caller_exchange& caller, std::string agent, model::inner_caller_pointer from);

    // Subscriptions end in order.
    void stop();

    // Calls of tools under way, of this agent.
    std::size_t running(const std::string& id) const;

private:
    struct known_agent {
        tools_pointer tools;      // null: no card was published
        std::size_t running = 0;  // calls of tools
        bool reading = false;     // begin_reading() goes on
        bool failed = false;      // as has_failed()
    };

    struct subscription {
        net::caller_exchange& caller;
        std::string agent;
        bool changed = false;
    };

    struct asked;

    std::shared_ptr<const model::agent_entry> entry_of(const std::string& id) const;
    net::routine<tools_pointer> tools_of(net::caller_exchange& caller, std::string id);
    net::routine<> dispatch(net::caller_exchange& caller, asked& what);
    net::routine<> call(net::caller_exchange& caller, asked& what);
    net::routine<> listen(net::caller_exchange& caller, asked& what);
    static net::routine<> answer_result(net::caller_exchange& caller, const asked& what, std::string_view result);
    net::routine<> get_task(net::caller_exchange& caller, asked& what);
    net::routine<> update_task(net::caller_exchange& caller, asked& what);
    net::routine<> cancel_task(net::caller_exchange& caller, asked& what);
    net::routine<bool> ask(net::caller_exchange& caller, asked& what, std::string request, ::mcp::agent_reply& reply);
    void tell_later(const agent_step::target& at, std::string request);
    void wake_subscriptions(std::string_view agent, bool changed);
    void forget_unused(const std::string& id);

    services services_;
    lists_observer listed_;
    model::string_map<known_agent> agents_;  // whose card was seen, or of which somebody wants something
    std::unordered_set<subscription*> subscriptions_;
    std::list<std::unique_ptr<agent_step>> told_;  // calls whose answers nobody waits for
    bool stopping_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::bridge
