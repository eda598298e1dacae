#include "gateway/push/push_queue.hpp"

#include "gateway/model/push_addresses.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace gateway::push {
namespace {

constexpr std::uint64_t share_unit = 1024;  // bytes

// The first of two places in one set, in its order.
template <class Set>
typename Set::iterator earlier(const Set& in, typename Set::iterator one, typename Set::iterator other)
{
    return one == in.end() || (other != in.end() && *other < *one) ? other : one;
}

core::caller_mark mark_of(std::string_view owner)
{
    return core::mark_of_principal({}, owner);
}

// Why lanes are parked: too many attempts of an agent, of an owner for an agent, or of an owner, those for one agent together. No id
// or owner has a control character.
std::string for_agent(std::string_view agent)
{
    return std::string{agent} + '\n';
}

std::string for_owner_at(std::string_view owner, std::string_view agent)
{
    return std::string{agent}.append("\n").append(owner);
}

std::string for_owner(std::string_view owner, std::string_view agent = {})
{
    return "\n" + std::string{owner}.append("\n").append(agent);
}

}  // namespace

core::result<queue_shares> push_queue::reserve(const store::delivery_facts& delivery)
{
    const auto& agent = delivery.agent;
    const auto size = delivery.size;
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
    auto shares = take_shares(delivery);
    if (shares) {
        take_place(agent, size);
    }
    return shares;
}

core::result<queue_shares> push_queue::take_shares(const store::delivery_facts& delivery) const
{
    queue_shares shares;
    const auto whose = mark_of(model::names_in(delivery.lane).owner);
    if (whose == 0) {
        return shares;
    }
    const auto of_agent = core::place_shares::of_object(this, delivery.agent);
    const auto of_all = core::place_shares::of_object(this);
    auto& all = core::all_shares();
    auto one = all.take(of_agent, whose, core::half_of(limits_.of_agent));
    if (!one) {
        return core::gateway_error(core::errc::overloaded, "the principal has half of limits.push_queue_agent");
    }
    shares[0] = std::move(*one);
    one = all.take(of_all, whose, core::half_of(limits_.all));
    if (!one) {
        return core::gateway_error(core::errc::overloaded, "the principal has half of limits.push_queue");
    }
    shares[1] = std::move(*one);
    // One delivery is always taken, as of an agent.
    const auto units = delivery.size / share_unit + 1;
    const auto bytes_of_agent = core::place_shares::of_object(this, for_agent(delivery.agent));
    one = all.take(bytes_of_agent, whose, std::max(limits_.bytes / 4 / share_unit, units), units);
    if (!one) {
        return core::gateway_error(
            core::errc::overloaded,
            "the principal has half of an agent's limits.push_queue_bytes"
        );
    }
    shares[2] = std::move(*one);
    one =
        all.take(core::place_shares::of_object(&bytes_), whose, std::max(limits_.bytes / 2 / share_unit, units), units);
    if (!one) {
        return core::gateway_error(core::errc::overloaded, "the principal has half of limits.push_queue_bytes");
    }
    shares[3] = std::move(*one);
    return shares;
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
    auto shares = take_shares(delivery);
    add(std::move(delivery), shares ? std::move(*shares) : queue_shares{}, now);
}

void push_queue::add(store::delivery_facts delivery, queue_shares shares, core::steady_time now)
{
    const auto number = delivery.number;
    received_.emplace(number, delivery.received);
    const auto [lane, is_new] = lanes_.try_emplace(delivery.lane);
    if (is_new) {
        const auto hook = model::names_in(delivery.lane).hook;
        if (!hook.empty()) {
            ++hooks_[std::string{hook}].lanes;
        }
        due_.emplace(has_failed(delivery.lane), now, delivery.lane);
    }
    lane->second.waiting.emplace(number, waiting_delivery{std::move(delivery), std::move(shares)});
}

bool push_queue::has_failed(std::string_view lane) const
{
    const auto there = hooks_.find(model::names_in(lane).hook);
    return there != hooks_.end() && there->second.failed;
}

void push_queue::record_hook(std::string_view lane, bool failed)
{
    const auto there = hooks_.find(model::names_in(lane).hook);
    if (there != hooks_.end()) {
        there->second.failed = failed;
    }
}

