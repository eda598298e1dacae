#include "gateway/mcp/programs/process_pool.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace gateway::mcp::programs {

process_pool::process_pool(::mcp::start_place turns, ::mcp::transport_factory make, retire_function retire)
    : turns_{turns},
      make_{std::move(make)},
      retire_{std::move(retire)}
{
}

process_pool::~process_pool()
{
    keep(0);
}

std::unique_ptr<program> process_pool::take(bool held)
{
    if (waiting_.empty()) {
        return std::make_unique<program>(turns_, make_, held);
    }
    auto taken = waiting_.front().release();
    waiting_.pop_front();
    return taken;
}

void process_pool::keep(std::size_t wanted)
{
    while (waiting_.size() > wanted) {
        retire_(waiting_.back().release());
        waiting_.pop_back();
    }
    while (waiting_.size() < wanted) {
        waiting_.emplace_back(*this, std::make_unique<program>(turns_, make_));
    }
}

void process_pool::drop(const warm& gone)
{
    for (auto each = waiting_.begin(); each != waiting_.end(); ++each) {
        if (&*each == &gone) {
            retire_(each->release());
            waiting_.erase(each);
            return;
        }
    }
}

terminating_processes::terminating_processes(net::executor on, std::function<void(const std::string& agent_id)> gone)
    : on_{on},
      gone_{std::move(gone)}
{
}

void terminating_processes::add(
    std::unique_ptr<program> used,
    std::string_view agent_id,
    std::string_view principal,
    bool silently
)
{
    std::erase_if(held_, [&](const held& each) { return each.waits == used.get(); });
    auto& ending = *all_.emplace_back(std::move(used), std::string{agent_id}, std::string{principal}).used;
    ending.stop([this, gone = &ending] { drop(gone); }, silently);
}

void terminating_processes::drop(const program* gone)
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

std::size_t terminating_processes::count(std::string_view agent_id) const
{
    return static_cast<std::size_t>(std::ranges::count(all_, agent_id, &leaving::agent_id));
}

std::size_t terminating_processes::count(std::string_view agent_id, std::string_view principal) const
{
    return static_cast<std::size_t>(std::ranges::count_if(all_, [&](const leaving& each) {
        return each.agent_id == agent_id && each.principal == principal;
    }));
}

void terminating_processes::hold(program& waits, std::string agent_id, std::string principal)
{
    held_.push_back({&waits, std::move(agent_id), std::move(principal)});
}

bool terminating_processes::start_held(
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
