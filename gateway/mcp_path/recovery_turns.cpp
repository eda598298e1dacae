#include "gateway/mcp_path/recovery_turns.hpp"

#include <algorithm>
#include <utility>

namespace gateway::mcp_path {

bool recovery_turns::push(const attempt& added)
{
    const auto& agent = added->call.agent->record.id;
    auto& its = agents_[agent];
    if (its.waiting.size() >= most_waiting) {
        return false;
    }
    if (its.waiting.empty()) {
        turns_.push_back(agent);
    }
    its.waiting.push_back(added);
    return true;
}

recovery_turns::attempt recovery_turns::next()
{
    if (running_ >= most_running) {
        return nullptr;
    }
    const auto turn = std::ranges::find_if(turns_, [this](const std::string& agent) {
        return agents_.find(agent)->second.running.size() < most_of_agent;
    });
    if (turn == turns_.end()) {
        return nullptr;
    }
    auto& its = agents_.find(*turn)->second;
    its.running.splice(its.running.end(), its.waiting, its.waiting.begin());
    if (its.waiting.empty()) {
        turns_.erase(turn);
    } else {
        turns_.splice(turns_.end(), turns_, turn);
    }
    ++running_;
    return its.running.back();
}

void recovery_turns::remove(const attempt& ended)
{
    const auto found = agents_.find(ended->call.agent->record.id);
    if (found == agents_.end()) {
        return;
    }
    auto& its = found->second;
    running_ -= its.running.remove(ended);
    if (its.waiting.remove(ended) > 0 && its.waiting.empty()) {
        turns_.remove(found->first);
    }
    if (its.running.empty() && its.waiting.empty()) {
        agents_.erase(found);
    }
}

std::vector<recovery_turns::attempt> recovery_turns::take(const std::string& agent)
{
    const auto found = agents_.find(agent);
    if (found == agents_.end()) {
        return {};
    }
    auto its = std::move(found->second);
    agents_.erase(found);
    turns_.remove(agent);
    running_ -= its.running.size();
    std::vector<attempt> all{its.running.begin(), its.running.end()};
    all.insert(all.end(), its.waiting.begin(), its.waiting.end());
    return all;
}

std::vector<recovery_turns::attempt> recovery_turns::take_all()
{
    std::vector<attempt> all;
    while (!agents_.empty()) {
        const auto agent = agents_.begin()->first;
        auto its = take(agent);
        all.insert(all.end(), its.begin(), its.end());
    }
    return all;
}

}  // namespace gateway::mcp_path
