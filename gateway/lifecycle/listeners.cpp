#include "gateway/lifecycle/listeners.hpp"

#include "config/exposure.hpp"
#include "gateway/responses/answer.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "net/loop/descriptor_budget.hpp"

#include <boost/asio/post.hpp>

#include <fcntl.h>

#include <optional>
#include <string>
#include <utility>

namespace gateway::lifecycle {
namespace {

std::optional<config::endpoint> address_of(const std::optional<net::inherited_socket>& taken)
{
    if (!taken) {
        return std::nullopt;
    }
    return config::endpoint{taken->local.address().to_string(), taken->local.port()};
}

std::optional<net::inherited_socket>* place_of(inherited_listeners& all, const std::string& name)
{
    if (name == "traffic") {
        return &all.traffic;
    }
    if (name == "admin") {
        return &all.admin;
    }
    return name == "metrics" ? &all.metrics : nullptr;
}

}  // namespace

reload::inherited_addresses inherited_listeners::addresses() const
{
    return {address_of(traffic), address_of(admin), address_of(metrics)};
}

bool inherited_listeners::keep_unchanged(
    const reload::inherited_addresses& now,
    const reload::inherited_addresses& before
)
{
    const auto keep = [](auto& socket, const auto& is, const auto& was) {
        const bool changed = socket.has_value() && was.has_value() && is != was;
        if (changed) {
            socket.reset();
        }
        return changed;
    };
    const bool traffic_changed = keep(traffic, now.listen, before.listen);
    const bool admin_changed = keep(admin, now.admin, before.admin);
    const bool metrics_changed = keep(metrics, now.metrics, before.metrics);
    return traffic_changed || admin_changed || metrics_changed;
}

core::result<inherited_listeners> take_inherited_listeners(const std::vector<net::inherited_descriptor>& passed)
{
    const auto refuse = [](const net::inherited_descriptor& which, const char* expected) {
        return core::gateway_error(
            core::errc::config_invalid,
            "inherited socket " + which.name + ": descriptor " + std::to_string(which.number) + expected
        );
    };
    inherited_listeners all;
    for (const auto& each : passed) {
        if (each.name == "handover" && !all.handover.open()) {
            auto taken = net::take_socket_pair(each);
            if (!taken) {
                return std::move(taken).error();
            }
            all.handover = std::move(*taken);
            continue;
        }
        auto* const place = place_of(all, each.name);
        if (place == nullptr) {
            return refuse(each, " has an unknown name; expected traffic, admin or metrics (FileDescriptorName)");
        }
        if (*place) {
            return refuse(each, " is the second one with this name; expected one address for each listener");
        }
        auto taken = net::take_listening_socket(each);
        if (!taken) {
            return std::move(taken).error();
        }
        *place = std::move(*taken);
    }
    return all;
}

namespace {

core::result<>
listen_on(net::listener& what, const config::endpoint& address, std::optional<net::inherited_socket>& inherited)
{
    if (inherited) {
        return what.open(std::move(inherited->socket), inherited->local);
    }
    return what.open(address.host, address.port);
}

}  // namespace

listeners::listeners(
    net::loop& control,
    const config::settings& settings,
    worker::shared_limits& shared,
    const core::logger& log
)
    : control_{control},
      settings_{settings},
      shared_{shared},
      log_{log},
      certificates_{control.get_executor(), settings, log}
{
}

core::result<> listeners::open(
    std::vector<net::http_service*> traffic,
    net::http_handler& operators,
    net::http_handler& scrapers,
    inherited_listeners inherited
)
{
    auto of_operators = worker::connection_settings(settings_, shared_);
    of_operators.bodies = &shared_.operator_bodies;
    admin_service_ = std::make_unique<net::http_service>(control_, operators, of_operators);
    traffic_ = std::make_unique<net::listener>(control_, std::move(traffic), log_);
    admin_ = std::make_unique<net::listener>(control_, std::vector<net::http_service*>{admin_service_.get()}, log_);
    const auto connections = settings_.limits.connections;
    traffic_->set_limits(
        {.connections = connections > 0 ? connections : net::default_connections(),
         .may_use_reserve = false,
         .refusal = settings_.tls.empty() ? responses::refusal_of_connection() : std::string{}}
    );
    auto bound = listen_on(*traffic_, settings_.listen, inherited.traffic);
    if (bound) {
        bound = listen_on(*admin_, settings_.admin, inherited.admin);
    }
    if (bound && !settings_.metrics.host.empty()) {
        metrics_service_ = std::make_unique<net::http_service>(control_, scrapers, of_operators);
        metrics_ =
            std::make_unique<net::listener>(control_, std::vector<net::http_service*>{metrics_service_.get()}, log_);
        // Others than operators may reach it, and what is reserved is for these.
        metrics_->set_limits(
            {.connections = settings_.limits.metrics_connections,
             .refusal = settings_.metrics_tls.empty() ? responses::refusal_of_connection() : std::string{}}
        );
        bound = listen_on(*metrics_, settings_.metrics, inherited.metrics);
    }
    return bound;
}

core::result<> listeners::start_tls(certificate_watch::receiver traffic)
{
    const auto to_admin = [this](const net::tls_context& certificates) { admin_service_->set_tls(certificates); };
    const auto to_metrics = [this](const net::tls_context& certificates) {
        if (metrics_service_) {
            metrics_service_->set_tls(certificates);
        }
    };
    return certificates_.start({std::move(traffic), to_admin, to_metrics});
}

void listeners::start()
{
    traffic_->start();
    admin_->start();
    if (metrics_) {
        metrics_->start();
    }
}

void listeners::end_traffic()
{
    traffic_->accept_waiting();
    traffic_->close();
}

void listeners::end_operators()
{
    admin_->accept_waiting();
    admin_->close();
    if (metrics_) {
        metrics_->accept_waiting();
        metrics_->close();
    }
    // Behind those who were accepted just now: a service that drains takes nobody.
    net::asio::post(control_.get_executor(), [this] {
        admin_service_->drain();
        if (metrics_service_) {
            metrics_service_->drain();
        }
    });
}

std::vector<std::pair<std::string, int>> listeners::sockets()
{
    std::vector<std::pair<std::string, int>> all{{"traffic", traffic_->socket()}, {"admin", admin_->socket()}};
    if (metrics_) {
        all.emplace_back("metrics", metrics_->socket());
    }
    return all;
}

inherited_listeners listeners::share()
{
    const auto share_one = [](net::listener& of) -> std::optional<net::inherited_socket> {
        return net::inherited_socket{core::descriptor{::fcntl(of.socket(), F_DUPFD_CLOEXEC, 0)}, of.local()};
    };
    inherited_listeners out;
    out.traffic = share_one(*traffic_);
    out.admin = share_one(*admin_);
    if (metrics_) {
        out.metrics = share_one(*metrics_);
    }
    return out;
}

void listeners::close()
{
    traffic_->close();
    admin_->close();
    if (metrics_) {
        metrics_->close();
    }
}

void listeners::end()
{
    admin_->close();
    admin_service_->abort();
    if (metrics_) {
        metrics_->close();
        metrics_service_->abort();
    }
}

void listeners::apply(const config::settings& now, const model::changed_settings& changed)
{
    if (changed.has("access")) {
        certificates_.set_client_authorities(config::client_authorities(now.access));
    }
}

bool listeners::busy() const noexcept
{
    return admin_service_->open() > 0 || (metrics_service_ && metrics_service_->open() > 0);
}

void listeners::collect(telemetry::metrics& into) const
{
    into.add(telemetry::metric("cardea_connections_refused_total"), std::uint64_t{traffic_->refused()});
    certificates_.collect(into);
}

}  // namespace gateway::lifecycle
