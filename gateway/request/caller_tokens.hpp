// The tokens of one worker that stand for callers at agents which take no other (RFC 8693): those that it has lately got, so that
// a caller that comes again costs a look. One thread.
#pragma once

#include "core/error.hpp"
#include "core/keyed_hash.hpp"
#include "gateway/access/hashed_cache.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/relay/relay_call.hpp"
#include "net/loop/routine.hpp"
#include "net/server/caller_exchange.hpp"

#include <memory>

namespace gateway::request {

struct request_context;

class caller_tokens {
public:
    // `control` outlives the object.
    explicit caller_tokens(model::control_services& control)
        : control_{control}
    {
    }

    // Puts the token for the caller into the head of the call. Fails with forbidden if the caller has no bearer token that a
    // provider accepted which others can ask too: nobody is asked then. False: it takes a question, ask().
    core::result<bool> find(request_context& request, relay::relay_call& call);

    // Asks for the token first. Fails as model::control_services::exchange(), and as net::gave_up() at `due`. Both outlive the
    // routine.
    net::routine<core::result<>> ask(request_context& request, relay::relay_call& call, core::steady_time due);

private:
    model::control_services& control_;
    core::keyed_hash hash_;
    access::hashed_cache<std::shared_ptr<relay::caller_token>> known_;
};

}  // namespace gateway::request
