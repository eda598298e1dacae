#include "gateway/a2a/a2a_routes.hpp"
#include "gateway/request/router.hpp"

namespace gateway::a2a {
namespace {

// The extended card of a version of the protocol, by its address.
struct extended_form {
    ::a2a::card_dialect dialect;
    ::a2a::method operation;  // asks for the same; the log and the metrics show it
    std::string_view path;    // of the agent
};

constexpr extended_form form_of(request::extended_path asked) noexcept
{
    switch (asked) {
        case request::extended_path::rest_v03:
            return {::a2a::card_dialect::v03_rest, ::a2a::method::get_authenticated_extended_card, "/v1/card"};
        case request::extended_path::rest_v1:
            return {::a2a::card_dialect::v1, ::a2a::method::get_extended_agent_card, "/extendedAgentCard"};
        case request::extended_path::v02:
        case request::extended_path::none:
            break;
    }
    return {::a2a::card_dialect::v03, ::a2a::method::authenticated_extended_card, "/agent/authenticatedExtendedCard"};
}

// The dialect of the caller, by the path; nothing: 0.2, which has the card beside its JSON-RPC.
std::optional<::a2a::dialect> dialect_of(request::extended_path asked) noexcept
{
    if (asked == request::extended_path::v02) {
        return std::nullopt;
    }
    const bool is_1 = asked == request::extended_path::rest_v1;
    return ::a2a::dialect{is_1 ? ::a2a::generation::v1 : ::a2a::generation::v03, ::a2a::binding::rest};
}

// The agent's interface that the request goes to. Null: none is known, or the agent is asked at a path of its own.
const model::agent_interface* interface_for(const model::agent_entry& agent, const request::destination& to)
{
    const auto caller = dialect_of(to.extended);
    if (!caller || request::fits_any(agent.record.relay_paths, to.below)) {
        return nullptr;
    }
    const auto* nearest = model::nearest_interface(agent.interfaces, *caller);
    const bool reached = nearest != nullptr && (nearest->speaks == *caller || agent.record.bridge);
    return reached ? nearest : nullptr;
}

// Where the agent has it. 0.2 has `{url}/../agent/authenticatedExtendedCard`, so that a slash at the end of
// the URL counts; HTTP+JSON has its paths below the URL.
std::string path_at(const model::agent_entry& agent, const request::destination& to)
{
    if (request::fits_any(agent.record.relay_paths, to.below)) {
        return agent.base_path + std::string{to.below};
    }
    const auto path = form_of(to.extended).path;
    if (to.extended != request::extended_path::v02) {
        const auto* interface = interface_for(agent, to);
        return (interface != nullptr ? interface->base_path : agent.base_path) + std::string{path};
    }
    const auto own = agent.upstream->path.substr(0, agent.upstream->path.find('?'));
    return own.substr(0, own.rfind('/')) + std::string{path};
}

}  // namespace

net::routine<> extended_card_route::serve(request_context& request)
{
    a2a_call call{request};
    co_await prepare(request, call);
    if (call.passes() || call.managed) {
        co_await finish(request, call);
    }
}

// Sets what the call has to become, or answers the request.
net::routine<> extended_card_route::prepare(request_context& request, a2a_call& call)
{
    const auto& to = request.to;
    const auto form = form_of(to.extended);
    request.record.where = model::route::call;
    if (const auto spoken = dialect_of(to.extended)) {
        request.errors.rest_version = spoken->version;
    }
    if (!request::reads(request.caller.head().verb)) {
        co_await request::refuse_method(request, request::reading_methods);
        co_return;
    }
    request.record.rpc_method = form.operation;
    if (find_agent(request) == nullptr) {
        co_await refuse_agent(request);
        co_return;
    }
    if (request.sender.access && (request.principal() == nullptr || !may_call(request, ::a2a::name(form.operation)))) {
        co_await request::respond_forbidden(request, ::a2a::name(form.operation));
        co_return;
    }
    const auto source = core::extended_card_of(request.agent->record, request.sender.access != nullptr);
    if (source == core::extended_card_access::managed) {
        call.managed = model::card_position{form.dialect, /*in_result=*/false};
        co_return;
    }
    const bool is_relayed = request::fits_any(request.agent->record.relay_paths, to.below);
    const bool off = source == core::extended_card_access::off;
    if (request.agent->awaits_card && to.extended != request::extended_path::v02 && !is_relayed && !off) {
        auto waited = co_await await_card(request);
        if (!waited) {
            co_await request::respond_error(request, std::move(waited).error());
            co_return;
        }
    }
    auto objection = is_relayed && !off ? std::nullopt : no_extended_card(request);
    if (objection) {
        auto why = std::move(*objection);
        co_await request::respond_error(request, std::move(why));
        co_return;
    }
    const auto* through = interface_for(*request.agent, to);
    const auto caller = dialect_of(to.extended);
    if (through != nullptr && caller && through->speaks != *caller) {
        co_await ask_in_translation(request, call, *caller, through);
        co_return;
    }
    write_head(request, call, path_at(*request.agent, to));
    auto body = co_await request.caller.read_body(settings_.limits.body);
    if (!body) {
        co_await request::respond_error(request, std::move(body).error());
        co_return;
    }
    auto& relayed = set_call(request, call, *body);
    relayed.traits.repeatable = true;
    call.card = model::card_position{form.dialect, /*in_result=*/false};
    if (!is_relayed && caller) {
        say_version(request, call, caller->version);
    }
}

// Asks an agent that does not speak the caller's HTTP+JSON.
net::routine<> extended_card_route::ask_in_translation(
    request_context& request,
    a2a_call& call,
    ::a2a::dialect caller,
    const model::agent_interface* through
)
{
    auto body = co_await request.caller.read_body(settings_.limits.body);
    if (!body) {
        auto why = std::move(body).error();
        co_await request::respond_call_error(request, std::move(why));
        co_return;
    }
    ::a2a::rest_target target;
    target.what = ::a2a::operation::extended_card;
    target.version = caller.version;
    const bridged asked{caller, target.what, {}, &target, through};
    co_await translate(request, call, asked);
    add_card(call, caller);
}

}  // namespace gateway::a2a
