#include "gateway/lifecycle/certificate_watch.hpp"

#include "gateway/model/tls_files.hpp"

#include <utility>

namespace gateway::lifecycle {
namespace {

constexpr std::chrono::seconds interval{1};  // a changed file is noticed within it

}  // namespace

certificate_watch::certificate_watch(
    net::executor control,
    const config::process_settings& settings,
    const core::logger& log
)
    : timer_{control},
      configured_{!settings.tls.empty() || !settings.admin_tls.empty() || !settings.metrics_tls.empty()},
      traffic_{"traffic", {"traffic", model::tls_certificates(settings.tls), log}},
      admin_{"admin", {"admin", model::tls_certificates(settings.admin_tls), log}},
      metrics_{"metrics", {"metrics", model::tls_certificates(settings.metrics_tls), log}}
{
}

core::result<> certificate_watch::start(receivers to)
{
    if (!configured_) {
        return {};
    }
    traffic_.to = std::move(to.traffic);
    admin_.to = std::move(to.admin);
    metrics_.to = std::move(to.metrics);
    tickets_ = std::make_shared<net::ticket_keys>(std::chrono::steady_clock::now(), std::exchange(passed_, {}));
    for (auto* each : {&traffic_, &admin_, &metrics_}) {
        if (auto ready = each->tls.start(tickets_); !ready) {
            return ready;
        }
    }
    for (const auto* each : {&traffic_, &admin_, &metrics_}) {
        each->to(each->tls.current());
    }
    wait();
    return {};
}

std::string certificate_watch::tickets() const
{
    return tickets_ == nullptr ? std::string{} : tickets_->pass(std::chrono::steady_clock::now());
}

void certificate_watch::set_client_authorities(const std::string& ca_file)
{
    if (traffic_.tls.set_client_authorities(ca_file)) {
        traffic_.to(traffic_.tls.current());
    }
}

void certificate_watch::refresh(bool asked)
{
    if (!configured_) {
        return;
    }
    for (auto* each : {&traffic_, &admin_, &metrics_}) {
        if (each->tls.refresh(asked)) {
            each->to(each->tls.current());
        }
    }
}

void certificate_watch::collect(telemetry::metrics& into) const
{
    telemetry::family ends{telemetry::metric("cardea_tls_certificate_not_after_timestamp_seconds")};
    for (const auto* each : {&traffic_, &admin_, &metrics_}) {
        for (const auto& [cert, end] : each->tls.ends()) {
            ends.add({{"listener", each->name}, {"cert", cert}}, telemetry::seconds(end.time_since_epoch()));
        }
    }
    into.add(std::move(ends));
}

void certificate_watch::stop()
{
    stopped_ = true;
    timer_.cancel();
}

void certificate_watch::wait()
{
    timer_.expires_after(interval);
    timer_.async_wait([this](net::error_code cancelled) {
        if (cancelled || stopped_) {
            return;
        }
        tickets_->rotate(std::chrono::steady_clock::now());
        refresh(/*asked=*/false);
        wait();
    });
}

}  // namespace gateway::lifecycle
