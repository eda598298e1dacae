// Questions of the gates of workers to the control loop.
#pragma once

#include "core/error.hpp"
#include "gateway/model/accepted_credential.hpp"
#include "gateway/model/presented_credential.hpp"
#include "net/loop/types.hpp"

namespace gateway::model {

class credential_checks {
public:
    // The loop that tasks of this interface run on. Any thread may ask for it.
    virtual net::executor executor() = 0;

    // The owner of this credential, by the providers that need time to say so. Fails with unauthenticated and access_unavailable.
    virtual net::task<core::result<accepted_credential>> verify(presented_credential presented) = 0;

protected:
    ~credential_checks() = default;
};

}  // namespace gateway::model
