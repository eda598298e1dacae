// Answers access/explain by the settings, agents, credentials and containments of the moment. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/access/credential_verifier.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/containments.hpp"
#include "net/loop/types.hpp"

#include <memory>

namespace gateway::wiring {

struct explainer_facts {
    const config::settings& settings;
    const management::registry& agents;
    access::credential_verifier& verifier;
    std::shared_ptr<const access::access_plan> plan;  // that callers are judged by; null: they need no credential
    model::containments_pointer contained;
};

// Result of access/explain. A shown credential is asked about as a caller's is, but it counts as nobody's attempt. Fails with invalid_params,
// as access::read_explain_request(). References outlive the task.
net::task<core::result<core::json>> explain_access(explainer_facts from, core::json params);

}  // namespace gateway::wiring
