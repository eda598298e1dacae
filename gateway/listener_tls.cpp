#include "gateway/listener_tls.hpp"

#include "net/tls/tls_files.hpp"

#include <chrono>
#include <utility>

namespace gateway {
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
    read_ = stamps();  // before reading: what changes meanwhile is read again
    auto context = net::make_server_tls(certificates_, tickets_);
    if (!context) {
        return std::move(context).error();
    }
    current_ = std::move(*context);
    warn_of_ends(std::chrono::system_clock::now());
    return {};
}

// It is shown all the same: a caller may still take it, and nobody is served better by nothing.
void listener_tls::warn_of_ends(core::wall_time now) const
{
    for (const auto& each : certificates_) {
        const auto end = net::valid_until(each.cert_file);
        if (end && *end - now < warning_time) {
            const auto hours = std::chrono::duration_cast<std::chrono::hours>(*end - now).count();
            log_.write(
                core::log_level::warn,
                "certificate_expiring",
                {{"listener", listener_}, {"cert", each.cert_file}, {"hours", hours}}
            );
        }
    }
}

bool listener_tls::refresh(bool asked)
{
    if (certificates_.empty()) {
        return false;
    }
    auto now = stamps();
    if (!asked && now == read_) {
        return false;
    }
    read_ = std::move(now);
    auto context = net::make_server_tls(certificates_, tickets_);
    if (!context) {
        log_.write(
            core::log_level::error,
            "certificate_reload_failed",
            {{"listener", listener_}, {"reason", context.error().detail}}
        );
        return false;
    }
    current_ = std::move(*context);
    log_.write(
        core::log_level::info,
        "certificates_reloaded",
        {{"listener", listener_}, {"count", certificates_.size()}}
    );
    warn_of_ends(std::chrono::system_clock::now());
    return true;
}

std::vector<file_stamp> listener_tls::stamps() const
{
    std::vector<file_stamp> all;
    for (const auto& each : certificates_) {
        all.push_back(stamp_of(each.cert_file));
        all.push_back(stamp_of(each.key_file));
    }
    return all;
}

}  // namespace gateway
