#include "gateway/wiring/tracing.hpp"

#include "gateway/model/version.hpp"
#include "gateway/telemetry/metric_family.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <functional>
#include <random>
#include <string>
#include <utility>

namespace gateway::wiring {
namespace {

constexpr std::chrono::seconds longest_finish{1
};  // with the 3 s of a program that ignores SIGTERM less than an end may take

double random_share()
{
    thread_local std::minstd_rand numbers{std::random_device{}()};
    return std::uniform_real_distribution<double>{}(numbers);
}

}  // namespace

void tracing::apply(const config::settings& now, const model::changed_settings& changed)
{
    if (!changed.has_any_of("trace.")) {
        return;
    }
    const auto& settings = now.trace;
    const bool joins = !settings.endpoint.empty();
    if (joins && !exporter_) {
        fetcher_ = std::make_unique<net::curl_fetcher>(control_, "cardea/" + std::string{model::version()});
        exporter_ = std::make_unique<trace_exporter>(
            control_.timers(),
            export_services{*fetcher_, control_.get_executor(), log_, std::chrono::steady_clock::now, random_share}
        );
    }
    if (joins) {
        exporter_->set_endpoint(settings.endpoint);
    }
    for (const auto& each : workers_) {
        each->post([plan = request::trace_plan{joins, settings.sample}](worker::worker& on) {
            on.handler().set_trace_plan(plan);
        });
    }
}

void tracing::take(model::span_batch batch)
{
    net::asio::post(control_.get_executor(), [this, taken = std::move(batch)]() mutable {
        if (exporter_) {
            exporter_->add(std::move(taken));
        }
    });
}

net::task<> tracing::finish(threads::drain_wait& waiting)
{
    if (!exporter_) {
        co_return;
    }
    const auto until = std::chrono::steady_clock::now() + longest_finish;
    asked_ = workers_.size();
    for (const auto& each : workers_) {
        // What a worker posts before this comes here before it.
        each->post([this](worker::worker& on) {
            on.hand_over();
            net::asio::post(control_.get_executor(), [this] { --asked_; });
        });
    }
    const std::function<bool()> all_there = [this] { return asked_ == 0; };
    co_await waiting.wait(all_there, until);
    exporter_->finish();
    const std::function<bool()> sent = [this] { return exporter_->idle(); };
    co_await waiting.wait(sent, until);
    exporter_->stop();
    fetcher_.reset();
}

void tracing::collect(telemetry::metrics& into) const
{
    telemetry::family ended{telemetry::metric("cardea_trace_spans_total")};
    if (exporter_) {
        const auto counts = exporter_->counts();
        for (std::size_t i = 0; i < counts.size(); ++i) {
            ended.add({{"outcome", name(static_cast<span_end>(i))}}, counts[i]);
        }
    }
    into.add(std::move(ended));
}

}  // namespace gateway::wiring
