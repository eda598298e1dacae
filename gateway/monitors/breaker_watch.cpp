#include "gateway/monitors/breaker_watch.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace gateway::monitors {
namespace {

constexpr std::chrono::milliseconds look_interval{10};  // at connections that are being made

}  // namespace

breaker_watch::breaker_watch(
    net::loop& control,
    const std::vector<std::unique_ptr<worker::worker>>& workers,
    const config::settings& settings,
    const core::logger& log
)
    : control_{control},
      workers_{workers},
      settings_{settings},
      log_{log},
      checks_{control, settings.defaults.endpoints.health, log},
      timer_{control.get_executor()}
{
}

void breaker_watch::changed(std::shared_ptr<const model::agent_entry> agent, balancing::breaker_change how)
{
    net::asio::post(control_.get_executor(), [this, taken = std::move(agent), how] { note(*taken, how); });
}

void breaker_watch::note(const model::agent_entry& agent, balancing::breaker_change how)
{
    if (how == balancing::breaker_change::closed) {
        log_.write(
            core::log_level::info,
            "breaker_closed",
            {{"agent", agent.record.id}, {"endpoint", agent.number + 1}}
        );
        return;
    }
    const bool unreachable = agent.breaker->awaits_probe();
    log_.write(
        core::log_level::warn,
        "breaker_opened",
        {{"agent", agent.record.id},
         {"endpoint", agent.number + 1},
         {"reason", unreachable ? "unreachable" : "failures"}}
    );
    for (const auto& each : workers_) {
        each->post([which = agent.upstream](worker::worker& on) { on.pool().drop_idle(which->key); });
    }
    const auto known = [&](const probe& each) { return each.breaker.lock() == agent.breaker; };
    if (unreachable && !stopped_ && std::ranges::none_of(probes_, known)) {
        probes_.push_back({agent.breaker, agent.upstream});
        wait_for_next();
    }
}

// False: nothing is left to do.
bool breaker_watch::go_on(probe& with, core::steady_time now)
{
    const auto breaker = with.breaker.lock();
    if (!breaker || !breaker->awaits_probe()) {
        return false;
    }
    if (with.connection) {
        const bool late = now >= with.begun + settings_.timeouts.connect;
        if (with.connection->connecting() && !late) {
            return true;
        }
        const bool connected = !with.connection->connecting() && !with.connection->failure();
        with.connection->close();
        with.connection.reset();
        breaker->probed(connected, with.begun);
        return !connected;
    }
    if (breaker->again_at(now) <= now) {
        with.begun = now;
        with.connection = std::make_unique<net::upstream_connection>(
            control_,
            with.target,
            static_cast<std::size_t>(settings_.limits.upstream_header)
        );
        with.connection->connect(unheard_);
    }
    return true;
}

void breaker_watch::look()
{
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(probes_, [&](probe& each) {
        const bool done = !go_on(each, now);
        if (done && each.connection) {
            each.connection->close();
        }
        return done;
    });
    wait_for_next();
}

void breaker_watch::wait_for_next()
{
    if (probes_.empty() || stopped_) {
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    auto next = core::steady_time::max();
    for (const auto& each : probes_) {
        const auto breaker = each.breaker.lock();
        next = std::min(next, each.connection || !breaker ? now + look_interval : breaker->again_at(now));
    }
    timer_.expires_at(next);
    timer_.async_wait([this](net::error_code cancelled) {
        if (!cancelled && !stopped_) {
            look();
        }
    });
}

void breaker_watch::stop()
{
    stopped_ = true;
    checks_.stop();
    timer_.cancel();
    for (auto& each : probes_) {
        if (each.connection) {
            each.connection->close();
        }
    }
    probes_.clear();
}

}  // namespace gateway::monitors
