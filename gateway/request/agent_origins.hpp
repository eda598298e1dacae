// From the Host of a request to the agent at whose own name it came: the step of routing before the path. One thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/request/local_snapshot.hpp"
#include "gateway/request/request_context.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::request {

class agent_origins {
public:
    // References outlive this.
    agent_origins(const config::process_settings& settings, const local_snapshot& known);

    // `authority` is the host and port of a request; its port does not count, nor do capitals, nor the dot of the root at its end.
    // nullopt: it is no name of an agent. At one of an agent that is disabled there is no agent. One that `agent_hosts` may give is an agent's, whether or not there is such an agent,
    // so that names tell as little as paths of agents that the caller may not know of.
    std::optional<agent_origin> find(std::string_view authority) const;

private:
    bool is_own(std::string_view name) const noexcept;

    const std::string& pattern_;
    const local_snapshot& known_;
    std::vector<std::string> own_;  // names of the gateway
};

}  // namespace gateway::request
