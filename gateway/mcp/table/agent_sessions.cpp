#include "gateway/mcp/table/agent_sessions.hpp"

#include <algorithm>
#include <tuple>

namespace gateway::mcp::table {

caller_session* agent_sessions::next_to_go(std::string_view principal, core::steady_time now)
{
    const auto known = full_until.find(principal);
    if (known != full_until.end() && now < known->second) {
        return nullptr;
    }
    auto until = now + longest_full;
    caller_session* next = nullptr;
    for (const auto& [handle, each] : sessions) {
        if (!principal.empty() && each->name().principal != principal) {
            continue;
        }
        const bool listens = each->listened_to();
        const auto due = listens ? each->last_use() + evictable_listener : each->unused_since() + evictable;
        if (now < due) {
            until = std::min(until, due);
            continue;
        }
        const bool first = next == nullptr ||
                           std::tuple{listens, each->last_use()} < std::tuple{next->listened_to(), next->last_use()};
        if (first && !each->busy()) {
            next = each.get();
        }
    }
    if (next == nullptr) {
        std::erase_if(full_until, [&](const auto& each) { return each.second <= now; });
        full_until.insert_or_assign(std::string{principal}, until);
    }
    return next;
}

}  // namespace gateway::mcp::table
