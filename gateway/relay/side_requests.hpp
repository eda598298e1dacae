// Requests of the gateway's own to the agent of a call, while the answer to that call is on its way: what a translation has to
// know besides. On the thread of the caller's loop.
#pragma once

#include "core/error.hpp"
#include "gateway/relay/agent_exchange.hpp"
#include "gateway/relay/call_wait.hpp"
#include "net/server/caller_exchange.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::relay {

struct side_answer {
    unsigned status = 0;
    std::string body;
};

class side_requests {
public:
    // `main` has the answer to the call. References outlive the object.
    side_requests(net::caller_exchange& caller, agent_exchange& main, exchange_wait& wait) noexcept
        : caller_{caller},
          main_{main},
          wait_{wait}
    {
    }

    // The call as it went to the agent, and whether all of it is there.
    const relay_call& call() const noexcept { return main_.call(); }
    bool call_sent() const noexcept { return main_.request_done(); }

    // A request as the call's own, but for its method, head, codec and body, which outlive the routine. Fails as
    // agent_exchange::begin() and a wait do, and with answer_untranslatable: the answer is over `limit` or in a coding.
    net::routine<core::result<side_answer>> ask(
        net::http1::method verb,
        std::string_view head,
        std::string_view body,
        std::uint64_t limit,
        std::shared_ptr<side_codec> codec = nullptr
    );

private:
    net::caller_exchange& caller_;
    agent_exchange& main_;
    exchange_wait& wait_;
};

}  // namespace gateway::relay
