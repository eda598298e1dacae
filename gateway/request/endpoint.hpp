// What the endpoints of a worker have in common. An endpoint serves one route: it answers a request, or sets request.call to
// what remains to be relayed. Its routines are given requests that outlive them. One thread.
#pragma once

#include "config/settings.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/request/local_snapshot.hpp"
#include "gateway/request/request_context.hpp"
#include "gateway/request/responder.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::request {

constexpr ::a2a::error_profile profile_of(core::error_edition edition) noexcept
{
    return edition == core::error_edition::v1_0_0 ? ::a2a::error_profile::v1_0_0 : ::a2a::error_profile::v1_0_1;
}

// The endpoint of the agent that a request goes to first. An agent with one endpoint is that; so is one of which none is usable: the
// call is refused when it would be sent.
std::shared_ptr<const model::agent_entry>
chosen_endpoint(const std::shared_ptr<const model::agent_entry>& agent, const request_context& request);

// Of the principal, or of the address without one.
std::uint64_t caller_hash(const request_context& request);

class endpoint {
public:
    // References outlive the endpoint.
    endpoint(model::control_services& control, const config::settings& settings, const local_snapshot& known)
        : control_{control},
          settings_{settings},
          known_{known}
    {
    }

protected:
    // The agent of the request, if there is one that the caller may know of. Null: not. Holds until the next change.
    const local_snapshot::known_agent* known_agent(request_context& request) const;

    // The same, and sets request.agent.
    const local_snapshot::known_agent* find_agent(request_context& request) const;

    // Whether the caller may call the agent, which is set, with this JSON-RPC method; empty: in another way.
    static bool may_call(const request_context& request, std::string_view method);

    // The card of the agent, which is set, as it is served now; waits for it if none is known or that one is not fresh. Without
    // a card there is a failure: that of control_services::card(), loop_detected, or as net::gave_up() at the caller's deadline.
    net::routine<model::card_answer> obtain_card(request_context& request) const;

    // For the first calls of the agent, which is set: waits for its card, which may say where calls go and what it speaks. Fails with
    // upstream_timeout if the caller's deadline comes first, and with draining.
    net::routine<core::result<>> await_card(request_context& request);

    // The same before a call with this JSON-RPC method. False: the request is answered, because of that or because the caller may not
    // make the call where the agent is now.
    net::routine<bool> await_card_of_call(request_context& request, std::string method);

    // What is asked of an agent that speaks another dialect.
    struct bridged {
        ::a2a::dialect caller;
        ::a2a::operation what = ::a2a::operation::none;
        std::string_view payload;                    // as a2a::incoming_request::payload
        const ::a2a::rest_target* target = nullptr;  // of HTTP+JSON
        const model::agent_interface* to =
            nullptr;  // of the agent; null: JSON-RPC of the caller's generation at its call_url
    };

    // Sets request.call to the translated request, or answers what cannot be translated. What `asked` refers to outlives the
    // routine, and its payload the request.
    net::routine<> translate(request_context& request, bridged asked);

    // After request.call has been set: the call goes to this interface, so that a task which its answer shows lives there; null: none.
    static void note_home(request_context& request, const model::agent_interface* to) noexcept;

    // After request.call has been set: it goes as it is to an interface that speaks this generation. One of 1.0 is told so (specification 1.0.1
    // section 3.6.1), unless the caller names a version that Cardea does not know.
    static void say_version(request_context& request, ::a2a::generation spoken) noexcept;

    // After translate(): the answer to request.call holds a card, which becomes one of the caller's dialect.
    void add_card(request_context& request, ::a2a::dialect caller) const;

    // Why there is no extended card of the agent, which is set: its kind has none, none is configured, or its card says that it has
    // none (A2A 1.0.1 section 3.1.11), unless `extended_card: proxy` knows better. Nothing: there may be one.
    std::optional<core::error> no_extended_card(request_context& request) const;

    // The agent's address as the caller knows it, which is a name of the agent's own if the request came there: an origin; else
    // empty.
    std::string own_origin(const request_context& request) const;

    // What an answer may call an agent that is not known. Empty: the request came to a name, which does not tell the id.
    static std::string_view asked_agent(const request_context& request) noexcept;

    // What a call of the agent, which is set, has to do with extensions, by the card that is known of it.
    relay::extension_terms
    extension_terms_of(request_context& request, ::a2a::generation caller, ::a2a::generation agent) const;

    // The answer to a request for an agent that is not known. Says what the client did wrong if its address shows that.
    net::routine<> refuse_agent(request_context& request) const;

    // Writes the head of the request that the agent gets at `path` to request.head: with the query of this one, less the
    // credentials in it that do not pass, and with the agent's own.
    static void write_head(request_context& request, std::string path);

    // Sets request.call to a request with that head and with `body`, which the caller's connection holds.
    static relay::relay_call& set_call(request_context& request, std::string_view body);

    model::control_services& control_;
    const config::settings& settings_;
    const local_snapshot& known_;
};

}  // namespace gateway::request
