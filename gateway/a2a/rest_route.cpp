#include "core/json/jsonrpc_scan.hpp"
#include "core/url.hpp"
#include "gateway/a2a/a2a_routes.hpp"
#include "gateway/a2a/call_fields.hpp"
#include "gateway/a2a/push_hook.hpp"
#include "gateway/a2a/task_guard.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/request/router.hpp"
#include "gateway/responses/content_type.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"

#include <algorithm>
#include <utility>

namespace gateway::a2a {
namespace {

using core::errc;
using net::http1::method;

// A megabyte of numbers and brackets would hold a worker up for 10 ms.
constexpr std::size_t read_at_once = 256 * 1024;

struct seen_body {
    bool json = true;
    task_references named{};
};

seen_body see(std::string_view body, const task_guard& guard, ::a2a::operation what)
{
    if (body.empty()) {
        return {};
    }
    const bool json = core::count_members(body).has_value();
    return {json, json ? guard.look(body, what) : task_references{}};
}

// Some readers take members of a request from the query, whatever the path says (google.api.http): no value of it may be such a task
// or context.
void look_at_query(std::string_view query, const task_guard& guard, ::a2a::operation what, task_references& in)
{
    query.remove_prefix(query.starts_with('?') ? 1 : 0);
    while (!query.empty() && !in.refused()) {
        const auto end = std::min(query.find('&'), query.size());
        const auto each = query.substr(0, end);
        const auto value = each.find('=');
        if (value != std::string_view::npos) {
            guard.note_value(core::decoded(each.substr(value + 1)), what, in);
        }
        query.remove_prefix(std::min(end + 1, query.size()));
    }
}

bool has_verb(std::string_view path, std::string_view verb)
{
    using enum ::a2a::generation;
    return ::a2a::read_rest_target(verb, path, v03) || ::a2a::read_rest_target(verb, path, v1);
}

constexpr std::string_view verbs[] = {"GET", "POST", "DELETE"};

// The verbs that the path has.
std::string allowed_at(std::string_view path)
{
    std::string all;
    for (const auto verb : verbs) {
        if (has_verb(path, verb)) {
            all.append(all.empty() ? "" : ", ").append(verb);
        }
    }
    return all;
}

// Whether the path is meant for HTTP+JSON. At a host name of the agent's own a path without `/rest` may be meant for anything.
bool is_meant(const request::destination& to)
{
    return !to.rest.empty() &&
           (to.rest != to.below || std::ranges::any_of(verbs, [&](auto verb) { return has_verb(to.rest, verb); }));
}

constexpr ::a2a::generation version_of(std::string_view path) noexcept
{
    return path.starts_with("/v1/") ? ::a2a::generation::v03 : ::a2a::generation::v1;
}

::a2a::card_dialect card_of(::a2a::generation version) noexcept
{
    return version == ::a2a::generation::v1 ? ::a2a::card_dialect::v1 : ::a2a::card_dialect::v03_rest;
}

}  // namespace

void rest_route::note_format(request_context& request) const
{
    const auto& to = request.to;
    // A path that is refused has one only if it is meant for HTTP+JSON.
    const bool refused = to.where == model::route::none && !to.rest.empty();
    if (!refused && (to.where != model::route::relay || !is_meant(to))) {
        return;
    }
    const auto said = generation_said(version_said(request.caller.head().fields, to.query));
    request.errors.format = request::error_format::rest;
    request.errors.rest_version = said.value_or(version_of(to.rest));
    request.errors.profile = profile_of(settings_.errors.profile);
}

bool rest_route::takes(request_context& request) const
{
    const auto& to = request.to;
    if (to.extended != request::extended_path::none || !is_meant(to)) {
        return false;
    }
    const auto* known = visible_agent(request);
    return known != nullptr && known->entry->serves_a2a() &&
           !request::fits_any(known->entry->record.relay_paths, to.below);
}

net::routine<> rest_route::serve(request_context& request)
{
    request.record.where = model::route::call;
    if (find_agent(request) == nullptr) {
        co_await refuse_agent(request);
        co_return;
    }
    const std::string path{request.to.rest};
    auto asked = read_target(request);
    if (!asked) {
        auto why = std::move(asked).error();
        co_await respond_unread(request, std::move(why), path);
        co_return;
    }
    request.errors.rest_version = asked->target.version;
    const auto name = ::a2a::method_for(asked->target.what, asked->target.version);
    request.record.rpc_method = name;
    // The rules know calls by their JSON-RPC names, and the caller's own counts.
    if (!may_call(request, ::a2a::name(name))) {
        co_await request::respond_forbidden(request, ::a2a::name(name));
        co_return;
    }
    if (request.caller.head().verb == method::post && !responses::takes_json(request.caller.head())) {
        co_await request::respond_call_error(request, core::caller_error(errc::unsupported_media_type));
        co_return;
    }
    if (request.agent->awaits_card) {
        std::string called{::a2a::name(name)};
        const bool goes_on = co_await await_card_of_call(request, std::move(called));
        if (!goes_on) {
            co_return;
        }
    }
    a2a_call call{request};
    std::optional<net::routine<>> answer;
    if (!answers_card(request, call, *asked, answer) && goes_to_agent(request)) {
        auto wanted_call = std::move(*asked);
        answer.emplace(pass_on(request, call, std::move(wanted_call)));
    }
    if (answer) {
        co_await std::move(*answer);
    }
    if (call.passes() || call.managed) {
        co_await finish(request, call);
    }
}

// Fails with not_found, method_not_allowed, bad_request and version_not_supported.
core::result<rest_route::wanted> rest_route::read_target(request_context& request) const
{
    const auto& head = request.caller.head();
    const auto& to = request.to;
    const auto version = version_said(head.fields, to.query);
    if (version == said_version::garbage) {
        return core::caller_error(errc::bad_request, "A2A-Version");
    }
    if (version == said_version::other) {
        return core::caller_error(errc::version_not_supported, "A2A-Version");
    }
    wanted out;
    out.path = to.rest;
    const bool strips = request.sender.access && !request.agent->record.of_callers.all;
    out.query = strips ? std::string{request.sender.access->reader().without_keys(to.query)} : std::string{to.query};
    const auto target = to.rest;
    auto read = ::a2a::read_rest_target(net::http1::name(head.verb), target, generation_said(version));
    if (!read) {
        return std::move(read).error();
    }
    out.target = std::move(*read);
    return out;
}

net::routine<> rest_route::respond_unread(request_context& request, core::error failure, std::string_view path)
{
    auto answer = responses::rest_error_answer(
        failure.code,
        request.record.agent,
        request.errors.rest_version,
        request.errors.profile
    );
    if (failure.code == errc::method_not_allowed) {
        net::http1::head_writer{answer.fields}.field("Allow", allowed_at(path));
    }
    return request::respond_error(request, std::move(failure), std::move(answer));
}

// Whether the request is for an extended card that does not come from the agent; `answer` refuses it then, or
// call.managed is set.
bool rest_route::answers_card(
    request_context& request,
    a2a_call& call,
    const wanted& asked,
    std::optional<net::routine<>>& answer
) const
{
    if (asked.target.what != ::a2a::operation::extended_card) {
        return false;
    }
    if (request.sender.access && request.principal() == nullptr) {
        answer.emplace(request::respond_forbidden(request));
        return true;
    }
    if (auto why = no_extended_card(request)) {
        answer.emplace(request::respond_call_error(request, std::move(*why)));
        return true;
    }
    const auto source = core::extended_card_of(request.agent->record, request.sender.access != nullptr);
    if (source == core::extended_card_access::managed) {
        call.managed = model::card_position{card_of(asked.target.version), /*in_result=*/false};
        return true;
    }
    return false;
}

// Whether the call may not go on: its body is no JSON, which those who look into it take for granted, or it names a task of another
// principal. It is answered then. A long body is read on another thread.
net::routine<bool>
rest_route::refuse_body(request_context& request, a2a_call& call, const wanted& asked, std::string_view body)
{
    const task_guard guard{request, control_.tasks, control_.chains};
    const auto what = asked.target.what;
    const bool must_read = guard.looks() || request.agent->mediates_push;
    if (!must_read && !guard.may_name_chain(body, what) && !request.trace.recorded()) {
        co_return false;
    }
    seen_body seen;
    if (body.size() <= read_at_once) {
        seen = see(body, guard, what);
    } else {
        const auto here = request.caller.owner().get_executor();
        auto reading = control_.long_bodies.ask<seen_body>([body, guard, what] { return see(body, guard, what); });
        seen = co_await net::ask(here, here, std::move(reading));
    }
    if (!seen.json) {
        if (must_read) {
            co_await request::respond_call_error(request, core::caller_error(errc::parse_error));
        }
        co_return must_read;
    }
    if (body.size() <= read_at_once) {
        note_conversation(request, body);
    }
    auto& named = call.named;
    named = seen.named;
    named.home = 0;  // the path decides where the call goes
    if (!named.refused() && guard.note_task(asked.target.task_id, named)) {
        look_at_query(asked.query, guard, what, named);
    }
    named.home = named.home == 0 ? seen.named.home : named.home;
    if (named.refused()) {
        co_await respond_named(request, named);
        co_return true;
    }
    co_return false;
}

net::routine<> rest_route::pass_on(request_context& request, a2a_call& call, wanted asked)
{
    const ::a2a::dialect caller{asked.target.version, ::a2a::binding::rest};
    const auto* to = model::nearest_interface(request.agent->interfaces, caller);
    const bool bridges = request.agent->record.bridge;
    if (!bridges && (to == nullptr || to->speaks != caller)) {
        co_await request::respond_call_error(
            request,
            core::caller_error(errc::not_found, "the agent has no such interface")
        );
        co_return;
    }
    auto body = co_await request.caller.read_body(settings_.limits.body);
    if (!body) {
        auto why = std::move(body).error();
        co_await request::respond_call_error(request, std::move(why));
        co_return;
    }
    // The search for members begins at the first byte of the value.
    const auto text = body->substr(std::min(body->find_first_not_of(" \t\r\n"), body->size()));
    const bool refused = co_await refuse_body(request, call, asked, text);
    if (refused) {
        co_return;
    }
    if (bridges) {
        to = model::interface_for_task(request.agent->interfaces, caller, call.named.home);
    }
    const bool same = to != nullptr && to->speaks == caller;
    const push_hook push{control_, settings_, known_};
    push_call said{caller, asked.target.what, *body, text, {}};
    if (request.agent->mediates_push) {
        auto mediated = co_await push.mediate(request, call, said);
        if (!mediated) {
            co_await push_hook::refuse(request, caller, std::move(mediated).error());
            co_return;
        }
        if (!push_hook::has_room(call)) {
            co_await request::respond_call_error(request, core::gateway_error(errc::overloaded, "bodies"));
            co_return;
        }
        said = *mediated;
    }
    if (same) {
        pass_as_it_is(request, call, asked, *to, said.body);
    } else {
        asked.target.query = asked.query;
        asked.target.query.remove_prefix(asked.query.empty() ? 0 : 1);
        const bridged through{caller, asked.target.what, said.payload, &asked.target, to};
        co_await translate(request, call, through);
        if (asked.target.what == ::a2a::operation::extended_card) {
            add_card(call, caller);
        }
    }
    if (call.passes()) {
        push.restore(request, call, said);
        filter_task_list(request, call, caller, asked.target.what);
    }
}

// To an agent that speaks the caller's dialect.
void rest_route::pass_as_it_is(
    request_context& request,
    a2a_call& call,
    const wanted& asked,
    const model::agent_interface& to,
    std::string_view body
) const
{
    const auto target = model::with_query(to.base_path + asked.path + asked.query, request.agent->query_key);
    write_head_at(request, call, target);
    const auto version = asked.target.version;
    auto& relayed = set_call(request, call, body);
    note_home(request, call, &to);
    relayed.traits.repeatable = ::a2a::safe_to_repeat(::a2a::method_for(asked.target.what, version));
    relayed.traits.streaming = ::a2a::streaming(asked.target.what);
    call.speaks = extension_terms_of(request, version, version);
    say_version(request, call, version);
    if (asked.target.what == ::a2a::operation::extended_card) {
        call.speaks->required = nullptr;  // the card says what is required
        call.card = model::card_position{card_of(version), /*in_result=*/false};
    }
}

}  // namespace gateway::a2a
