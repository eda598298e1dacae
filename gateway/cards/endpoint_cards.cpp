#include "gateway/cards/endpoint_cards.hpp"

#include "core/url.hpp"
#include "gateway/model/endpoint_entries.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gateway::cards {
namespace {

// Whether an endpoint has nothing to say, so that another one may.
bool silent(core::errc why) noexcept
{
    using core::errc;
    return why == errc::upstream_unresolved || why == errc::upstream_refused || why == errc::upstream_tls ||
           why == errc::upstream_proxy || why == errc::upstream_reset || why == errc::upstream_timeout;
}

}  // namespace

std::vector<std::string> card_order(const model::agent_entry& agent, core::steady_time now)
{
    const auto& all = core::rules_of(agent.record).upstreams;
    if (all.empty() || agent.reach == nullptr) {
        return {agent.record.url};
    }
    std::vector<std::string> order;
    balancing::choice_terms terms{.now = now};
    while (const auto next = agent.reach->group->choose(terms)) {
        order.push_back(all[*next]);
        terms.tried |= balancing::endpoint_mask{1} << *next;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if ((terms.tried >> i & 1U) == 0) {
            order.push_back(all[i]);
        }
    }
    return order;
}

bool is_paused(const model::agent_entry& agent, core::steady_time now) noexcept
{
    if (!agent.record.card_url.empty() || agent.breaker == nullptr) {
        return false;
    }
    if (agent.siblings == nullptr) {
        return !agent.breaker->admits(now);
    }
    return std::ranges::none_of(agent.siblings->all, [now](const model::agent_entry& each) {
        return each.breaker->admits(now);
    });
}

core::agent record_at(const core::agent& record, const std::string& found_at)
{
    auto out = record;
    const auto& all = core::rules_of(record).upstreams;
    const auto at = std::ranges::find_if(all, [&](const std::string& url) {
        return core::origin_of(url) == core::origin_of(found_at);
    });
    if (at != all.end()) {
        out.url = *at;
    }
    return out;
}

net::task<core::result<fetched_card>> fetch_card(
    card_source& source,
    std::shared_ptr<const model::agent_entry> agent,
    card_validators last,
    core::duration patience
)
{
    const auto begun = std::chrono::steady_clock::now();
    auto order = card_order(*agent, begun);
    if (!agent->record.card_url.empty()) {
        order.resize(1);
    }
    core::result<fetched_card> fetched = core::gateway_error(core::errc::internal, "card: no address");
    for (auto& url : order) {
        auto record = agent->record;
        record.url = std::move(url);
        fetched = co_await source.fetch(std::move(record), last);
        const bool late = std::chrono::steady_clock::now() - begun >= patience;
        if (fetched || !silent(fetched.error().code) || late) {
            break;
        }
    }
    co_return fetched;
}

}  // namespace gateway::cards
