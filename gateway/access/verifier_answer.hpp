// Question to an external verifier about a bearer token, and the meaning of its answer. Pure.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/accepted_credential.hpp"
#include "net/client/fetch.hpp"

#include <cstddef>
#include <string>
#include <string_view>

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

}  // namespace gateway::access
