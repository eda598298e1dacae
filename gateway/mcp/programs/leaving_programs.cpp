#include "gateway/mcp/programs/leaving_programs.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace gateway::mcp::programs {

leaving_programs::leaving_programs(net::executor on, std::function<void(const std::string& agent_id)> gone)
    : on_{on},
      gone_{std::move(gone)}
{
}

void leaving_programs::add(std::unique_ptr<program> used, std::string_view agent_id, std::string_view principal)
{
    std::erase_if(held_, [&](const held& each) { return each.waits == used.get(); });
    auto& ending = *all_.emplace_back(std::move(used), std::string{agent_id}, std::string{principal}).used;
    ending.stop([this, gone = &ending] { drop(gone); });
}

void leaving_programs::drop(const program* gone)
{
    net::asio::post(on_, [this, gone, alive = std::weak_ptr<bool>{alive_}] {
        if (alive.expired()) {
            return;
        }
        const auto left = std::ranges::find(all_, gone, [](const leaving& each) { return each.used.get(); });
        const auto agent_id = std::move(left->agent_id);
        all_.erase(left);
        gone_(agent_id);
    });
}

std::size_t leaving_programs::count(std::string_view agent_id) const
{
    return static_cast<std::size_t>(std::ranges::count(all_, agent_id, &leaving::agent_id));
}

std::size_t leaving_programs::count(std::string_view agent_id, std::string_view principal) const
{
    return static_cast<std::size_t>(std::ranges::count_if(all_, [&](const leaving& each) {
        return each.agent_id == agent_id && each.principal == principal;
    }));
}

void leaving_programs::hold(program& waits, std::string agent_id, std::string principal)
{
    held_.push_back({&waits, std::move(agent_id), std::move(principal)});
}

bool leaving_programs::start_held(
    std::string_view agent_id,
    const std::function<bool(const std::string& principal)>& may
)
{
    return std::erase_if(held_, [&](const held& each) {
               const bool starts = each.agent_id == agent_id && may(each.principal);
               if (starts) {
                   each.waits->let_start();
               }
               return starts;
           }) > 0;
}

}  // namespace gateway::mcp::programs
