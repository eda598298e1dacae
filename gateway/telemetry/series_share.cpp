#include "gateway/telemetry/series_share.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gateway::telemetry {
namespace {

template <class Part>
const Part& or_nothing(const std::optional<Part>& part)
{
    static const Part nothing{};
    return part ? *part : nothing;
}

// What was counted since. A counter that is lower than it was has begun again.
std::uint64_t growth(std::uint64_t now, std::uint64_t before) noexcept
{
    return now >= before ? now - before : now;
}

template <class Name>
std::uint64_t number_of(const std::vector<std::pair<Name, std::uint64_t>>& counts, Name name)
{
    const auto found = std::ranges::find(counts, name, &std::pair<Name, std::uint64_t>::first);
    return found == counts.end() ? 0 : found->second;
}

template <class Name>
void add(std::vector<std::pair<Name, std::uint64_t>>& into, Name name, std::uint64_t n)
{
    const auto found = std::ranges::find(into, name, &std::pair<Name, std::uint64_t>::first);
    if (found == into.end()) {
        into.emplace_back(name, n);
    } else {
        found->second += n;
    }
}

template <class Name>
void add_growth(
    std::vector<std::pair<Name, std::uint64_t>>& into,
    const std::vector<std::pair<Name, std::uint64_t>>& now,
    const std::vector<std::pair<Name, std::uint64_t>>& before
)
{
    for (const auto& [name, n] : now) {
        add(into, name, growth(n, number_of(before, name)));
    }
}

void add_all(named_counts& into, const named_counts& now)
{
    for (const auto& [name, n] : now) {
        add(into, name, n);
    }
}

void add_some(std::optional<std::uint64_t>& into, const std::optional<std::uint64_t>& now)
{
    if (now) {
        into = into.value_or(0) + *now;
    }
}

void set_to_zero(named_counts& counts)
{
    for (auto& each : counts) {
        each.second = 0;
    }
}

void add_growth(card_sample& into, const card_sample& now, const card_sample& before)
{
    const auto fetched = growth(now.fetched, before.fetched);
    into.fetched += fetched;
    into.not_modified += std::min(growth(now.not_modified, before.not_modified), fetched);
    add_growth(into.failures, now.failures, before.failures);
    into.changes += growth(now.changes, before.changes);
}

void add_growth(session_sample& into, const session_sample& now, const session_sample& before)
{
    add_growth(into.losses, now.losses, before.losses);
    for (const auto counter :
         {&session_sample::attempts,
          &session_sample::restarts,
          &session_sample::walks_changed,
          &session_sample::walks_unchanged,
          &session_sample::walks_incomplete,
          &session_sample::walks_failed,
          &session_sample::received,
          &session_sample::sent,
          &session_sample::refused}) {
        into.*counter += growth(now.*counter, before.*counter);
    }
}

void add_growth(token_sample& into, const token_sample& now, const token_sample& before)
{
    into.renewed += growth(now.renewed, before.renewed);
    into.failed += growth(now.failed, before.failed);
}

void add_growth(endpoint_sample& into, const endpoint_sample& now, const endpoint_sample& before)
{
    into.openings += growth(now.openings, before.openings);
    for (std::size_t i = 0; i < now.others.size(); ++i) {
        const auto had = i < before.others.size() ? before.others[i].openings : 0;
        into.openings += growth(now.others[i].openings, had);
    }
}

template <class Part>
void add_growth_of(std::optional<Part>& into, const std::optional<Part>& now, const std::optional<Part>& before)
{
    if (now) {
        add_growth(into ? *into : into.emplace(), *now, or_nothing(before));
    }
}

void add_counters(plane_samples& into, const plane_samples& now, const plane_samples& before)
{
    add_growth_of(into.card, now.card, before.card);
    add_growth_of(into.session, now.session, before.session);
    add_growth_of(into.token, now.token, before.token);
    add_growth_of(into.endpoint, now.endpoint, before.endpoint);
}

// What is so now. What has an age or a name adds nothing.
void add_gauges(plane_samples& into, const plane_samples& now)
{
    if (now.status) {
        add_all((into.status ? *into.status : into.status.emplace()).status, now.status->status);
    }
    if (now.card) {
        auto& card = into.card ? *into.card : into.card.emplace();
        add_some(card.hidden_tools, now.card->hidden_tools);
        add_all(card.problems, now.card->problems);
    }
    if (now.session) {
        auto& session = into.session ? *into.session : into.session.emplace();
        add_all(session.states, now.session->states);
        add_some(session.up, now.session->up);
        add_some(session.queued, now.session->queued);
    }
    if (now.callers) {
        auto& callers = into.callers ? *into.callers : into.callers.emplace();
        callers.sessions += now.callers->sessions;
        add_some(callers.warm, now.callers->warm);
    }
    if (now.endpoint) {
        auto& endpoint = into.endpoint ? *into.endpoint : into.endpoint.emplace();
        add_all(endpoint.states, now.endpoint->states);
        for (const auto& each : now.endpoint->others) {
            add_all(endpoint.states, each.states);
        }
        endpoint.queued += now.endpoint->queued;
    }
}

void forget_gauges(plane_samples& of)
{
    if (of.status) {
        set_to_zero(of.status->status);
    }
    if (of.card) {
        of.card->hidden_tools.reset();
        set_to_zero(of.card->problems);
    }
    if (of.session) {
        set_to_zero(of.session->states);
        of.session->up.reset();  // a 0 would say that there is one, and that it is not up
        of.session->queued.reset();
    }
    of.callers.reset();
    if (of.endpoint) {
        set_to_zero(of.endpoint->states);
        of.endpoint->queued = 0;
    }
}

}  // namespace

