#include "gateway/management/agent_walk.hpp"

#include <iterator>
#include <utility>

namespace gateway::management {

net::task<bool>
walk_agents(const registry& agents, threads::turns& by, std::string after, agent_visitor each, std::stop_token left)
{
    const auto& all = agents.all();
    while (!left.stop_requested()) {
        co_await by.wait();
        auto at = all.upper_bound(after);  // an id is never empty
        do {
            if (at == all.end()) {
                co_return false;
            }
            if (!each(at->first, at->second)) {
                co_return std::next(at) != all.end();
            }
            after = at->first;
            ++at;
        } while (!by.over());
    }
    co_return false;
}

}  // namespace gateway::management
