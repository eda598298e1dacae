#include "gateway/metrics_feed.hpp"

#include <boost/asio/co_spawn.hpp>

#include <array>
#include <chrono>
#include <string_view>
#include <utility>

namespace gateway {
namespace {

struct worker_part {
    telemetry::loop_totals totals;
    std::set<std::string, std::less<>> lingering;
    std::size_t idle_upstream_connections = 0;
};

net::task<worker_part> part_of(const traffic::worker& worker)
{
    co_return worker_part{worker.metrics().totals(), worker.metrics().lingering(), worker.idle_upstream_connections()};
}

// A reference: `agents` is of whoever awaits this.
net::task<std::vector<telemetry::agent_counters>>
counters_in(const traffic::worker& worker, const std::vector<std::string>& agents)
{
    std::vector<telemetry::agent_counters> out(agents.size());
    for (std::size_t i = 0; i < agents.size(); ++i) {
        if (const auto* found = worker.metrics().find(agents[i])) {
            out[i].merge(*found);
        }
    }
    co_return out;
}

telemetry::card_sample sample_of(const cards::card_status& status)
{
    telemetry::card_sample out;
    out.fetched = status.fetched;
    out.not_modified = status.not_modified;
    out.failures = status.failures;
    out.changes = status.changes;
    if (status.hidden) {
        out.hidden_tools = status.hidden->count;
    }
    if (status.card) {
        const auto age = cards::seen_at(status, std::chrono::steady_clock::now()) - status.card->fetched_at;
        out.age = std::chrono::duration_cast<core::duration>(age);
    }
    return out;
}

std::array<std::string_view, mcp::session_states> names_of_states() noexcept
{
    std::array<std::string_view, mcp::session_states> names;
    for (std::size_t i = 0; i < names.size(); ++i) {
        names[i] = mcp::name(static_cast<mcp::session_state>(i));
    }
    return names;
}

telemetry::session_sample sample_of(const sessions::session_facts& session)
{
    static const auto states = names_of_states();
    const auto& counts = session.counts;
    telemetry::session_sample out;
    out.states = states;
    out.attempts = counts.attempts;
    out.state = mcp::name(session.state);
    out.up = session.ready_since.has_value();
    for (std::size_t i = 0; i < session.losses.size(); ++i) {
        if (session.losses[i] > 0) {
            out.losses.emplace_back(mcp::name(static_cast<mcp::session_reason>(i)), session.losses[i]);
        }
    }
    out.restarts = sessions::restarts_of(session);
    if (counts.handshakes > 0) {
        out.initialize = counts.latest_handshake;
    }
    out.walks_changed = counts.walks_changed;
    out.walks_incomplete = counts.walks_incomplete;
    out.walks_unchanged = counts.walks - counts.walks_changed - counts.walks_incomplete;
    out.walks_failed = counts.walks_failed;
    out.received = counts.received;
    out.sent = counts.sent;
    out.refused = counts.refused;
    if (session.transport == core::mcp_transport::stdio) {
        out.queued = session.queued;
    }
    return out;
}

}  // namespace

std::vector<telemetry::key_set_sample> samples_of(const std::vector<access::provider_key_set>& key_sets)
{
    std::vector<telemetry::key_set_sample> samples;
    samples.reserve(key_sets.size());
    for (const auto& [provider, facts] : key_sets) {
        samples.push_back({provider, facts.age});
    }
    return samples;
}

metrics_feed::metrics_feed(sources from, telemetry::gateway_sample gateway)
    : from_{from},
      gateway_{std::move(gateway)},
      families_{telemetry::agent_families()}
{
    from_.callers.add_to(gateway_);
}

net::task<std::string> metrics_feed::next()
{
    if (!std::exchange(begun_, true)) {
        co_return co_await begin();
    }
    std::string text;
    while (!families_.empty() && text.size() < piece) {
        const auto& now = families_.front();
        if (!current_) {
            current_.emplace(now.name, now.help, now.type);
            after_.clear();
        }
        if (from_.by.over()) {
            co_await from_.by.wait();
        }
        auto agents = next_agents();
        if (!agents.empty()) {
            after_ = agents.back();
            co_await add(std::move(agents));
            text += current_->take();
            continue;
        }
        text += current_->take();
        current_.reset();
        families_ = families_.subspan(1);
    }
    co_return text;
}

net::task<std::string> metrics_feed::begin()
{
    telemetry::loop_totals sum = from_.admin;
    for (const auto& each : from_.workers) {
        auto asking = part_of(*each);
        auto part = co_await net::asio::co_spawn(each->executor(), std::move(asking), net::use_task);
        sum.merge(part.totals);
        lingering_.merge(part.lingering);
        gateway_.idle_upstream_connections += part.idle_upstream_connections;
    }
    counted_ = sum.agents;
    co_return telemetry::process_metrics(sum, gateway_);
}

// In the order of their ids; empty: the family has all of them.
std::vector<std::string> metrics_feed::next_agents() const
{
    std::vector<std::string> out;
    if (families_.front().part == telemetry::sample_part::counters && counted_ == 0) {
        return out;
    }
    const auto& all = from_.agents.all();
    auto known = all.upper_bound(after_);
    auto left = lingering_.upper_bound(after_);
    while (out.size() < slice && (known != all.end() || left != lingering_.end())) {
        if (left == lingering_.end() || (known != all.end() && known->first <= *left)) {
            if (left != lingering_.end() && known->first == *left) {
                ++left;
            }
            out.push_back((known++)->first);
        } else {
            out.push_back(*left++);
        }
    }
    return out;
}

// The series of these agents in the family that is being written.
net::task<> metrics_feed::add(std::vector<std::string> agents)
{
    const auto& now = families_.front();
    if (now.part == telemetry::sample_part::counters) {
        const auto counted = co_await counters_of(agents);
        auto& family = *current_;  // NOLINT(*-optional-access): next() has begun it
        for (std::size_t i = 0; i < agents.size(); ++i) {
            now.add(family, {.id = agents[i], .counters = &counted[i]});
        }
        co_return;
    }
    for (const auto& id : agents) {
        if (now.part == telemetry::sample_part::card) {
            if (const auto* status = from_.cards.status(id)) {
                const auto card = sample_of(*status);
                now.add(*current_, {.id = id, .card = &card});
            }
        } else if (now.part == telemetry::sample_part::token) {
            if (const auto facts = from_.tokens.facts(id)) {
                const telemetry::token_sample token{facts->age, facts->renewed, facts->failed};
                now.add(*current_, {.id = id, .token = &token});
            }
        } else if (now.part == telemetry::sample_part::callers) {
            if (const auto live = from_.callers.sample_of(id)) {
                now.add(*current_, {.id = id, .callers = &*live});
            }
        } else if (const auto facts = from_.sessions.facts(id)) {
            const auto session = sample_of(*facts);
            now.add(*current_, {.id = id, .session = &session});
        }
    }
}

net::task<std::vector<telemetry::agent_counters>> metrics_feed::counters_of(std::vector<std::string> agents) const
{
    std::vector<telemetry::agent_counters> sum(agents.size());
    for (const auto& each : from_.workers) {
        auto asking = counters_in(*each, agents);
        const auto part = co_await net::asio::co_spawn(each->executor(), std::move(asking), net::use_task);
        for (std::size_t i = 0; i < agents.size(); ++i) {
            sum[i].merge(part[i]);
        }
    }
    co_return sum;
}

}  // namespace gateway
