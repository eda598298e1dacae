#include "gateway/admin/metrics_feed.hpp"

#include "core/choices.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace gateway::admin {
namespace {

using telemetry::metric;

struct worker_part {
    telemetry::loop_totals totals;
    std::set<std::string, std::less<>> lingering;
    std::size_t idle_upstream_connections = 0;
};

net::task<worker_part> part_of(worker::worker& worker)
{
    worker_part part{worker.metrics().totals(), worker.metrics().lingering(), worker.idle_upstream_connections()};
    part.totals.http2 = worker.http2();
    co_return part;
}

// The asker keeps `agents` until it has the answer.
net::task<std::vector<telemetry::agent_counters>>
counters_in(worker::worker& worker, const std::vector<std::string>& agents)
{
    std::vector<telemetry::agent_counters> out(agents.size());
    for (std::size_t i = 0; i < agents.size(); ++i) {
        if (const auto* found = worker.metrics().find(agents[i])) {
            out[i].merge(*found);
        }
    }
    co_return out;
}

}  // namespace

metrics_feed::metrics_feed(
    sources from,
    telemetry::metrics planes,
    const telemetry::loop_totals& totals,
    std::uint64_t most
)
    : from_{from},
      planes_{std::move(planes)},
      most_{most}
{
    sums_.add(totals);
}

net::task<std::string> metrics_feed::next()
{
    if (!std::exchange(begun_, true)) {
        co_return co_await begin();
    }
    std::string text;
    while (family_ < families() && text.size() < piece) {
        if (from_.by.over()) {
            co_await from_.by.wait();
        }
        text += co_await collect_slice();
    }
    co_return text;
}

net::task<std::string> metrics_feed::begin()
{
    std::set<std::string, std::less<>> lingering;
    std::size_t idle = 0;
    for (const auto& each : from_.workers) {
        auto asking = part_of(*each);
        auto part = co_await net::asio::co_spawn(each->executor(), std::move(asking), net::use_task);
        sums_.add(part.totals);
        lingering.merge(part.lingering);
        idle += part.idle_upstream_connections;
    }
    co_await from_.by.wait();
    choose(lingering);
    planes_.add(metric("cardea_upstream_connections_idle"), idle);
    const auto all = std::make_shared<std::vector<prometheus::MetricFamily>>(sums_.Collect());
    std::ranges::move(planes_.take_process(), std::back_inserter(*all));
    std::function<std::string()> to_text = [all] { return telemetry::text_of(*all); };
    co_return co_await from_.serializer.ask<std::string>(std::move(to_text));
}

// The first agents by id have series: those that exist, and those that are gone and have open streams.
void metrics_feed::choose(const std::set<std::string, std::less<>>& lingering)
{
    const auto& known = from_.agents.all();
    std::size_t omitted = 0;
    const auto take = [&](const std::string& id) {
        if (shown_.size() < most_) {
            shown_.push_back(id);
        } else {
            ++omitted;
        }
    };
    auto left = lingering.begin();
    for (const auto& [id, agent] : known) {
        for (; left != lingering.end() && *left < id; ++left) {
            take(*left);
        }
        left = left != lingering.end() && *left == id ? std::next(left) : left;
        take(id);
    }
    std::for_each(left, lingering.end(), take);
    planes_.add(metric("cardea_metrics_agents_omitted"), omitted);
}

// The series of the next agents in the family that is being written.
net::task<std::string> metrics_feed::collect_slice()
{
    const bool begins = written_ == 0;
    const auto from = shown_.begin() + static_cast<std::ptrdiff_t>(written_);
    const auto size = std::min(slice, shown_.size() - written_);
    std::vector<std::string> agents{from, from + static_cast<std::ptrdiff_t>(size)};
    const auto counted = telemetry::counted_families();
    const auto now = family_;
    written_ += size;
    if (written_ == shown_.size()) {
        ++family_;
        written_ = 0;
    }
    prometheus::MetricFamily family;
    if (now < counted.size()) {
        family = co_await counted_slice(counted[now], std::move(agents));
    } else {
        family = plane_slice(planes_.agents()[now - counted.size()], agents);
    }
    co_return co_await serialize(std::move(family), begins);
}

net::task<prometheus::MetricFamily>
metrics_feed::counted_slice(const telemetry::counted_family& what, std::vector<std::string> agents)
{
    telemetry::family family{what.what};
    std::vector<telemetry::agent_counters> sum(agents.size());
    if (sums_.agents() > 0) {
        for (const auto& each : from_.workers) {
            auto asking = counters_in(*each, agents);
            const auto part = co_await net::asio::co_spawn(each->executor(), std::move(asking), net::use_task);
            for (std::size_t i = 0; i < agents.size(); ++i) {
                sum[i].merge(part[i]);
            }
        }
    }
    for (std::size_t i = 0; i < agents.size(); ++i) {
        const auto* known = from_.agents.find(agents[i]);
        const auto speaks = known == nullptr ? core::protocol::a2a : known->entry->record.speaks;
        what.add(family, {agents[i], core::name(speaks), sum[i]});
    }
    co_return family.take();
}

prometheus::MetricFamily
metrics_feed::plane_slice(const telemetry::agent_family& what, const std::vector<std::string>& agents) const
{
    telemetry::family family{what.what};
    for (const auto& id : agents) {
        what.add(family, id);
    }
    return family.take();
}

net::task<std::string> metrics_feed::serialize(prometheus::MetricFamily family, bool begins)
{
    const auto all = std::make_shared<std::vector<prometheus::MetricFamily>>();
    all->push_back(std::move(family));
    std::function<std::string()> to_text = [all, begins] {
        return begins ? telemetry::text_of(*all) : telemetry::more_text_of(std::move(all->front()));
    };
    co_return co_await from_.serializer.ask<std::string>(std::move(to_text));
}

}  // namespace gateway::admin
