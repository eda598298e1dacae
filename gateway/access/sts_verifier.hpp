// Bearer tokens that hold a request to the Security Token Service of AWS, signed by whoever sends the token: the service says who that
// is. Control loop.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/access/asked_provider.hpp"
#include "gateway/model/credential_checks.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/types.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

class sts_verifier {
public:
    // The fetcher outlives the verifier and the loop, or stop() comes before its end.
    sts_verifier(net::fetcher& fetcher, std::function<core::wall_time()> wall);

    // The first provider of type aws_sigv4 counts; others are passed over.
    void set_providers(const std::vector<core::access_provider>& providers) { provider_.set_providers(providers); }

    // Whether there is such a provider and this is a token for it. Nothing of it has been checked.
    bool recognises(const std::string& token) const;

    // The owner of the token, for a minute and at most until its request expires. Fails as read_sts_token() and read_sts_answer() do,
    // and with access_unavailable if there is no such provider any more, or with the limits of question_line.
    net::task<core::result<model::accepted_credential>> verify(std::string token);

    // No question begins any more.
    void stop() noexcept { provider_.stop(); }

private:
    using asked = asked_provider<core::aws_sigv4_provider>;

    net::task<core::result<model::accepted_credential>> ask(asked::provider_pointer by, std::string token);

    net::fetcher& fetcher_;
    std::function<core::wall_time()> wall_;
    asked provider_;
};

}  // namespace gateway::access
