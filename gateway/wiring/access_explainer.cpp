#include "gateway/wiring/access_explainer.hpp"

#include "gateway/access/explain_request.hpp"
#include "gateway/access/explanation.hpp"

#include <chrono>
#include <optional>
#include <utility>

namespace gateway::wiring {

net::task<core::result<core::json>> explain_access(explainer_facts from, core::json params)
{
    auto asked = access::read_explain_request(params);
    params = {};
    if (!asked) {
        co_return std::move(asked).error();
    }
    const auto now = std::chrono::system_clock::now();
    std::optional<access::identified> owner;
    if (asked->credential.empty()) {
        owner = access::named_owner(*asked, from.settings.access, now);
    } else {
        model::presented_credential presented;
        owner = access::shown_owner(*asked, from.plan.get(), now, presented);
        if (!owner) {
            auto verified = co_await from.verifier.verify(std::move(presented));
            owner = verified ? access::identified{std::move(verified->owner)}
                             : access::identified{std::move(verified).error()};
        }
    }
    if (!*owner && owner->error().code == core::errc::invalid_params) {
        co_return std::move(*owner).error();
    }
    const auto* const agent = from.agents.find(asked->asked.agent);
    const access::access_facts facts{
        .plan = from.plan,
        .agent = agent != nullptr && agent->served() ? agent->entry : nullptr,
        .places = from.settings.rules,
        .contained = from.contained
    };
    co_return access::to_json(access::explain(asked->asked, *owner, facts));
}

}  // namespace gateway::wiring
