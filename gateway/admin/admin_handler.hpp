// The admin listener: what Prometheus and orchestrators ask, and the management methods. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/admin/admin_guard.hpp"
#include "gateway/admin/status_pages.hpp"
#include "gateway/console/events.hpp"
#include "gateway/console/page.hpp"
#include "gateway/console/try.hpp"
#include "gateway/management/management.hpp"
#include "gateway/model/upgrade.hpp"
#include "gateway/reload/reload.hpp"
#include "gateway/responses/answer.hpp"
#include "gateway/responses/host_policy.hpp"
#include "net/server/caller_exchange.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::admin {

// The gateway, as far as the admin listener needs it. References outlive the handler.
struct admin_services {
    const status_services& status;
    reload::reloader& reloads;
    std::function<net::task<model::handover_report>()> hand_over;
    management::management& methods;
    const model::control_services& control;
    console::tries::server serve_within;  // gives a connection to a worker
    const std::string& public_base;
    console::event_feed& events;
};

class admin_handler final : public operator_handler {
public:
    // References outlive the handler.
    admin_handler(admin_services services, const config::settings& settings, const core::logger& log);

    // Which says who may ask for what.
    admin_guard& guard() noexcept { return guard_; }

    net::routine<> handle(net::caller_exchange& caller) override;

private:
    std::optional<responses::answer> refusal_of_page(net::caller_exchange& caller, std::string_view path);
    net::routine<responses::answer> answer_post(net::caller_exchange& caller, std::string path, admin_rights rights);
    net::routine<responses::answer> reload(net::caller_exchange& caller);
    net::routine<responses::answer> hand_over(net::caller_exchange& caller);
    net::routine<responses::answer> manage(net::caller_exchange& caller, std::string body, admin_rights rights);
    net::routine<responses::answer> enroll(net::caller_exchange& caller, std::string body, admin_rights rights);

    admin_services services_;
    admin_guard guard_;
    status_pages pages_;
    console::page page_;
    console::tries tries_;
    responses::host_policy hosts_;
    const config::settings& settings_;
};

}  // namespace gateway::admin
