// Checks the credentials that cannot be judged at once, each by the provider that it is for. Control loop.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/access/external_verifier.hpp"
#include "gateway/access/key_set_source.hpp"
#include "gateway/access/sts_verifier.hpp"
#include "gateway/access/token_verifier.hpp"
#include "gateway/model/credential_checks.hpp"
#include "gateway/model/plane.hpp"
#include "net/loop/types.hpp"

#include <functional>
#include <vector>

namespace gateway::access {

class credential_verifier final : public model::plane {
public:
    // Everything that the services refer to outlives the verifier and the loop.
    credential_verifier(const key_set_services& services, const std::function<core::wall_time()>& wall);

    // From now on. Key sets that are used before and after are kept.
    void set_providers(const std::vector<core::access_provider>& providers);

    // The owner of the credential. Fails with unauthenticated; with access_unavailable if the provider that decides cannot tell.
    net::task<core::result<model::accepted_credential>> verify(model::presented_credential presented);

    void apply(const config::settings& now, const model::changed_settings& changed) override;

    // Before the fetcher ends: nothing is fetched any more.
    void stop() override;

    // Of each provider that has one, in their order.
    void collect(telemetry::metrics& into) const override;

private:
    token_verifier tokens_;
    sts_verifier sts_;
    external_verifier external_;
};

}  // namespace gateway::access
