#include "gateway/relay/token_renewal.hpp"

#include "gateway/access/credential_reader.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "net/server/timed_ask.hpp"

#include <utility>

namespace gateway::relay {

model::exchange_request exchange_of(const relay_call& call, const shown_token& shown, std::string principal)
{
    return {
        .agent = call.agent->record.id,
        .client = *model::oauth_client_of(call.agent->record),
        .subject = core::secret{std::string{shown.text}},
        .subject_type = shown.type,
        .refused = {},
        .principal = std::move(principal)
    };
}

namespace {

using core::errc;

// Why a wait for a token instead of a refused one gave nothing by call.deadline: it was the OAuth server that had no time left, not
// the agent.
core::error no_other_token(const net::caller_exchange& caller, const relay_call& call)
{
    if (caller.aborted() || call.deadline.asked) {
        return net::gave_up(caller);
    }
    return core::upstream_error(errc::upstream_credentials, "no other token within the agent's timeout");
}

// Another token in call.token, for whoever comes later too, instead of that in the head of the call.
net::routine<core::result<bool>>
renew_caller_token(model::control_services& control, net::caller_exchange& caller, const relay_call& call)
{
    if (!call.request.head.ends_with(token_line(call.token->text))) {
        co_return true;  // another call has done it meanwhile
    }
    const auto read = call.caller.credentials->read(caller.head());
    const auto shown = read ? *read : std::nullopt;
    if (!shown) {
        co_return false;
    }
    auto about = exchange_of(call, {shown->written, call.caller.subject_type}, call.token->principal);
    about.refused = call.token->text;
    auto asked = control.exchange(std::move(about));
    auto told = co_await net::ask_until(caller, call.deadline.due, control.executor, std::move(asked));
    if (!told) {
        co_return no_other_token(caller, call);
    }
    auto& exchanged = *told;
    if (exchanged) {
        call.token->text = std::move(exchanged->text);
        call.token->until = exchanged->until;
    }
    co_return exchanged.has_value();
}

}  // namespace

net::routine<core::result<bool>>
renew_token(model::control_services& control, net::caller_exchange& caller, relay_call& call)
{
    const auto begun = caller.owner().now();
    if (call.token) {
        // Not const: a const result<bool> is returned as the bool that says whether it has a value.
        auto renewed = co_await renew_caller_token(control, caller, call);
        if (renewed && *renewed) {
            const auto old_line = call.request.head.rfind("\r\n", call.request.head.size() - 3) + 2;
            call.request.set_head(std::string{call.request.head.substr(0, old_line)} + token_line(call.token->text));
            call.deadline.put_off(caller.owner().now() - begun);
        }
        co_return renewed;
    }
    auto asked = control.agent_with_token(call.agent->record.id, call.agent->token);
    const auto entry = co_await net::ask_until(caller, call.deadline.due, control.executor, std::move(asked));
    if (!entry) {
        co_return no_other_token(caller, call);
    }
    const bool same = *entry != nullptr && (*entry)->record == call.agent->record;
    if (same) {
        call.agent = model::endpoint_of(*entry, call.agent->number);
        if (call.traits.by_grpc && call.agent->grpc) {
            call.agent = call.agent->grpc;
        }
        call.request.set_head(head_with_token(call.request.head, *call.agent));
        call.deadline.put_off(caller.owner().now() - begun);
    }
    co_return same;
}

}  // namespace gateway::relay
