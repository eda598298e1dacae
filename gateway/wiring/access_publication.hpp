// Tells workers, the admin listener and cards who may do what, when the gateway starts and when its configuration changes. On the control
// loop's thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/access/card_schemes.hpp"
#include "gateway/admin/admin_guard.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/cards/card_thread.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/threads/turns.hpp"
#include "gateway/worker/worker.hpp"

#include <memory>
#include <string>
#include <vector>

namespace gateway::wiring {

class access_publication final : public model::plane {
public:
    // Parts that are told of new access. References outlive this.
    struct audience {
        const std::vector<std::unique_ptr<worker::worker>>& workers;
        admin::admin_guard& admin;
        cards::card_thread& card_work;
        cards::card_plane& cards;
        threads::turns& operators;
        const std::string& public_base;
    };

    explicit access_publication(const audience& told)
        : told_{told}
    {
    }

    // `next` is about to apply instead of `now`: until apply() nobody is allowed what either of them does not allow, and the admin listener
    // is opened to nobody.
    void begin(const config::settings& now, const config::settings& next, const model::changed_settings& changed);

    void apply(const config::settings& now, const model::changed_settings& changed) override;

private:
    void publish(const config::settings& now, std::shared_ptr<const access::access_plan> before);

    audience told_;
    std::shared_ptr<const access::card_schemes> schemes_ =  // which cards have, or will soon
        std::make_shared<const access::card_schemes>(core::access_settings{});
};

}  // namespace gateway::wiring
