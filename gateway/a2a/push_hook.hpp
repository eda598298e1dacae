// Calls whose push notifications the gateway delivers: the agent gets an address of the gateway's instead of the caller's, which is sealed
// into it, and callers read their own back. Steps of a route, before the call is prepared for the relay and after. One thread, that of
// the caller's loop; long texts are read elsewhere.
#pragma once

#include "a2a/dialect/push_edit.hpp"
#include "config/settings.hpp"
#include "gateway/a2a/a2a_route.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/request/local_snapshot.hpp"
#include "gateway/request/request_context.hpp"
#include "net/loop/routine.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::a2a {

// Whether a method that A2A does not have looks like one of push notifications, such as those of 0.1: what it says could not be
// mediated.
bool names_push(std::string_view method);

struct push_mediation {
    const config::settings& settings;
    const request::local_snapshot& known;
    ::a2a::dialect caller;
    std::string owner;  // as model::push_receiver::owner

    // Why the caller's URL, token or authentication cannot be taken; nullopt: it can. `at` is where it stands.
    std::optional<::a2a::refusal> objection(const ::a2a::placed_push_config& at) const;

    // `body`, in which `found` stand, as the agent gets it. There are addresses.
    std::string mediated(
        std::string_view body,
        const std::string& agent,
        const std::vector<::a2a::placed_push_config>& found
    ) const;
};

// A call in its caller's dialect.
struct push_call {
    ::a2a::dialect caller;
    ::a2a::operation what = ::a2a::operation::none;
    std::string_view body;
    std::string_view payload;  // a part of the body: the params of JSON-RPC; of HTTP+JSON all of it
    std::string_view method;   // of JSON-RPC, as it stands there without escapes; else empty
};

class push_hook {
public:
    // References outlive the hook.
    push_hook(model::control_services& control, const config::settings& settings, const request::local_snapshot& known)
        : control_{control},
          settings_{settings},
          known_{known}
    {
    }

    // The call with an address of the gateway's instead of the caller's: with views into `call`, or into into.edited_body. As it is if it
    // has no configuration, or if the agent, which is set, is not mediated. The payload is JSON, or empty. Fails with invalid_params and
    // method_not_found. What `call` points into outlives the routine.
    net::routine<::a2a::translation<push_call>> mediate(request_context& request, a2a_call& into, push_call call) const;

    // After mediate(): whether there is room for what it has made.
    static bool has_room(a2a_call& call) noexcept { return call.edited_share.set(call.edited_body.capacity()); }

    // Answers a call that mediate() has refused.
    static net::routine<> refuse(request_context& request, ::a2a::dialect caller, ::a2a::refusal why);

    // After call.relayed has been set to the result of mediate(), or to the call of an agent that is not mediated: callers read their own
    // addresses in the answer, where they are sealed into ours. Only the caller and the operation of `asked` count.
    void restore(const request_context& request, a2a_call& call, const push_call& asked) const;

private:
    using found_configs = ::a2a::translation<std::vector<::a2a::placed_push_config>>;
    net::routine<found_configs> find(request_context& request, push_call call) const;
    bool applies_to(const request_context& request) const noexcept;

    model::control_services& control_;
    const config::settings& settings_;
    const request::local_snapshot& known_;
};

}  // namespace gateway::a2a
