#include "gateway/mcp/http/recovery_turns.hpp"

#include <algorithm>
#include <utility>

namespace gateway::mcp::http {

bool recovery_turns::push(const attempt& added)
{
    const auto& agent = added->call.agent->record.id;
    auto& its = agents_[agent];
    auto share = core::all_shares().take(
        core::place_shares::of_object(&turns_, agent),
        added->call.whose,
        core::half_of(most_waiting)
    );
    if (!share || its.waiting.size() >= most_waiting) {
        return false;
    }
    added->place = std::move(*share);
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
    std::list<attempt>::iterator first;
    const auto turn = std::ranges::find_if(turns_, [&](const std::string& agent) {
        auto& its = agents_.find(agent)->second;
        if (its.running.size() >= most_of_agent) {
            return false;
        }
        first = std::ranges::find_if(its.waiting, [this](const attempt& each) { return may_begin(*each); });
        return first != its.waiting.end();
    });
    if (turn == turns_.end()) {
        return nullptr;
    }
    auto& its = agents_.find(*turn)->second;
    its.running.splice(its.running.end(), its.waiting, first);
    if (its.waiting.empty()) {
        turns_.erase(turn);
    } else {
        turns_.splice(turns_.end(), turns_, turn);
    }
    ++running_;
    return its.running.back();
}

// With its shares, if its principal has less than half of what is under way.
bool recovery_turns::may_begin(session_attempt& waiting) const
{
    auto& all = core::all_shares();
    const auto whose = waiting.call.whose;
    const auto of_agent = core::place_shares::of_object(this, waiting.call.agent->record.id);
    auto place = all.take(of_agent, whose, core::half_of(most_of_agent));
    auto of_all = all.take(core::place_shares::of_object(this), whose, core::half_of(most_running));
    if (!place || !of_all) {
        return false;
    }
    waiting.place = std::move(*place);
    waiting.of_all = std::move(*of_all);
    return true;
}

void recovery_turns::remove(const attempt& ended)
{
    ended->place.give_back();
    ended->of_all.give_back();
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

}  // namespace gateway::mcp::http
