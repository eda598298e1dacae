// One call of A2A on its way to its agent, and what the routes of such calls have in common. One thread, that of the caller's loop.
#pragma once

#include "a2a/dialect/rest_target.hpp"
#include "gateway/a2a/call_fields.hpp"
#include "gateway/a2a/dialect_bridge.hpp"
#include "gateway/a2a/task_guard.hpp"
#include "gateway/model/answered_card.hpp"
#include "gateway/relay/relay_call.hpp"
#include "gateway/request/agent_relay.hpp"
#include "gateway/request/route_base.hpp"
#include "net/loop/shared_budget.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::a2a {

using request::request_context;

constexpr ::a2a::error_profile profile_of(core::error_edition edition) noexcept
{
    return edition == core::error_edition::v1_0_0 ? ::a2a::error_profile::v1_0_0 : ::a2a::error_profile::v1_0_1;
}

// Lives in the coroutine of its route.
struct a2a_call {
    explicit a2a_call(const request_context& request)
        : edited_share{request.caller.bodies()}
    {
    }

    relay::relay_call relayed{};  // to be passed on once it has an agent
    task_references named{};
    std::optional<extension_terms> speaks{};        // nullopt: nothing is said of extensions
    std::optional<model::card_position> card{};     // the answer holds one, which has to point at the gateway
    std::optional<model::card_position> managed{};  // an extended card of the gateway's own is the answer
    model::task_home home = 0;                      // of new tasks; 0: the agent has one address
    dialect_bridge* bridge = nullptr;               // among the edits of `relayed`; null: the call is not translated
    std::string edited_body{};                      // that `relayed` has, unless that is as it came
    net::budget_share edited_share;                 // for `edited_body`

    bool passes() const noexcept { return relayed.agent != nullptr; }
};

class a2a_route : public request::route_base {
public:
    // References outlive the route.
    a2a_route(
        model::control_services& control,
        const config::settings& settings,
        const request::local_snapshot& known,
        request::agent_relay& relays
    )
        : route_base{control, settings, known},
          relays_{relays}
    {
    }

protected:
    // For the first calls of the agent, which is set: waits for its card, which may say where calls go and what it speaks. Fails with
    // upstream_timeout if the caller's deadline comes first, and with draining.
    net::routine<core::result<>> await_card(request_context& request);

    // Waits for it before a call with this JSON-RPC method. False: the request is answered, because of that or because the caller may
    // not make the call where the agent is now.
    net::routine<bool> await_card_of_call(request_context& request, std::string method);

    // The call of the agent, which is set, goes on; that of a bridged MCP server at the bridge, which becomes the agent of the request.
    // False: the agent takes no calls of A2A.
    static bool goes_to_agent(request_context& request);

    // A call of an agent that speaks another dialect.
    struct bridged {
        ::a2a::dialect caller;
        ::a2a::operation what = ::a2a::operation::none;
        std::string_view payload;                    // as a2a::incoming_request::payload
        const ::a2a::rest_target* target = nullptr;  // of HTTP+JSON
        const model::agent_interface* to =
            nullptr;           // of the agent; null: JSON-RPC of the caller's generation at its call_url
        bool checked = false;  // as a2a::incoming_request::checked
    };

    // Sets call.relayed to the translated request, or answers a request that cannot be translated. What `asked` refers to outlives the
    // routine, and its payload the request.
    net::routine<> translate(request_context& request, a2a_call& call, bridged asked);

    // Writes the head of the request that the agent gets at `path`: with the query of this one, less the credentials in it that do not
    // pass, and with the agent's own.
    static void write_head(const request_context& request, a2a_call& call, std::string path);

    // Writes the head of the request at this path and query.
    static void write_head_at(const request_context& request, a2a_call& call, const std::string& target);

    // Sets call.relayed to a request with that head and with `body`, which the caller's connection holds.
    static relay::relay_call& set_call(const request_context& request, a2a_call& call, std::string_view body);

    // The call goes to this interface, so that a task which its answer shows lives there; null: none.
    static void note_home(const request_context& request, a2a_call& call, const model::agent_interface* to) noexcept;

    // The call goes as it is to an interface that speaks this generation. One of 1.0 is told so (specification 1.0.1 section 3.6.1),
    // unless the caller names a version that Cardea does not know.
    static void say_version(const request_context& request, a2a_call& call, ::a2a::generation spoken) noexcept;

    // After translate(): the answer holds a card, which becomes one of the caller's dialect.
    static void add_card(a2a_call& call, ::a2a::dialect caller);

    // After call.relayed has been set: if this is a list and tasks are kept apart, the caller sees its own alone.
    void filter_task_list(const request_context& request, a2a_call& call, ::a2a::dialect caller, ::a2a::operation what)
        const;

    // Says why there is no extended card of the agent, which is set: its kind has none, none is configured, or its card says that it has
    // none (A2A 1.0.1 section 3.1.11), unless `extended_card: proxy` knows better. Nothing: there may be one.
    std::optional<core::error> no_extended_card(request_context& request) const;

    // The terms of extensions of a call of the agent, which is set, by the card that is known of it.
    extension_terms extension_terms_of(request_context& request, ::a2a::generation caller, ::a2a::generation agent)
        const;

    // The last step of a route: passes call.relayed on with what A2A adds to it, or answers with the managed card; else the request is
    // answered already. Both outlive the routine.
    net::routine<> finish(request_context& request, a2a_call& call);

    request::agent_relay& relays_;

private:
    std::optional<net::routine<>> set_extensions(request_context& request, a2a_call& call) const;
    net::routine<> pass_in_context(request_context& request, a2a_call& call);
    net::routine<> answer_managed(request_context& request, model::card_position as);
    net::routine<core::result<std::string>> make_managed(request_context& request, ::a2a::card_dialect dialect);
};

}  // namespace gateway::a2a
