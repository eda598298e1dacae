// The server about itself: its metrics, and the facts of gateway/info.
#include "config/exposure.hpp"
#include "gateway/management/agent_health.hpp"
#include "gateway/model/version.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "gateway/telemetry/process_stats.hpp"
#include "gateway/wiring/server.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::wiring {
namespace {

using telemetry::metric;

// Series with an outcome each.
using outcomes = std::initializer_list<std::pair<std::string_view, std::uint64_t>>;

void add_outcomes(telemetry::metrics& into, const telemetry::metric_row& row, outcomes all)
{
    telemetry::family family{row};
    for (const auto& [outcome, n] : all) {
        family.add({{"outcome", outcome}}, n);
    }
    into.add(std::move(family));
}

}  // namespace

// The families of the server itself, and of parts that are no planes.
void server::collect(telemetry::metrics& into) const
{
    telemetry::family build{metric("cardea_build_info")};
    build.add(
        {{"version", model::version()}, {"revision", model::revision()}, {"compiler", model::compiler()}},
        std::uint64_t{1}
    );
    into.add(std::move(build));
    const auto started = telemetry::seconds(started_.time_since_epoch());
    into.add(metric("cardea_start_time_seconds"), started);
    into.add(metric("process_start_time_seconds"), started);
    into.add(metric("cardea_ready"), status_.ready() ? 1.0 : 0.0);
    into.add(metric("cardea_connections_open"), std::uint64_t{worker::open_connections(workers_)});
    into.add(metric("cardea_dns_failures_total"), shared_.names->failures());
    into.add(metric("cardea_log_lines_dropped_total"), log_hooks_.dropped ? log_hooks_.dropped() : 0);
    const auto& writes = store_.writes();
    telemetry::family written{metric("cardea_store_writes_total")};
    written.add({{"outcome", "ok"}}, writes.ok);
    for (std::size_t i = 0; i < writes.failed.size(); ++i) {
        written.add({{"outcome", core::name(threads::store_writes::failures[i])}}, writes.failed[i]);
    }
    into.add(std::move(written));
    telemetry::family write_times{metric("cardea_store_write_seconds")};
    write_times.add({}, store_times_);
    into.add(std::move(write_times));
    const auto& handovers = upgrade_.counts();
    add_outcomes(
        into,
        metric("cardea_handovers_total"),
        {{"completed", handovers.completed}, {"failed", handovers.failed}, {"refused", handovers.refused}}
    );
    telemetry::collect_process(into);
}

management::process_facts server::facts() const
{
    const auto& reload = reloader_->counts();
    management::process_facts out{
        .started = started_,
        .public_url = public_base_,
        .listeners = {},
        .certificates = {},
        .reload = {reload.last, reload.trigger, reload.problems, reload.needs_restart},
        .connections = worker::open_connections(workers_),
        .overload = overload_.level().load(),
        .store_lasts = store_.durable(),
        .store_shared = store_.shared(),
        .store_trouble = store_.writes().trouble,
        .audit_fails = audit_.failing(),
        .lost_lines = log_hooks_.dropped ? log_hooks_.dropped() : 0,
        .bundles = bundles_->members().published()->size(),
        .no_tries = std::string{config::untriable(settings_)}
    };
    if (replicas_ != nullptr && !replicas_->up()) {
        out.store_trouble = core::errc::store_unreachable;
    }
    out.listeners = {
        {"traffic", listeners_.traffic_address(), !settings_.tls.empty()},
        {"admin", listeners_.admin_address(), !settings_.admin_tls.empty()}
    };
    if (const auto address = listeners_.metrics_address(); !address.empty()) {
        out.listeners.push_back({"metrics", address, !settings_.metrics_tls.empty()});
    }
    for (auto& [listener, file, end] : listeners_.certificates().ends()) {
        out.certificates.push_back({std::move(listener), std::move(file), end});
    }
    return out;
}

std::unique_ptr<admin::metrics_feed> server::metrics()
{
    telemetry::metrics all;
    collect(all);
    management::collect_agents(all, {*registry_, *cards_, *sessions_, management_->calls()});
    for (const auto* each : planes_) {
        each->collect(all);
    }
    auto counted = admin_->guard().totals();
    counted.merge(callers_->totals());
    const admin::metrics_feed::sources from{workers_, *registry_, turns_.operators, long_bodies_};
    return std::make_unique<admin::metrics_feed>(from, std::move(all), counted, settings_.metrics_agents);
}

}  // namespace gateway::wiring
