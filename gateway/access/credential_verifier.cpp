#include "gateway/access/credential_verifier.hpp"

#include "config/settings.hpp"
#include "gateway/telemetry/metric_family.hpp"

#include <utility>

namespace gateway::access {

credential_verifier::credential_verifier(const key_set_services& services, const std::function<core::wall_time()>& wall)
    : tokens_{services, wall},
      sts_{services.fetcher, wall},
      external_{services.fetcher, wall}
{
}

void credential_verifier::set_providers(const std::vector<core::access_provider>& providers)
{
    tokens_.set_providers(providers);
    sts_.set_providers(providers);
    external_.set_providers(providers);
}

net::task<core::result<model::accepted_credential>> credential_verifier::verify(model::presented_credential presented)
{
    if (!presented.field.empty()) {
        return tokens_.verify(std::move(presented.text), std::move(presented.field));
    }
    if (sts_.recognises(presented.text)) {
        return sts_.verify(std::move(presented.text));
    }
    // The configuration has http_verifier behind all others that read bearer tokens.
    if (external_.is_configured() && !tokens_.recognises(presented.text)) {
        return external_.verify(std::move(presented.text));
    }
    return tokens_.verify(std::move(presented.text));
}

void credential_verifier::apply(const config::settings& now, const model::changed_settings& changed)
{
    if (changed.has("access")) {
        set_providers(now.access.providers);
    }
}

void credential_verifier::stop()
{
    tokens_.stop();
    sts_.stop();
    external_.stop();
}

void credential_verifier::collect(telemetry::metrics& into) const
{
    telemetry::family ages{telemetry::metric("cardea_key_set_age_seconds")};
    for (const auto& [provider, facts] : tokens_.key_sets()) {
        if (facts.age) {
            ages.add({{"provider", provider}}, telemetry::seconds(*facts.age));
        }
    }
    into.add(std::move(ages));
}

}  // namespace gateway::access
