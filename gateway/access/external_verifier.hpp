// Asks the service of a provider of type http_verifier whose a bearer token is. Control loop.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/access/asked_provider.hpp"
#include "gateway/model/credential_checks.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::access {

inline constexpr std::size_t max_verifier_answer = 64 * 1024;  // bytes

// POST of `{"token": ...}`.
net::fetch_request verifier_question(const core::http_verifier_provider& settings, std::string_view token);

// 200 with `{"active": true, "principal": "..."}`, and perhaps `scopes`, `groups`, `tenant`, `claims` and `expires` (seconds
// since 1970), is accepted for `cache` or until it expires. `{"active": false}`, 401, 403 and 404 are a refusal: fails with
// unauthenticated. Anything else fails with access_unavailable.
core::result<model::accepted_credential> read_verifier_answer(
    const core::result<net::fetch_response>& answer,
    const std::string& provider,
    core::duration cache,
    core::wall_time now
);

class external_verifier {
public:
    // The fetcher outlives the verifier and the loop, or stop() comes before its end.
    external_verifier(net::fetcher& fetcher, std::function<core::wall_time()> wall);

    // The first provider of this type counts; others are passed over.
    void set_providers(const std::vector<core::access_provider>& providers) { provider_.set_providers(providers); }

    // False: there is no such provider.
    bool is_configured() const noexcept { return provider_.is_configured(); }

    // The owner of the token. Fails with unauthenticated if the service rejects it, and with access_unavailable if it
    // does not say so clearly, in time and below the limits of question_line, or if there is no such provider any more.
    net::task<core::result<model::accepted_credential>> verify(std::string token);

    // No question begins any more.
    void stop() noexcept { provider_.stop(); }

private:
    using asked = asked_provider<core::http_verifier_provider>;

    net::task<core::result<model::accepted_credential>> ask(asked::provider_pointer by, std::string token);

    net::fetcher& fetcher_;
    std::function<core::wall_time()> wall_;
    asked provider_;
};

}  // namespace gateway::access
