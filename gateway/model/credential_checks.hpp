// Questions of the gates of workers to the control loop.
#pragma once

#include "core/error.hpp"
#include "gateway/model/accepted_credential.hpp"
#include "gateway/model/presented_credential.hpp"
#include "net/loop/types.hpp"

#include <functional>

namespace gateway::model {

struct credential_checks {
    net::executor executor;  // tasks of verify() run there

    // The owner of this credential, by the providers that need time to say so. Fails with unauthenticated and access_unavailable.
    std::function<net::task<core::result<accepted_credential>>(presented_credential presented)> verify;
};

}  // namespace gateway::model
