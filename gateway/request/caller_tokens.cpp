#include "gateway/request/caller_tokens.hpp"

#include "gateway/access/access_plan.hpp"
#include "gateway/access/credential_reader.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/relay/token_renewal.hpp"
#include "gateway/request/request_context.hpp"
#include "net/server/timed_ask.hpp"

#include <string>
#include <utility>

namespace gateway::request {
namespace {

using core::errc;

core::error no_token(const char* why)
{
    return core::caller_error(errc::forbidden, std::string{"the agent takes tokens of its callers: "} + why);
}

core::result<relay::shown_token> token_of_caller(const request_context& request)
{
    const auto* const owner = request.principal();
    if (owner == nullptr || !request.sender.access) {
        return no_token("the caller is anonymous");
    }
    const auto type = request.sender.access->exchanged_as(owner->provider);
    const auto read = request.sender.access->reader().read(request.caller.head());
    const auto found = read ? *read : std::nullopt;
    if (type.empty() || !found || found->field != nullptr) {
        return no_token("the caller has another credential");
    }
    return relay::shown_token{found->written, type};
}

void put(relay::relay_call& call, std::shared_ptr<relay::caller_token> token, std::string_view subject_type)
{
    const auto line = relay::token_line(token->text);
    std::string head;
    head.reserve(call.request.head.size() + line.size());
    head.append(call.request.head).append(line);
    call.request.set_head(std::move(head));
    call.token = std::move(token);
    call.caller.subject_type = subject_type;
}

}  // namespace

core::result<bool> caller_tokens::find(request_context& request, relay::relay_call& call)
{
    const auto shown = token_of_caller(request);
    if (!shown) {
        return shown.error();
    }
    const auto& record = call.agent->record;
    const auto now = request.caller.owner().now();
    const auto* const known = known_.find(hash_(record.id, shown->text), now);
    // A token is good for the client that it was asked for with, and may have been replaced by one that ends before.
    const bool holds = known != nullptr && now < (*known)->until && (*known)->client == *model::oauth_client_of(record);
    if (holds) {
        put(call, *known, shown->type);
    }
    return holds;
}

net::routine<core::result<>>
caller_tokens::ask(request_context& request, relay::relay_call& call, core::steady_time due)
{
    const auto shown = token_of_caller(request);
    if (!shown) {
        co_return shown.error();
    }
    const auto principal = request.principal()->provider + ' ' + request.principal()->id;
    auto asked = control_.exchange(relay::exchange_of(call, *shown, principal));
    auto told = co_await net::ask_until(request.caller, due, control_.executor, std::move(asked));
    if (!told) {
        co_return net::gave_up(request.caller);
    }
    auto& exchanged = *told;
    if (!exchanged) {
        co_return std::move(exchanged).error();
    }
    const auto& record = call.agent->record;
    auto token = std::make_shared<relay::caller_token>(
        *model::oauth_client_of(record),
        std::move(exchanged->text),
        exchanged->until,
        principal
    );
    known_.insert(hash_(record.id, shown->text), token, token->until);
    put(call, std::move(token), shown->type);
    co_return core::result<>{};
}

}  // namespace gateway::request
