#include "gateway/wiring/access_publication.hpp"

#include "core/keyed_hash.hpp"

#include <utility>

namespace gateway::wiring {

namespace {

bool is_about_access(const model::changed_settings& changed)
{
    return changed.has("access") || changed.has("admin_access") || changed.has("register.token");
}

}  // namespace

void access_publication::begin(
    const config::settings& now,
    const config::settings& next,
    const model::changed_settings& changed
)
{
    if (is_about_access(changed)) {
        publish(next, access::access_plan::make(now.access, nullptr, told_.public_base));
    }
}

void access_publication::apply(const config::settings& now, const model::changed_settings& changed)
{
    if (is_about_access(changed)) {
        publish(now, nullptr);
    }
    if (changed.has("access")) {
        const auto before = std::exchange(schemes_, std::make_shared<const access::card_schemes>(now.access));
        told_.card_work.editor().set_access(schemes_);
        told_.cards.make_again(access::card_schemes::difference(before, schemes_), told_.operators);
    }
}

void access_publication::publish(const config::settings& now, std::shared_ptr<const access::access_plan> before)
{
    const bool ended = before == nullptr;
    const access::access_plans plans{
        access::access_plan::make(now.access, std::move(before), told_.public_base),
        access::access_plan::make_for_registration(now.access, now.registration.token, told_.public_base),
        // Not the admin listener's: whoever fails on `listen` would lock out operators who share the address.
        std::make_shared<access::failure_limit>(now.limits.failed_credentials, core::keyed_hash{}({}, {})[0])
    };
    for (const auto& each : told_.workers) {
        each->post([plans](worker::worker& on) { on.handler().set_access(plans); });
    }
    if (now.admin_access == core::admin_access::scopes) {
        told_.admin.set_plans(plans);
    } else if (ended) {
        told_.admin.set_plans({});
    }
}

}  // namespace gateway::wiring
