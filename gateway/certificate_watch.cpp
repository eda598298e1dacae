#include "gateway/certificate_watch.hpp"

#include "gateway/model/tls_files.hpp"

#include <utility>

namespace gateway {
namespace {

constexpr std::chrono::seconds interval{1};  // a changed file is noticed within it

}  // namespace

certificate_watch::certificate_watch(
    net::executor control,
    const config::process_settings& settings,
    const core::logger& log
)
    : timer_{std::move(control)},
      configured_{!settings.tls.empty() || !settings.admin_tls.empty()},
      traffic_{"traffic", model::tls_certificates(settings.tls), log},
      admin_{"admin", model::tls_certificates(settings.admin_tls), log}
{
}

core::result<> certificate_watch::start(receiver traffic, receiver admin)
{
    if (!configured_) {
        return {};
    }
    to_traffic_ = std::move(traffic);
    to_admin_ = std::move(admin);
    tickets_ = std::make_shared<net::ticket_keys>(std::chrono::steady_clock::now());
    auto ready = traffic_.start(tickets_);
    if (ready) {
        ready = admin_.start(tickets_);
    }
    if (ready) {
        to_traffic_(traffic_.current());
        to_admin_(admin_.current());
        wait();
    }
    return ready;
}

void certificate_watch::set_client_authorities(const std::string& ca_file)
{
    if (traffic_.set_client_authorities(ca_file)) {
        to_traffic_(traffic_.current());
    }
}

void certificate_watch::refresh(bool asked)
{
    if (!configured_) {
        return;
    }
    if (traffic_.refresh(asked)) {
        to_traffic_(traffic_.current());
    }
    if (admin_.refresh(asked)) {
        to_admin_(admin_.current());
    }
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

}  // namespace gateway
