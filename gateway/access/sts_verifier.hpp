// Asks the Security Token Service of AWS who signed the request in a bearer token. Control loop.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/access/asked_provider.hpp"
#include "gateway/model/accepted_credential.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/types.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gateway::access {

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
