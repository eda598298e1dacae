#include "gateway/wiring/access_publication.hpp"

#include "core/keyed_hash.hpp"

#include <algorithm>
#include <utility>

namespace gateway::wiring {

bool is_about_access(const std::vector<std::string_view>& settings)
{
    return std::ranges::any_of(settings, [](auto path) {
        return path == "access" || path == "admin_access" || path == "register.token";
    });
}

void publish_access(
    const access_listeners& to,
    const config::settings& now,
    std::shared_ptr<const access::access_plan> before
)
{
    const bool ended = before == nullptr;
    const access::access_plans plans{
        access::access_plan::make(now.access, std::move(before), to.public_base),
        access::access_plan::make_for_registration(now.access, now.registration.token, to.public_base),
        // Not the admin listener's: whoever fails on `listen` would lock out operators who share the address.
        std::make_shared<access::failure_limit>(now.limits.failed_credentials, core::keyed_hash{}({}, {})[0])
    };
    for (const auto& each : to.workers) {
        each->set_access(plans);
    }
    if (now.admin_access == core::admin_access::scopes) {
        to.admin.set_plans(plans);
    } else if (ended) {
        to.admin.set_plans({});
    }
}

}  // namespace gateway::wiring
