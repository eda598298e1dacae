// Leave of an agent's breaker to call it, until the breaker hears how the call went. One thread.
#pragma once

#include "core/clock.hpp"
#include "gateway/balancing/breaker.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/model/snapshot.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace gateway::relay {

class call_permit {
public:
    // `control` outlives the permit; it hears of breakers that change.
    explicit call_permit(model::control_services& control) noexcept
        : control_{control}
    {
    }
    ~call_permit() { end(balancing::call_end::unknown, {}); }
    call_permit(const call_permit&) = delete;
    call_permit& operator=(const call_permit&) = delete;

    // Ends the one before as unknown. False: the breaker lets no call pass now. An agent without a breaker may always be called.
    bool take(std::shared_ptr<const model::agent_entry> agent, core::steady_time now)
    {
        end(balancing::call_end::unknown, now);
        if (!agent->breaker) {
            return true;
        }
        permit_ = agent->breaker->admit(now);
        agent_ = std::move(agent);
        return permit_.has_value();
    }

    // Without one: nothing happens.
    void end(balancing::call_end how, core::steady_time now)
    {
        if (!permit_) {
            return;
        }
        auto* group = agent_->reach == nullptr ? nullptr : agent_->reach->group.get();
        const auto change = agent_->breaker->ended(*permit_, how, now, group);
        permit_.reset();
        if (change != balancing::breaker_change::none) {
            control_.breaker_changed(agent_, change);
        }
    }

private:
    model::control_services& control_;
    std::shared_ptr<const model::agent_entry> agent_;   // of the permit
    std::optional<balancing::breaker::permit> permit_;  // nullopt: no call is on its way
};

}  // namespace gateway::relay
