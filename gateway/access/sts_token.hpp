// Bearer tokens that hold a request to the Security Token Service of AWS, signed by whoever sends the token: what it says of the
// signer is whose the token is. Pure.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/accepted_credential.hpp"
#include "net/client/fetch.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace gateway::access {

// Then comes the URL of the request in base64url.
inline constexpr std::string_view sts_token_prefix = "forge-aws-v1.";

inline constexpr std::size_t max_sts_answer = 64 * 1024;          // bytes
inline constexpr std::chrono::seconds sts_timeout{5};             // of one request
inline constexpr std::chrono::seconds sts_clock_difference{300};  // by which a request may be signed in the future

struct sts_question {
    net::fetch_request request;
    core::wall_time expires;  // as the request says
};

// The request in a token that begins with the prefix: a GET of https://HOST/?QUERY, where HOST is allowed, byte for byte
// (http, too, for a loopback host), and the query is a presigned GetCallerIdentity that signs no header but Host. So
// a request that was signed for another service cannot be used here, as far as such services ask for a header of theirs. Fails
// with unauthenticated, also for a request that has expired.
core::result<sts_question>
read_sts_token(std::string_view token, const core::aws_sigv4_provider& settings, core::wall_time now);

// The principal's id is the Arn, its tenant the Account, and it has the claim `user_id`. 401 and 403 are a refusal: fails with
// unauthenticated. Anything else but an answer in JSON with these members fails with access_unavailable.
core::result<core::principal>
read_sts_answer(const core::result<net::fetch_response>& answer, const std::string& provider);

}  // namespace gateway::access
