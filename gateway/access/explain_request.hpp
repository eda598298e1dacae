// The parameters of access/explain, and whose request they describe. Pure; any thread.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "core/secret.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/access/explanation.hpp"
#include "gateway/model/credential_checks.hpp"

#include <optional>
#include <string>

namespace gateway::access {

// The parameters of access/explain.
struct explain_request {
    access_question asked;
    bool anonymous = false;
    std::optional<core::principal> principal{};  // named, as far as the parameters say
    bool says_scopes = false;                    // they do, and so on: what they do not say is the configuration's
    bool says_groups = false;
    bool says_claims = false;
    core::secret credential{};  // shown; empty: none
    std::string field{};        // of the credential: a header, a cookie or a query parameter; empty: a bearer token
};

// Fails with invalid_params; the detail is the path of a parameter, a colon, and what is wrong with it.
core::result<explain_request> read_explain_request(const core::json& params);

// The owner of a named principal, with what the configuration says of its key or its token. Fails with invalid_params as above for
// a provider that does not exist, and with unauthenticated for a key that is unknown, disabled or expired: the detail is for operators.
identified named_owner(const explain_request& asked, const core::access_settings& access, core::wall_time now);

// The owner of a shown credential, if the plan knows it. nullopt: a provider has to be asked about `presented`, which is set. Fails
// with invalid_params for a field that no provider reads, and as access_plan::judge().
std::optional<identified> shown_owner(
    const explain_request& asked,
    const access_plan* plan,
    core::wall_time now,
    model::presented_credential& presented
);

}  // namespace gateway::access
