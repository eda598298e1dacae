// Orders of agents/health, and the numbers of calls that it shows. Pure; any thread.
#pragma once

#include "config/problem.hpp"
#include "core/json/json.hpp"
#include "gateway/management/agent_health.hpp"
#include "gateway/management/call_history.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::management {

// `trouble`: the status, the worst first, then the part of calls that failed, then how many there are. The others: the largest
// first; agents without such a number last. Equal agents are in the order of their ids.
enum class health_order : std::uint8_t { id, trouble, calls, failed, p99 };

// Members `sort` and `stats` of the parameters. What cannot be read is added to `problems`.
struct health_wishes {
    health_order order = health_order::id;
    bool stats = false;
};
health_wishes read_wishes(const core::json& params, std::vector<config::problem>& problems);

// The first agents in an order, of any number of them.
class health_ranking {
public:
    health_ranking(health_order order, std::size_t most)
        : order_{order},
          most_{most}
    {
    }

    void add(std::string_view id, health status, const recent_calls& calls);

    // Their ids, the first one first.
    std::vector<std::string> take() &&;

private:
    struct ranked {
        std::array<double, 3> keys{};  // the largest first
        std::string id;
    };
    static bool is_before(const ranked& a, const ranked& b) noexcept;

    health_order order_;
    std::size_t most_;
    std::vector<ranked> first_;  // a heap, the last one of the order on top
};

// Adds calls_per_minute, failed_ratio, p50_ms, p99_ms and spark.
void add_stats(core::json& record, const call_history& history, std::string_view id, core::steady_time now);

// Result of agents/stats.
core::json stats_record(const call_series& series);

}  // namespace gateway::management
