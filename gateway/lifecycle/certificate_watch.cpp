#include "gateway/lifecycle/certificate_watch.hpp"

#include "gateway/model/tls_files.hpp"
#include "net/tls/tls_files.hpp"

#include <chrono>
#include <utility>

namespace gateway::lifecycle {
namespace {

constexpr std::chrono::hours warning_time{14 * 24};

}  // namespace

listener_tls::listener_tls(
    std::string listener,
    std::vector<net::tls_certificate> certificates,
    const core::logger& log
)
    : listener_{std::move(listener)},
      certificates_{std::move(certificates)},
      log_{log}
{
}

core::result<> listener_tls::start(std::shared_ptr<net::ticket_keys> tickets)
{
    tickets_ = std::move(tickets);
    if (certificates_.empty()) {
        return {};
    }
    if (auto made = make(); !made) {
        return made;
    }
    warn_of_ends(std::chrono::system_clock::now());
    return {};
}

core::result<> listener_tls::make()
{
    read_ = stamps();  // before reading: what changes meanwhile is read again
    auto context = net::make_server_tls(certificates_, tickets_, client_ca_file_);
    if (!context) {
        return std::move(context).error();
    }
    current_ = std::move(*context);
    ends_.clear();
    for (const auto& each : certificates_) {
        if (const auto end = net::valid_until(each.cert_file)) {
            ends_.insert_or_assign(each.cert_file, *end);
        }
    }
    return {};
}

bool listener_tls::set_client_authorities(const std::string& ca_file)
{
    if (ca_file == client_ca_file_) {
        return false;
    }
    client_ca_file_ = ca_file;
    if (current_ == nullptr) {
        return false;
    }
    if (refresh(/*asked=*/true)) {
        return true;
    }
    auto without = net::make_server_tls(certificates_, tickets_);
    if (!without) {
        return false;
    }
    current_ = std::move(*without);
    return true;
}

// An expired certificate is still shown: a caller may take it, and none would serve nobody better.
void listener_tls::warn_of_ends(core::wall_time now) const
{
    for (const auto& [cert, end] : ends_) {
        if (end - now < warning_time) {
            const auto hours = std::chrono::duration_cast<std::chrono::hours>(end - now).count();
            log_.write(
                core::log_level::warn,
                "certificate_expiring",
                {{"listener", listener_}, {"cert", cert}, {"hours", hours}}
            );
        }
    }
}

bool listener_tls::refresh(bool asked)
{
    if (certificates_.empty()) {
        return false;
    }
    if (!asked && stamps() == read_) {
        return false;
    }
    if (const auto made = make(); !made) {
        log_.write(
            core::log_level::error,
            "certificate_reload_failed",
            {{"listener", listener_}, {"reason", made.error().detail}}
        );
        return false;
    }
    log_.write(
        core::log_level::info,
        "certificates_reloaded",
        {{"listener", listener_}, {"count", certificates_.size()}}
    );
    warn_of_ends(std::chrono::system_clock::now());
    return true;
}

std::vector<reload::file_stamp> listener_tls::stamps() const
{
    std::vector<reload::file_stamp> all;
    for (const auto& each : certificates_) {
        all.push_back(reload::stamp_of(each.cert_file));
        all.push_back(reload::stamp_of(each.key_file));
    }
    if (!client_ca_file_.empty()) {
        all.push_back(reload::stamp_of(client_ca_file_));
    }
    return all;
}

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

std::vector<std::tuple<std::string, std::string, core::wall_time>> certificate_watch::ends() const
{
    std::vector<std::tuple<std::string, std::string, core::wall_time>> all;
    for (const auto* each : {&traffic_, &admin_, &metrics_}) {
        for (const auto& [cert, end] : each->tls.ends()) {
            all.emplace_back(each->name, cert, end);
        }
    }
    return all;
}

void certificate_watch::collect(telemetry::metrics& into) const
{
    telemetry::family ends{telemetry::metric("cardea_tls_certificate_not_after_timestamp_seconds")};
    for (const auto& [listener, cert, end] : this->ends()) {
        ends.add({{"listener", listener}, {"cert", cert}}, telemetry::seconds(end.time_since_epoch()));
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
