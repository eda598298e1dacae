// The admin listener: what Prometheus and orchestrators ask, and the management methods. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/admin_guard.hpp"
#include "gateway/management/management.hpp"
#include "gateway/metrics_feed.hpp"
#include "gateway/model/answer.hpp"
#include "gateway/model/host_policy.hpp"
#include "gateway/reload.hpp"
#include "net/server/server_connection.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace gateway {

// What the admin listener asks of the gateway as a whole.
class admin_services {
public:
    virtual ~admin_services() = default;

    virtual bool ready() const noexcept = 0;              // takes traffic
    virtual bool audit_fails() const noexcept = 0;        // the latest line for the audit was lost
    virtual std::unique_ptr<metrics_feed> metrics() = 0;  // outlived by the services
    virtual net::task<reload_report> reload() = 0;
};

class admin_handler final : public net::http_handler {
public:
    // References outlive the handler.
    admin_handler(
        admin_services& services,
        model::control_services& control,
        management::management& methods,
        const config::settings& settings,
        const core::logger& log
    );

    // Which says who may ask for what.
    admin_guard& guard() noexcept { return guard_; }

    net::routine<> handle(net::server_connection& caller) override;
    net::routine<> refuse(net::server_connection& caller, core::error why) override;
    void failed(std::string_view problem) noexcept override;
    void on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept override;

private:
    model::answer answer_get(std::string_view path) const;
    net::routine<> send_metrics(net::server_connection& caller);
    net::routine<model::answer> answer_post(net::server_connection& caller, std::string path, admin_rights rights);
    net::routine<model::answer> reload(net::server_connection& caller);
    net::routine<model::answer> manage(net::server_connection& caller, std::string body, admin_rights rights);
    net::routine<model::answer> enroll(net::server_connection& caller, std::string body, admin_rights rights);

    admin_services& services_;
    admin_guard guard_;
    management::management& methods_;
    model::host_policy hosts_;
    const config::settings& settings_;
    const core::logger& log_;
};

}  // namespace gateway
