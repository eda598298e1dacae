// MCP servers as agents of A2A 1.0 over JSON-RPC: what is asked at `/a2a/<agent>` within the process. A message becomes a call of a tool, and
// that a task; what does not name a tool is answered with the skills. On the control loop.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "a2a/method.hpp"
#include "core/log.hpp"
#include "gateway/bridge/called_task.hpp"
#include "gateway/bridge/task_table.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/threads/side_thread.hpp"
#include "mcp/bridge/tool_call.hpp"
#include "mcp/protocol/discovery.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/routine.hpp"
#include "net/server/caller_exchange.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::bridge {

class a2a_server {
public:
    // References outlive the server.
    struct services {
        net::loop& control;
        model::inner_calls& calls;
        threads::side_thread& long_texts;
        const core::logger& log;
        // The lists of an agent's server; null: nothing is known of it.
        std::function<std::shared_ptr<const ::mcp::server_lists>(const std::string& agent)> lists;
        // Returns when they have been read, for which a lazy session begins. Fails as sessions::session_plane::refresh().
        std::function<net::task<core::result<>>(std::string agent)> read_lists;
        task_table::limits limits = {};
    };

    explicit a2a_server(services with);
    a2a_server(const a2a_server&) = delete;
    a2a_server& operator=(const a2a_server&) = delete;

    // Null, or another kind of agent: it is gone.
    void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // Answers a request for this agent.
    net::routine<> serve(net::caller_exchange& caller, std::string agent, model::inner_caller_pointer from);

    // Ends all tasks that go on, so that their servers hear of it.
    void stop();

    const task_table& tasks() const noexcept { return tasks_; }

private:
    struct asked;

    net::routine<> dispatch(net::caller_exchange& caller, asked& what);
    net::routine<> send_message(net::caller_exchange& caller, asked& what, bool streams);
    net::routine<> begin_task(net::caller_exchange& caller, asked& what, ::mcp::a2a_message said, bool streams);
    net::routine<> go_on(net::caller_exchange& caller, asked& what, ::mcp::a2a_message said, bool streams);
    net::routine<>
    answer_with(net::caller_exchange& caller, asked& what, std::shared_ptr<called_task> task, bool waits);
    net::routine<> stream(net::caller_exchange& caller, asked& what, std::shared_ptr<called_task> task);
    net::routine<> about_task(net::caller_exchange& caller, asked& what, ::a2a::operation how);
    net::routine<> list_tasks(net::caller_exchange& caller, asked& what);
    called_task::means means();

    services services_;
    task_table tasks_;
    model::string_map<std::shared_ptr<const model::agent_entry>> agents_;
    bool stopping_ = false;
};

}  // namespace gateway::bridge
