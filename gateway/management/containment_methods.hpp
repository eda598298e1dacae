// Methods that stop agents and principals, and let them go on: agents/contain, agents/release, principals/contain, principals/release and
// principals/list. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/access.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "gateway/management/answer_builder.hpp"
#include "gateway/management/containment.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/threads/turns.hpp"
#include "net/loop/types.hpp"

#include <string>
#include <vector>

namespace gateway::management {

class containment_methods {
public:
    // References outlive it.
    containment_methods(const config::settings& settings, const registry& agents, threads::turn_lines& turns)
        : settings_{settings},
          registry_{agents},
          turns_{turns}
    {
    }

    // Before the first request. It outlives this.
    void set_table(containment_table& table) { table_ = &table; }

    // References outlive the tasks.
    net::task<rpc_result> contain_agent(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);
    net::task<rpc_result> release_agent(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);
    net::task<rpc_result>
    contain_principal(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);
    net::task<rpc_result>
    release_principal(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);
    net::task<rpc_result> principals(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const;

private:
    struct asked;

    asked read(const core::rpc_request& request, const rpc_caller& caller, bool of_agent, bool contains) const;
    void check_provider(asked& what) const;
    void check_self(asked& what, const rpc_caller& caller) const;
    net::task<rpc_result> contain(core::rpc_request request, asked what, threads::turns& turns);
    net::task<std::vector<std::string>> others_at(std::string agent, threads::turns& turns) const;
    void add_agent(core::json& released, const asked& what) const;
    bool has_no(const core::principal_name& who) const;
    net::task<rpc_result> release(core::rpc_request request, asked what, std::string by);

    const config::settings& settings_;
    const registry& registry_;
    threads::turn_lines& turns_;
    containment_table* table_ = nullptr;  // not null since set_table()
};

}  // namespace gateway::management