// Where the lane has to wait for the end of another attempt; empty: nowhere, and its first is one.
std::string push_queue::obstacle(std::string_view name, lane_state& lane)
{
    const auto& agent_id = lane.waiting.begin()->second.facts.agent;
    auto& agent = agents_[agent_id];
    const auto owner = model::names_in(name).owner;
    const auto whose = mark_of(owner);
    auto& all = core::all_shares();
    const auto attempts = core::place_shares::of_object(&under_way_, agent_id);
    auto of_agent = all.take(attempts, whose, core::half_of(most_under_way_of_agent));
    if (!of_agent) {
        return for_owner_at(owner, agent_id);
    }
    auto of_all = all.take(core::place_shares::of_object(&under_way_), whose, core::half_of(most_under_way));
    if (!of_all) {
        return for_owner(owner, agent_id);
    }
    if (agent.under_way >= most_under_way_of_agent) {
        return for_agent(agent_id);
    }
    lane.of_agent = std::move(*of_agent);
    lane.of_all = std::move(*of_all);
    lane.under_way = true;
    ++agent.under_way;
    ++under_way_;
    return {};
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
        if (!repeated && has_failed(name)) {
            // Since it came here. Behind what it comes before, so that this turn sees it again.
            auto later = due_.extract(place++);
            std::get<bool>(later.value()) = true;
            const auto moved = due_.insert(std::move(later)).position;
            place = earlier(due_, place, moved);
            continue;
        }
        auto& lane = lanes_.find(name)->second;
        if (const auto why = obstacle(name, lane); !why.empty()) {
            const auto owner = model::names_in(name).owner;
            const auto& agent_id = lane.waiting.begin()->second.facts.agent;
            parked_[why].insert(due_.extract(place++));  // whose name stays where it is
            // The agent's attempt, and the owner's, is for another one.
            place = why != for_agent(agent_id) ? let_go(for_agent(agent_id), place) : place;
            place = why != for_owner(owner, agent_id) ? let_owner_go(owner, place) : place;
            continue;
        }
        due_.erase(place);
        return lane.waiting.begin()->second.facts;
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
    lane->second.of_agent.give_back();
    lane->second.of_all.give_back();
    const auto& agent_id = lane->second.waiting.begin()->second.facts.agent;
    --agents_[agent_id].under_way;
    let_go(for_agent(agent_id), due_.end());
    if (const auto owner = model::names_in(lane->first).owner; !owner.empty()) {
        let_go(for_owner_at(owner, agent_id), due_.end());
        let_go_to_full(owner);
        let_owner_go(owner, due_.end());
    }
}

// The first of its lanes that are parked for this owner, of those whose agent has attempts left.
push_queue::due_lanes::iterator push_queue::let_owner_go(std::string_view owner, due_lanes::iterator place)
{
    const auto prefix = for_owner(owner);
    auto first = parked_.end();
    for (auto each = parked_.lower_bound(prefix); each != parked_.end() && each->first.starts_with(prefix); ++each) {
        if (!is_full(each->first.substr(prefix.size())) &&
            (first == parked_.end() || *each->second.begin() < *first->second.begin())) {
            first = each;
        }
    }
    return first == parked_.end() ? place : let_go(std::string{first->first}, place);
}

// One of its lanes for each agent that has no attempts left: from now on they wait for that agent. All of them would be too many to
// come back each time.
void push_queue::let_go_to_full(std::string_view owner)
{
    const auto prefix = for_owner(owner);
    std::vector<std::string> full;
    for (auto each = parked_.lower_bound(prefix); each != parked_.end() && each->first.starts_with(prefix); ++each) {
        if (is_full(each->first.substr(prefix.size()))) {
            full.push_back(each->first);
        }
    }
    for (const auto& each : full) {
        let_go(each, due_.end());
    }
}

bool push_queue::is_full(const std::string& agent) const
{
    const auto there = agents_.find(agent);
    return there != agents_.end() && there->second.under_way >= most_under_way_of_agent;
}

// One of those that are parked for this is due again. Where those are looked at that come from `place` on, with this one.
push_queue::due_lanes::iterator push_queue::let_go(std::string_view why, due_lanes::iterator place)
{
    const auto there = parked_.find(why);
    if (there == parked_.end()) {
        return place;
    }
    const auto due = due_.insert(there->second.extract(there->second.begin())).position;
    if (there->second.empty()) {
        parked_.erase(there);
    }
    return earlier(due_, place, due);
}

void push_queue::finish(const std::string& lane, core::steady_time now, bool well)
{
    const auto there = lanes_.find(lane);
    if (there == lanes_.end() || !there->second.under_way) {
        return;
    }
    end_attempt(there);
    record_hook(lane, !well);
    auto& waiting = there->second.waiting;
    const auto ended = std::move(waiting.begin()->second.facts);
    waiting.erase(waiting.begin());
    received_.erase(ended.number);
    give_up(ended.agent, ended.size);
    there->second.failures = 0;
    if (!waiting.empty()) {
        due_.emplace(has_failed(lane), now, lane);
        return;
    }
    const auto hook = hooks_.find(model::names_in(lane).hook);
    if (hook != hooks_.end() && --hook->second.lanes == 0) {
        hooks_.erase(hook);
    }
    lanes_.erase(there);
}

void push_queue::try_again(const std::string& lane, core::steady_time when)
{
    const auto there = lanes_.find(lane);
    if (there == lanes_.end() || !there->second.under_way) {
        return;
    }
    end_attempt(there);
    record_hook(lane, true);
    ++there->second.failures;
    due_.emplace(true, when, lane);
}

void push_queue::put_back(const std::string& lane, core::steady_time when)
{
    const auto there = lanes_.find(lane);
    if (there == lanes_.end() || !there->second.under_way) {
        return;
    }
    end_attempt(there);
    due_.emplace(there->second.failures > 0 || has_failed(lane), when, lane);
}

std::optional<core::wall_time> push_queue::oldest() const
{
    return received_.empty() ? std::nullopt : std::optional{received_.begin()->second};
}

}  // namespace gateway::push