void series_share::begin()
{
    ++page_;
    before_ = std::exchange(agents_, {});
    agents_.reserve(before_.size());
    next_before_ = 0;
    forget_gauges(others_);
}

void series_share::consider(std::string id, bool called)
{
    while (next_before_ < before_.size() && before_[next_before_].id < id) {
        ++next_before_;  // it is gone
    }
    auto& now = agents_.emplace_back();
    if (next_before_ < before_.size() && before_[next_before_].id == id) {
        now = std::move(before_[next_before_++]);
        now.was_shown = now.shown;
        now.was_shared = !now.shown;
    }
    now.id = std::move(id);
    if (called) {
        now.called = page_;
    }
}

void series_share::choose(std::size_t most)
{
    before_.clear();
    std::vector<std::size_t> order(agents_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto chosen = std::min(most, order.size());
    if (chosen < order.size()) {
        const auto first = [this](std::size_t a, std::size_t b) {
            const auto& one = agents_[a];
            const auto& other = agents_[b];
            if (one.called != other.called) {
                return one.called > other.called;
            }
            return one.was_shown != other.was_shown ? one.was_shown : a < b;
        };
        std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(chosen), order.end(), first);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        agents_[order[i]].shown = i < chosen;
    }
    omitted_ = order.size() - chosen;
    shared_ = shared_ || omitted_ > 0;
}

// As many as there are: it was not considered.
std::size_t series_share::place_of(std::string_view id) const
{
    const auto found =
        std::ranges::lower_bound(agents_, id, {}, [](const agent& each) -> std::string_view { return each.id; });
    return found == agents_.end() || found->id != id ? agents_.size()
                                                     : static_cast<std::size_t>(found - agents_.begin());
}

agent_series series_share::series_of(std::string_view id) const
{
    const auto place = place_of(id);
    if (place == agents_.size() || !agents_[place].shown) {
        return agent_series::shared;
    }
    return agents_[place].was_shared ? agent_series::own_again : agent_series::own;
}

bool series_share::shows(std::string_view id) const
{
    const auto place = place_of(id);
    return place < agents_.size() && agents_[place].shown;
}

bool series_share::wants(std::string_view id) const
{
    const auto place = place_of(id);
    return place < agents_.size() && (!agents_[place].shown || agents_[place].counted != nullptr);
}

void series_share::settle(std::string_view id, plane_samples now)
{
    if (!wants(id)) {
        return;
    }
    auto& settled = agents_[place_of(id)];
    if (settled.counted != nullptr || !settled.was_shown) {
        add_counters(others_, now, settled.counted != nullptr ? *settled.counted : plane_samples{});
    }
    if (settled.shown) {
        settled.counted.reset();
        return;
    }
    add_gauges(others_, now);
    now.status.reset();
    now.callers.reset();
    settled.counted = std::make_unique<const plane_samples>(std::move(now));
}

}  // namespace gateway::telemetry
