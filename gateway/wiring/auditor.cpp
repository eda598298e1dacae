#include "gateway/wiring/auditor.hpp"

#include "gateway/telemetry/metric_family.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <utility>

namespace gateway::wiring {

auditor::auditor(net::loop& control, const core::logger& log)
    : loop_{control},
      log_{log},
      denials_{[this](const model::denied_requests& requests) { trail_.access_denied(requests); }}
{
}

core::result<> auditor::open(const std::string& place, telemetry::replica_field replica)
{
    if (place == "off") {
        return {};
    }
    auto file = telemetry::audit_file::open(place);
    if (!file) {
        return std::move(file).error();
    }
    file_ = std::move(*file);
    file_->set_replica(std::move(replica));
    trail_ = model::audit_trail{file_.get()};
    thread_ = std::make_unique<threads::side_thread>();
    loop_.timers().add(*this);
    return {};
}

void auditor::add(const model::audit_notes& notes)
{
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock{mutex_};
    for (const auto& each : notes.denied) {
        denials_.add(each, now);
    }
    for (const auto& each : notes.keys) {
        if (keys_.insert(each).second) {
            trail_.key_first_used(each);
        }
    }
    dropped_ += notes.dropped;
}

void auditor::reopen()
{
    if (file_) {
        net::asio::co_spawn(loop_.get_executor(), reopen_elsewhere(), [this](const std::exception_ptr& bug) {
            net::log_thrown(bug, log_, "audit");
        });
    }
}

net::task<> auditor::reopen_elsewhere()
{
    std::function<core::result<>()> work = [this] { return file_->reopen(); };
    const auto done = co_await thread_->ask(std::move(work));
    if (!done) {
        log_.write(core::log_level::error, "audit_failed", {{"reason", done.error().detail}});
    }
}

void auditor::end()
{
    const std::lock_guard lock{mutex_};
    denials_.end();
}

void auditor::collect(telemetry::metrics& into) const
{
    const std::lock_guard lock{mutex_};
    const auto dropped = dropped_ + denials_.dropped() + (file_ ? file_->dropped() : 0);
    into.add(telemetry::metric("cardea_audit_dropped_total"), dropped);
}

void auditor::on_sweep(core::steady_time now)
{
    const std::lock_guard lock{mutex_};
    denials_.sweep(now);
}

}  // namespace gateway::wiring
