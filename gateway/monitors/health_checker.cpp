#include "gateway/monitors/health_checker.hpp"

#include "core/url.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/model/tls_files.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace gateway::monitors {
namespace {

constexpr std::chrono::milliseconds connection_look_interval{10};  // at connections that are being made

const std::string& url_of(const model::agent_entry& endpoint)
{
    const auto& all = core::rules_of(endpoint.record).upstreams;
    return all.empty() ? endpoint.record.url : all[endpoint.number];
}

}  // namespace

health_checker::health_checker(net::loop& control, const core::health_settings& defaults, const core::logger& log)
    : control_{control},
      defaults_{defaults},
      log_{log},
      timer_{control.get_executor()}
{
}

void health_checker::begin(net::fetcher& fetcher, cards::card_source& cards)
{
    fetcher_ = &fetcher;
    cards_ = &cards;
}

void health_checker::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    std::vector<check_pointer> before;
    if (const auto known = checks_.find(id); known != checks_.end()) {
        before = std::move(known->second);
        checks_.erase(known);
    }
    const auto how = agent == nullptr ? core::health_check::none : model::health_check_of(agent->record, defaults_);
    const bool checked = how != core::health_check::none && agent->reach != nullptr;
    const auto settings = checked ? core::health_of(agent->record, defaults_) : core::health_settings{};
    const bool stays = checked && !before.empty() && before.front()->at->reach == agent->reach &&
                       before.front()->settings == settings && before.front()->how == how;
    if (stays) {
        for (auto& each : before) {
            each->at = model::endpoint_of(agent, each->at->number);
        }
        checks_.emplace(id, std::move(before));
        return;
    }
    for (const auto& each : before) {
        each->gone = true;
    }
    if (!checked || stopped_) {
        return;
    }
    auto& all = checks_[id];
    for (std::size_t i = 0; i < model::endpoint_count(*agent); ++i) {
        agent->reach->group->set_healthy(i, true);
        all.push_back(std::make_shared<check>(check{model::endpoint_of(agent, i), settings, how}));
        plan(all.back(), any_share());
    }
    wait_for_next();
}

double health_checker::any_share()
{
    return std::uniform_real_distribution{0.0, 1.0}(random_);
}

void health_checker::plan(const check_pointer& of, double share_of_interval)
{
    const auto interval = static_cast<double>(of->settings.interval.count()) * share_of_interval;
    due_.emplace(std::chrono::steady_clock::now() + core::duration{static_cast<std::int64_t>(interval)}, of);
}

void health_checker::start(const check_pointer& of)
{
    ++running_;
    of->begun = std::chrono::steady_clock::now();
    if (of->how == core::health_check::tcp) {
        constexpr std::size_t head_of_proxy = 16 * 1024;
        of->connection = std::make_unique<net::upstream_connection>(control_, of->at->upstream, head_of_proxy);
        connecting_.push_back(of);
        of->connection->connect(unheard_);
        return;
    }
    auto asking = of->how == core::health_check::card ? ask_for_card(of) : ask_http(of);
    net::asio::co_spawn(control_.get_executor(), std::move(asking), [this](const std::exception_ptr& bug) {
        net::log_thrown(bug, log_, "health_check");
    });
}

net::task<> health_checker::ask_http(check_pointer of)
{
    if (stopped_ || of->gone) {
        co_return;  // there is no fetcher any more, or nobody to ask
    }
    auto here = of->at->record;
    here.url = url_of(*of->at);
    const auto& path = core::rules_of(of->at->record).health_path;
    net::fetch_request request;
    request.url = core::origin_of(core::http_form(here.url)) + (path.empty() ? of->at->own_path : path);
    request.http2 = core::only_grpc(here) || here.http == core::http_version::v2;
    request.addresses = of->at->addresses;
    request.tls = model::tls_files(here);
    request.query = core::query_of(here).reveal();
    request.proxy = here.proxy;
    request.status_only = true;
    request.last_on_connection = true;
    request.timeout = of->settings.timeout;
    request.connect_timeout = of->settings.timeout;
    const auto answer = co_await fetcher_->fetch(std::move(request));
    if (!answer && answer.error().code == core::errc::overloaded) {
        finish(of, std::nullopt);  // says nothing of the agent
        co_return;
    }
    finish(of, answer && answer->status >= 200 && answer->status < 300);
}

net::task<> health_checker::ask_for_card(check_pointer of)
{
    if (stopped_ || of->gone) {
        co_return;
    }
    auto record = of->at->record;
    record.url = url_of(*of->at);
    cards::card_validators none;
    const auto longest = of->settings.timeout;
    const auto fetched = co_await cards_->fetch(std::move(record), std::move(none), longest);
    const bool late = std::chrono::steady_clock::now() - of->begun > longest;
    finish(of, fetched && !late);
}

void health_checker::look_at_connections()
{
    const auto now = std::chrono::steady_clock::now();
    auto taken = std::exchange(connecting_, {});
    for (auto& each : taken) {
        const bool late = now >= each->begun + each->settings.timeout;
        if (each->connection->connecting() && !late && !each->gone) {
            connecting_.push_back(std::move(each));
            continue;
        }
        const bool connected = !each->connection->connecting() && !each->connection->failure();
        each->connection->close();
        each->connection.reset();
        finish(each, connected);
    }
}

void health_checker::finish(const check_pointer& of, std::optional<bool> passed)
{
    --running_;
    if (of->gone || stopped_) {
        return;
    }
    if (const auto healthy = passed ? of->verdict.add(*passed, of->settings) : std::nullopt) {
        const auto& agent = *of->at;
        agent.reach->group->set_healthy(agent.number, *healthy);
        log_.write(
            *healthy ? core::log_level::info : core::log_level::warn,
            *healthy ? "endpoint_healthy" : "endpoint_unhealthy",
            {{"agent", agent.record.id}, {"endpoint", agent.number + 1}}
        );
    }
    constexpr double least = 0.9;
    constexpr double spread = 0.2;
    plan(of, least + spread * any_share());
    wait_for_next();
}

void health_checker::look()
{
    look_at_connections();
    const auto now = std::chrono::steady_clock::now();
    while (!due_.empty() && due_.begin()->first <= now && running_ < most_at_a_time) {
        const auto next = due_.extract(due_.begin()).mapped();
        if (!next->gone) {
            start(next);
        }
    }
    wait_for_next();
}

void health_checker::wait_for_next()
{
    auto next = core::steady_time::max();
    if (!due_.empty() && running_ < most_at_a_time) {
        next = due_.begin()->first;
    }
    if (!connecting_.empty()) {
        next = std::min(next, std::chrono::steady_clock::now() + connection_look_interval);
    }
    if (stopped_ || next == core::steady_time::max()) {
        return;
    }
    timer_.expires_at(next);
    timer_.async_wait([this](net::error_code cancelled) {
        if (!cancelled && !stopped_) {
            look();
        }
    });
}

void health_checker::stop()
{
    stopped_ = true;
    timer_.cancel();
    for (const auto& each : connecting_) {
        each->connection->close();
        each->connection.reset();
    }
    connecting_.clear();
    due_.clear();
}

}  // namespace gateway::monitors
