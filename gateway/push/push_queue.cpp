#include "gateway/push/push_queue.hpp"

namespace gateway::push {

core::result<> push_queue::reserve(const std::string& agent, std::uint64_t size)
{
    const auto there = agents_.find(agent);
    const auto of_agent = there == agents_.end() ? 0 : there->second.places;
    const auto bytes_of_agent = there == agents_.end() ? 0 : there->second.bytes;
    const char* over = nullptr;
    if (places_ >= limits_.all) {
        over = "limits.push_queue";
    } else if (of_agent >= limits_.of_agent) {
        over = "limits.push_queue_agent";
    } else if (bytes_ + size > limits_.bytes || (of_agent > 0 && bytes_of_agent + size > limits_.bytes / 2)) {
        over = "limits.push_queue_bytes";
    }
    if (over != nullptr) {
        return core::gateway_error(core::errc::overloaded, over);
    }
    take_place(agent, size);
    return {};
}

void push_queue::take_place(const std::string& agent, std::uint64_t size)
{
    ++places_;
    bytes_ += size;
    auto& its = agents_[agent];
    ++its.places;
    its.bytes += size;
}

void push_queue::give_up(const std::string& agent, std::uint64_t size)
{
    --places_;
    bytes_ -= size;
    const auto there = agents_.find(agent);
    if (there == agents_.end()) {
        return;
    }
    there->second.bytes -= size;
    if (--there->second.places == 0) {
        agents_.erase(there);
    }
}

void push_queue::restore(store::delivery_facts delivery, core::steady_time now)
{
    take_place(delivery.agent, delivery.size);
    add(std::move(delivery), now);
}

void push_queue::add(store::delivery_facts delivery, core::steady_time now)
{
    const auto number = delivery.number;
    received_.emplace(number, delivery.received);
    const auto [lane, is_new] = lanes_.try_emplace(delivery.lane);
    if (is_new) {
        due_.emplace(false, now, delivery.lane);
    }
    lane->second.waiting.emplace(number, std::move(delivery));
}

std::optional<store::delivery_facts> push_queue::next(core::steady_time now)
{
    if (under_way_ >= most_under_way) {
        return std::nullopt;
    }
    for (auto place = due_.begin(); place != due_.end();) {
        const auto& [repeated, due, name] = *place;
        if (due > now) {
            if (repeated) {
                break;
            }
            place = due_.lower_bound({true, core::steady_time::min(), {}});
            continue;
        }
        auto& lane = lanes_.find(name)->second;
        const auto& first = lane.waiting.begin()->second;
        auto& agent = agents_[first.agent];
        if (agent.under_way >= most_under_way_of_agent) {
            agent.parked.insert(due_.extract(place++));
            continue;
        }
        ++agent.under_way;
        ++under_way_;
        lane.under_way = true;
        due_.erase(place);
        return first;
    }
    return std::nullopt;
}

std::uint64_t push_queue::failures(const std::string& lane) const
{
    const auto there = lanes_.find(lane);
    return there == lanes_.end() ? 0 : there->second.failures;
}

void push_queue::end_attempt(lanes::iterator lane)
{
    --under_way_;
    lane->second.under_way = false;
    auto& agent = agents_[lane->second.waiting.begin()->second.agent];
    --agent.under_way;
    if (!agent.parked.empty()) {
        due_.insert(agent.parked.extract(agent.parked.begin()));
    }
}

void push_queue::finish(const std::string& lane, core::steady_time now)
{
    const auto there = lanes_.find(lane);
    if (there == lanes_.end() || !there->second.under_way) {
        return;
    }
    end_attempt(there);
    auto& waiting = there->second.waiting;
    const auto ended = std::move(waiting.begin()->second);
    waiting.erase(waiting.begin());
    received_.erase(ended.number);
    give_up(ended.agent, ended.size);
    there->second.failures = 0;
    if (waiting.empty()) {
        lanes_.erase(there);
    } else {
        due_.emplace(false, now, lane);
    }
}

void push_queue::try_again(const std::string& lane, core::steady_time when)
{
    const auto there = lanes_.find(lane);
    if (there == lanes_.end() || !there->second.under_way) {
        return;
    }
    end_attempt(there);
    ++there->second.failures;
    due_.emplace(true, when, lane);
}

std::optional<core::wall_time> push_queue::oldest() const
{
    return received_.empty() ? std::nullopt : std::optional{received_.begin()->second};
}

}  // namespace gateway::push
