// Tells the listeners who may do what, when the gateway starts and when its configuration changes. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/admin/admin_guard.hpp"
#include "gateway/wiring/worker_settings.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::wiring {

struct access_listeners {
    worker_list workers;
    admin::admin_guard& admin;
    const std::string& public_base;
};

// Whether one of these settings, by their paths, says who may do what.
bool is_about_access(const std::vector<std::string_view>& settings);

// From now on the settings hold. With `before`, until the next call nobody is allowed what that plan does not allow too, and
// the admin listener is opened to nobody.
void publish_access(
    const access_listeners& to,
    const config::settings& now,
    std::shared_ptr<const access::access_plan> before = nullptr
);

}  // namespace gateway::wiring
