#include "gateway/admin/metrics_feed.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace gateway::admin {
namespace {

struct worker_part {
    telemetry::loop_totals totals;
    std::set<std::string, std::less<>> lingering;
    std::size_t idle_upstream_connections = 0;
};

net::task<worker_part> part_of(worker::worker& worker)
{
    co_return worker_part{worker.metrics().totals(), worker.metrics().lingering(), worker.idle_upstream_connections()};
}

// References, here and below: what they are to is of whoever awaits this.
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

// For each of the agents.
using flags = std::vector<bool>;

net::task<flags> called_in(worker::worker& worker, const std::vector<std::string>& agents)
{
    flags out(agents.size());
    for (std::size_t i = 0; i < agents.size(); ++i) {
        out[i] = worker.metrics().take_called(agents[i]);
    }
    co_return out;
}

// How many streams are open of those that have no series of their own.
net::task<std::int64_t> settle_in(
    worker::worker& worker,
    const std::vector<std::string>& agents,
    const std::vector<telemetry::agent_series>& series
)
{
    std::int64_t streams = 0;
    for (std::size_t i = 0; i < agents.size(); ++i) {
        streams += worker.metrics().settle(agents[i], series[i]);
    }
    co_return streams;
}

net::task<telemetry::agent_counters> omitted_in(worker::worker& worker)
{
    co_return worker.metrics().omitted();
}

}  // namespace

metrics_feed::metrics_feed(sources from, telemetry::gateway_sample gateway, std::uint64_t most)
    : from_{from},
      gateway_{std::move(gateway)},
      most_{most},
      families_{telemetry::agent_families()}
{
    from_.planes.callers.add_to(gateway_);
    gateway_.push = sample_of(from_.planes.push.facts());
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
            written_ = 0;
        }
        if (from_.by.over()) {
            co_await from_.by.wait();
        }
        auto agents = next_shown();
        if (!agents.empty()) {
            co_await add(std::move(agents));
            text += current_->take();
            continue;
        }
        add_others();
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
    co_await from_.series.enter();
    std::exception_ptr bug;
    try {
        co_await choose();
        co_await settle();
    } catch (...) {
        bug = std::current_exception();
    }
    from_.series.leave(co_await net::asio::this_coro::executor);
    if (bug) {
        std::rethrow_exception(bug);
    }
    co_return telemetry::process_metrics(sum, gateway_);
}

// Which agents have series of their own on this page.
net::task<> metrics_feed::choose()
{
    auto& share = from_.series.share();
    share.begin();
    co_await from_.by.wait();
    for (auto agents = agents_after({}); !agents.empty(); agents = agents_after(agents.back())) {
        flags called(agents.size());
        for (const auto& each : from_.workers) {
            auto asking = called_in(*each, agents);
            const auto here = co_await net::asio::co_spawn(each->executor(), std::move(asking), net::use_task);
            for (std::size_t i = 0; i < called.size(); ++i) {
                called[i] = called[i] || here[i];
            }
        }
        for (std::size_t i = 0; i < agents.size(); ++i) {
            share.consider(agents[i], called[i]);
        }
        if (from_.by.over()) {
            co_await from_.by.wait();
        }
    }
    share.choose(most_);
    gateway_.omitted_agents = share.omitted();
}

// What follows from it for those who count.
net::task<> metrics_feed::settle()
{
    auto& share = from_.series.share();
    std::int64_t streams = 0;
    co_await from_.by.wait();
    auto agents = agents_after({});
    while (!agents.empty()) {
        const auto last = agents.back();
        std::erase_if(agents, [&](const std::string& id) { return !share.knows(id); });  // they are new since choose()
        std::vector<telemetry::agent_series> series;
        series.reserve(agents.size());
        for (const auto& id : agents) {
            series.push_back(share.series_of(id));
            if (share.wants(id)) {
                share.settle(id, samples_of(from_.planes, id));
            }
            if (share.shows(id)) {
                shown_.push_back(id);
            }
        }
        for (const auto& each : from_.workers) {
            auto asking = settle_in(*each, agents, series);
            streams += co_await net::asio::co_spawn(each->executor(), std::move(asking), net::use_task);
        }
        if (from_.by.over()) {
            co_await from_.by.wait();
        }
        agents = agents_after(last);
    }
    if (share.is_shared()) {
        planes_of_others_ = share.others();
        co_await count_omitted();
        if (streams > 0) {
            others_->add_streams(streams);  // NOLINT(*-optional-access): count_omitted() has set it
        }
    }
}

net::task<> metrics_feed::count_omitted()
{
    telemetry::agent_counters sum;
    for (const auto& each : from_.workers) {
        auto asking = omitted_in(*each);
        sum.merge(co_await net::asio::co_spawn(each->executor(), std::move(asking), net::use_task));
    }
    others_.emplace(std::move(sum));
}

// The next ones in the order of their ids; empty: that was all.
std::vector<std::string> metrics_feed::agents_after(const std::string& id) const
{
    std::vector<std::string> out;
    const auto& all = from_.planes.agents.all();
    auto known = all.upper_bound(id);
    auto left = lingering_.upper_bound(id);
    while (out.size() < walk && (known != all.end() || left != lingering_.end())) {
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

// Empty: the family has all of them.
std::vector<std::string> metrics_feed::next_shown()
{
    const auto from = shown_.begin() + static_cast<std::ptrdiff_t>(written_);
    const auto size = std::min(slice, shown_.size() - written_);
    written_ += size;
    return {from, from + static_cast<std::ptrdiff_t>(size)};
}

// The series of these agents in the family that is being written.
net::task<> metrics_feed::add(std::vector<std::string> agents)
{
    const auto& now = families_.front();
    auto& family = *current_;  // NOLINT(*-optional-access): next() has begun it
    if (now.part == telemetry::sample_part::counters) {
        const auto counted = co_await counters_of(agents);
        for (std::size_t i = 0; i < agents.size(); ++i) {
            telemetry::agent_sample sample{.id = agents[i], .counters = &counted[i]};
            if (const auto* known = from_.planes.agents.find(agents[i])) {
                sample.protocol = core::name(known->entry->record.speaks);
            }
            telemetry::add_agent(now, family, sample);
        }
        co_return;
    }
    for (const auto& id : agents) {
        const auto known = sample_of(from_.planes, id, now.part);
        telemetry::add_agent(now, family, telemetry::make_sample(id, nullptr, known));
    }
}

void metrics_feed::add_others()
{
    if (others_ && current_) {
        const auto sample = telemetry::make_sample(telemetry::other_agents, &*others_, planes_of_others_);
        telemetry::add_agent(families_.front(), *current_, sample);
    }
}

net::task<std::vector<telemetry::agent_counters>> metrics_feed::counters_of(const std::vector<std::string>& agents
) const
{
    std::vector<telemetry::agent_counters> sum(agents.size());
    if (counted_ == 0) {
        co_return sum;
    }
    for (const auto& each : from_.workers) {
        auto asking = counters_in(*each, agents);
        const auto part = co_await net::asio::co_spawn(each->executor(), std::move(asking), net::use_task);
        for (std::size_t i = 0; i < agents.size(); ++i) {
            sum[i].merge(part[i]);
        }
    }
    co_return sum;
}

}  // namespace gateway::admin
