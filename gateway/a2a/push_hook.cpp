#include "gateway/a2a/push_hook.hpp"

#include "a2a/dialect/answer.hpp"
#include "core/ascii.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "gateway/a2a/answer_edits.hpp"
#include "gateway/request/responder.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace gateway::a2a {
namespace {

std::string text_of(std::string_view raw)
{
    return raw.size() < 2 ? std::string{} : core::unescape_json(raw.substr(1, raw.size() - 2));
}

::a2a::refusal refused(std::string member, std::string_view why)
{
    return {::a2a::rpc_code::invalid_params, std::move(member), why};
}

}  // namespace

bool names_push(std::string_view method)
{
    auto plain = core::folded(method);
    std::erase(plain, '_');
    return plain.find("pushnotification") != std::string::npos;
}

std::optional<::a2a::refusal> push_mediation::objection(const ::a2a::placed_push_config& at) const
{
    if (const auto why = model::objection_to_push_url(text_of(at.url), settings)) {
        return refused("url", *why);
    }
    if (!model::is_field_value(text_of(at.token))) {
        return refused("token", "must be visible ASCII");
    }
    if (!model::is_field_value(::a2a::push_authorization(at.authentication))) {
        return refused("authentication", "must be visible ASCII");
    }
    if (at.url.size() + at.token.size() + at.authentication.size() > settings.limits.push_config) {
        return refused({}, "is a push notification configuration over the limit of its size");
    }
    return std::nullopt;
}

std::string push_mediation::mediated(
    std::string_view body,
    const std::string& agent,
    const std::vector<::a2a::placed_push_config>& found
) const
{
    const auto& addresses = *known.push_addresses();
    std::vector<::a2a::push_replacement> with;
    for (const auto& each : found) {
        model::push_receiver receiver;
        receiver.url = text_of(each.url);
        receiver.token = each.token;
        receiver.authentication = each.authentication;
        receiver.version = caller.version;
        receiver.proof = addresses.new_proof();
        receiver.owner = owner;
        auto& by = with.emplace_back();
        by.at = each;
        by.url = '"' + model::public_address(known.public_base(), agent);
        by.url.append(model::push_path).append(addresses.seal(agent, receiver)).append("\"");
        by.token = '"' + receiver.proof + '"';
        by.authentication = ::a2a::bearer_push_authentication(caller.version, receiver.proof);
    }
    return ::a2a::with_push_configs(body, with);
}

namespace {

using core::errc;

// Longer texts are read on another thread.
constexpr std::size_t scanned_at_once = 256 * 1024;

}  // namespace

bool push_hook::applies_to(const request_context& request) const noexcept
{
    return request.agent->takes_a2a() && request.agent->mediates_push;
}

net::routine<::a2a::translation<push_call>> push_hook::mediate(request_context& request, a2a_call& into, push_call call)
    const
{
    if (call.payload.empty() && call.method.empty()) {
        co_return call;  // of HTTP+JSON, without a body
    }
    if (!applies_to(request)) {
        co_return call;
    }
    if (call.what == ::a2a::operation::none && names_push(call.method)) {
        co_return ::a2a::refusal{::a2a::rpc_code::method_not_found, {}, "is no method of A2A"};
    }
    auto found = co_await find(request, call);
    if (!found) {
        co_return std::move(found).error();
    }
    if (found->empty()) {
        co_return call;
    }
    const auto* const owner = request.principal();
    const push_mediation mediation{
        settings_,
        known_,
        call.caller,
        owner == nullptr ? std::string{} : model::push_owner(owner->provider, owner->id)
    };
    if (auto objection = mediation.objection(found->front())) {
        co_return std::move(*objection);
    }
    // All that changes is in the payload.
    const auto begin = static_cast<std::size_t>(call.payload.data() - call.body.data());
    const auto behind = call.body.size() - begin - call.payload.size();
    into.edited_body = mediation.mediated(call.body, request.agent->record.id, *found);
    call.body = into.edited_body;
    call.payload = call.body.substr(begin, call.body.size() - begin - behind);
    co_return call;
}

net::routine<push_hook::found_configs> push_hook::find(request_context& request, push_call call) const
{
    if (call.payload.size() <= scanned_at_once) {
        co_return ::a2a::find_requested_push(call.caller, call.what, call.payload);
    }
    const auto here = request.caller.owner().get_executor();
    auto asked = control_.long_bodies.ask<found_configs>([call] {
        return ::a2a::find_requested_push(call.caller, call.what, call.payload);
    });
    co_return co_await net::ask(here, here, std::move(asked));
}

net::routine<> push_hook::refuse(request_context& request, ::a2a::dialect caller, ::a2a::refusal why)
{
    if (caller.over == ::a2a::binding::rest) {
        co_await request::respond_refusal(request, caller, why);
        co_return;
    }
    const auto code = why.code == ::a2a::rpc_code::method_not_found ? errc::method_not_found : errc::invalid_params;
    auto failure = core::caller_error(code, why.member + ": " + std::string{why.why});
    if (request.errors.call_id.empty()) {
        co_await request::respond_call_error(request, std::move(failure));  // a notification
        co_return;
    }
    responses::answer answer;
    ::a2a::answer_options options;
    options.id = request.errors.call_id;
    answer.status = ::a2a::append_refusal(answer.body, caller, options, why);
    net::http1::head_writer{answer.fields}.field("Cardea-Error", core::name(code));
    co_await request::respond_error(request, std::move(failure), std::move(answer));
}

void push_hook::restore(const request_context& request, a2a_call& call, const push_call& asked) const
{
    using enum ::a2a::operation;
    const bool has_configs = asked.what == create_push || asked.what == get_push || asked.what == list_push;
    // An agent that is not mediated any more still has our addresses.
    if (!has_configs || !request.agent->takes_a2a() || known_.push_addresses() == nullptr) {
        return;
    }
    push_answer_edit::means with{
        applies_to(request) ? longest_push_answer : settings_.limits.sse_event,
        control_.long_bodies,
        request.caller.owner().get_executor()
    };
    push_answer_edit::question about{request.agent->record.id, asked.caller, asked.what};
    call.relayed.hooks.edits.push_back(
        std::make_unique<push_answer_edit>(std::move(about), known_.push_addresses(), std::move(with))
    );
}

}  // namespace gateway::a2a
