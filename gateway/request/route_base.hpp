// Helpers that the functions of the routes of one worker share. Their routines are given requests that outlive them. One thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/access/chain_limits.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/request/local_snapshot.hpp"
#include "gateway/request/request_context.hpp"
#include "gateway/request/responder.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::request {

// The endpoint of the agent that a request goes to first. An agent with one endpoint is that; so is one of which none is usable: the
// call is refused when it would be sent.
std::shared_ptr<const model::agent_entry>
chosen_endpoint(const std::shared_ptr<const model::agent_entry>& agent, const request_context& request);

class route_base {
public:
    // References outlive the object.
    route_base(model::control_services& control, const config::settings& settings, const local_snapshot& known)
        : control_{control},
          settings_{settings},
          known_{known}
    {
    }

    // The agent of the request, if there is one that the caller may know of. Null: not. Holds until the next change.
    const known_agent* visible_agent(request_context& request) const;

protected:
    // Sets request.agent to visible_agent(), if there is one.
    const known_agent* find_agent(request_context& request) const;

    // Whether the caller may call the agent, which is set, with this JSON-RPC method; empty: in another way.
    static bool may_call(const request_context& request, std::string_view method);

    // The card of the agent, which is set, as it is served now; asks the control loop if no card is known that may be served.
    // Without a card there is a failure: that of control_services::card(), loop_detected, or as net::gave_up() at the caller's deadline.
    net::routine<model::card_answer> obtain_card(request_context& request) const;

    void answer_stale(const known_agent& known, model::card_standing standing, model::card_answer& found) const;

    // The agent's address as the caller knows it, which is a name of the agent's own if the request came there: an origin; else
    // empty.
    std::string own_origin(const request_context& request) const;

    // An answer may call an agent so that is not known. Empty: the request came to a name, which does not tell the id.
    static std::string_view asked_agent(const request_context& request) noexcept;

    // The chains that a message names.
    struct named_chains {
        std::string_view trace{};                // a value of `traceparent`; empty: none
        access::chain_limits::name context = 0;  // 0: none
    };

    // Counts a call of an agent in the trace that its caller began, or that its message names, and in the context, until the request
    // ends. The answer to one too many; nullopt: it may go on.
    std::optional<net::routine<>> enter_chains(request_context& request, const named_chains& named) const;

    // Answers a request for an agent that is not known. Says what the client did wrong if its address shows that.
    net::routine<> refuse_agent(request_context& request) const;

    model::control_services& control_;
    const config::settings& settings_;
    const local_snapshot& known_;
};

}  // namespace gateway::request
