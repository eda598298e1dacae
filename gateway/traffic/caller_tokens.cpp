#include "gateway/traffic/caller_tokens.hpp"

#include "gateway/access/credential_reader.hpp"
#include "gateway/model/endpoint_entries.hpp"
#include "gateway/model/sent_credentials.hpp"
#include "gateway/traffic/request_context.hpp"
#include "net/server/timed_ask.hpp"

#include <string>
#include <utility>

namespace gateway::traffic {
namespace {

using core::errc;

struct shown_token {
    std::string_view text;
    std::string_view type;
};

core::error no_token(const char* why)
{
    return core::caller_error(errc::forbidden, std::string{"the agent takes tokens of its callers: "} + why);
}

relay_call& call_of(request_context& request) noexcept
{
    return *request.call;  // NOLINT(bugprone-unchecked-optional-access): only what is relayed comes here
}

core::result<shown_token> token_of_caller(const request_context& request)
{
    const auto* const owner = request.principal();
    if (owner == nullptr || !request.access) {
        return no_token("the caller is anonymous");
    }
    const auto type = request.access->exchanged_as(owner->provider);
    const auto read = request.access->reader().read(request.caller.head());
    const auto found = read ? *read : std::nullopt;
    if (type.empty() || !found || found->field != nullptr) {
        return no_token("the caller has another credential");
    }
    return shown_token{found->written, type};
}

model::exchange_request question(const relay_call& call, const shown_token& shown, std::string principal)
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

void put(request_context& request, std::shared_ptr<caller_token> token, std::string_view subject_type)
{
    auto& call = call_of(request);
    const auto line = token_line(token->text);
    std::string head;
    head.reserve(call.head.size() + line.size());
    head.append(call.head).append(line);
    request.head = std::move(head);
    call.head = request.head;
    call.token = std::move(token);
    call.subject_type = subject_type;
}

}  // namespace

core::result<bool> caller_tokens::find(request_context& request)
{
    const auto shown = token_of_caller(request);
    if (!shown) {
        return shown.error();
    }
    const auto& record = call_of(request).agent->record;
    const auto now = request.caller.owner().now();
    const auto* const known = known_.find(hash_(record.id, shown->text), now);
    // A token is good for the client that it was asked for with, and may have been replaced by one that ends before.
    const bool holds = known != nullptr && now < (*known)->until && (*known)->client == *model::oauth_client_of(record);
    if (holds) {
        put(request, *known, shown->type);
    }
    return holds;
}

net::routine<core::result<>> caller_tokens::ask(request_context& request, core::steady_time due)
{
    const auto shown = token_of_caller(request);
    if (!shown) {
        co_return shown.error();
    }
    const auto principal = request.principal()->provider + ' ' + request.principal()->id;
    auto asked = control_.exchange(question(call_of(request), *shown, principal));
    auto told = co_await net::ask_until(request.caller, due, control_.executor(), std::move(asked));
    if (!told) {
        co_return net::gave_up(request.caller);
    }
    auto& exchanged = *told;
    if (!exchanged) {
        co_return std::move(exchanged).error();
    }
    const auto& record = call_of(request).agent->record;
    auto token = std::make_shared<caller_token>(
        *model::oauth_client_of(record),
        std::move(exchanged->text),
        exchanged->until,
        principal
    );
    known_.insert(hash_(record.id, shown->text), token, token->until);
    put(request, std::move(token), shown->type);
    co_return core::result<>{};
}

namespace {

// Why a wait for a token instead of a refused one gave nothing by call.deadline: it was the OAuth server that had no time left, not
// the agent.
core::error no_other_token(const net::server_connection& caller, const relay_call& call)
{
    if (caller.aborted() || call.deadline.asked) {
        return net::gave_up(caller);
    }
    return core::upstream_error(errc::upstream_credentials, "no other token within the agent's timeout");
}

// Another token in call.token, for whoever comes later too, instead of that in the head of the call.
net::routine<core::result<bool>>
renew_caller_token(model::control_services& control, net::server_connection& caller, const relay_call& call)
{
    if (!call.head.ends_with(token_line(call.token->text))) {
        co_return true;  // another call has done it meanwhile
    }
    const auto read = call.credentials->read(caller.head());
    const auto shown = read ? *read : std::nullopt;
    if (!shown) {
        co_return false;
    }
    auto about = question(call, {shown->written, call.subject_type}, call.token->principal);
    about.refused = call.token->text;
    auto asked = control.exchange(std::move(about));
    auto told = co_await net::ask_until(caller, call.deadline.due, control.executor(), std::move(asked));
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
renew_token(model::control_services& control, net::server_connection& caller, relay_call& call, std::string& head)
{
    const auto begun = caller.owner().now();
    if (call.token) {
        // Not const: a const result<bool> is returned as the bool that says whether it has a value.
        auto renewed = co_await renew_caller_token(control, caller, call);
        if (renewed && *renewed) {
            const auto old_line = call.head.rfind("\r\n", call.head.size() - 3) + 2;
            head = std::string{call.head.substr(0, old_line)} + token_line(call.token->text);
            call.head = head;
            call.deadline.put_off(caller.owner().now() - begun);
        }
        co_return renewed;
    }
    auto asked = control.agent_with_token(call.agent->record.id, call.agent->token);
    const auto entry = co_await net::ask_until(caller, call.deadline.due, control.executor(), std::move(asked));
    if (!entry) {
        co_return no_other_token(caller, call);
    }
    const bool same = *entry != nullptr && (*entry)->record == call.agent->record;
    if (same) {
        call.agent = model::endpoint_of(*entry, call.agent->number);
        head = head_with_token(call.head, *call.agent);
        call.head = head;
        call.deadline.put_off(caller.owner().now() - begun);
    }
    co_return same;
}

}  // namespace gateway::traffic
