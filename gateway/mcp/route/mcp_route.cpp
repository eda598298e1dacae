#include "gateway/mcp/route/mcp_route.hpp"

#include "core/json/jsonrpc_scan.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "gateway/mcp/route/mcp_call.hpp"
#include "gateway/mcp/route/mcp_fields.hpp"
#include "gateway/mcp/route/mcp_message.hpp"
#include "gateway/mcp/route/program_relay.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/well_known.hpp"
#include "gateway/responses/content_type.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>
#include <variant>

namespace gateway::mcp::route {
namespace {

using core::errc;
using net::http1::method;

// Equals that in a2a/call_route.cpp.
constexpr std::size_t read_at_once = 256 * 1024;

// How long the stream of what a server says unasked may be silent.
constexpr std::chrono::hours longest_silence{24};

// A message to a bundle names the bundle's session.
::mcp::head_fields fields_of(const mcp_call& call)
{
    auto fields = mcp_fields_of(call.request.caller.head());
    if (call.member) {
        if (!call.member->version.empty()) {
            fields.version = {};
            fields.version.add(call.member->version);
        }
        fields.event = {};
        if (!call.member->event.empty()) {
            fields.event.add(call.member->event);
        }
        fields.session = {};
        if (call.member->session && !call.member->session->empty()) {
            fields.session.add(*call.member->session);
        }
    }
    return fields;
}

// An agent of A2A is a server within the process.
void go_to_server(request::request_context& request)
{
    if (!request.agent->record.mcp && request.agent->bridged) {
        request.set_agent(request.agent->other_side());
    }
}

// The version that a message names, wherever its era does that.
std::string_view
said_version(const ::mcp::head_fields& fields, const ::mcp::incoming& message, std::string_view body, std::string& room)
{
    for (const auto place : {::mcp::routed::meta_version, ::mcp::routed::version}) {
        if (const auto said = message.text(place, body, room); said && !said->empty()) {
            return *said;
        }
    }
    return fields.version.value;
}

// For the span; callers do not decide which texts are there.
void note_version(request::request_context& request, std::string_view version)
{
    if (::mcp::era_of(version)) {
        request.trace.set_protocol(version);
    }
}

void note_tool(request::request_context& request, const ::mcp::incoming& message, std::string_view body)
{
    if (message.method == ::mcp::client_method::tools_call) {
        std::string room;
        request.texts.tool = message.text(::mcp::routed::name, body, room).value_or("");
        request.record.tool = request.texts.tool;
    }
}

}  // namespace

net::routine<> mcp_route::serve(request::request_context& request)
{
    mcp_call call{request, {}};
    co_await look(call);
    if (call.program) {
        co_await pass_to_program(call);
    } else if (call.relayed.agent != nullptr) {
        co_await relays_.pass(request, call.relayed);
    }
    account(call);
}

net::routine<> mcp_route::serve_member(mcp_call& call, const ::mcp::incoming_body& read, std::string_view body)
{
    auto& request = call.request;
    go_to_server(request);
    if (!request.agent->upstream && !request.agent->has_program_sessions()) {
        const auto* const why = "the server is in a package that the gateway does not run";
        co_await request::respond_call_error(request, core::gateway_error(errc::not_implemented, why));
    } else if (body.size() > request.agent->record.mcp->max_message) {
        co_await request::respond_call_error(request, core::caller_error(errc::body_too_large));
    } else if (!call.member->event.empty()) {  // NOLINT(*-optional-access): of a member
        co_await pass_bodiless(call);
    } else {
        co_await pass_message(call, read, body);
    }
    if (call.program) {
        co_await pass_to_program(call);
    } else if (call.relayed.agent != nullptr) {
        co_await relays_.pass(request, call.relayed);
    }
    account(call);
}

net::routine<> mcp_route::serve_stream(mcp_call& call)
{
    return pass_to_program(call);
}

net::routine<> mcp_route::pass_to_program(mcp_call& call)
{
    program_relay passing{call, control_, settings_, relays_.streams()};
    co_await passing.run();
}

// Sets call.program or call.relayed, or answers the request.
net::routine<> mcp_route::look(mcp_call& call)
{
    auto& request = call.request;
    request.errors.format = request::error_format::mcp;
    if (find_agent(request) == nullptr) {
        return refuse_agent(request);
    }
    go_to_server(request);
    if (request.sender.from_forbidden_page) {
        return request::respond_call_error(request, core::caller_error(errc::origin_forbidden));
    }
    if (!request.may_call && !request.contained) {
        return request::respond_forbidden(request);
    }
    if (model::passes_logins(request.agent->record)) {
        call.answer.expect_login(metadata_address(request));
    }
    if (!request.agent->upstream && !request.agent->has_program_sessions()) {
        const auto* const why = "the server is in a package that the gateway does not run";
        return request::respond_call_error(request, core::gateway_error(errc::not_implemented, why));
    }
    switch (request.caller.head().verb) {
        case method::post:
            return post(call);
        case method::get:
        case method::delete_:
            return request.contained ? request::respond_contained(request) : pass_bodiless(call);
        default:
            return request::refuse_method(request, request::methods_of_mcp);
    }
}

void mcp_route::account(mcp_call& call)
{
    auto& request = call.request;
    auto& record = request.record;
    const auto& terms = call.answer;
    if (const auto begun = terms.begun(); !begun.empty() && !record.code) {
        request.texts.session = ::mcp::tag_of(::mcp::digest_of_session(begun));
        record.session = request.texts.session;
        record.session_begun = true;
    }
    record.session_ended = terms.ended();
    if (!call.state_params.empty() && !record.code && record.status < 300) {
        control_.caller_sessions.note(
            request.agent->record.id,
            *call.repair->session(),  // NOLINT(*-optional-access): note_state() has looked
            ::mcp::name(*record.mcp_method),
            std::move(call.state_params)
        );
    }
    if (request.agent && (record.status == 404 || record.status == 405)) {
        moved_.forget(request.record.agent);
    }
    record.tool_failed = call.tool.tool_error();
    record.tool_refused = call.tool.failed();
    const auto* known = record.tool.empty() ? nullptr : known_.find(record.agent);
    if (known != nullptr && known->card != nullptr && known->card->tools != nullptr) {
        record.tool_listed = std::ranges::binary_search(*known->card->tools, record.tool, std::less<>{});
    }
}

void mcp_route::ask_about(const ::mcp::session_digest& id, bool ask)
{
    if (ask) {
        asked_about_.insert(id);
    } else {
        asked_about_.erase(id);
    }
}

net::routine<> mcp_route::serve_options(request::request_context& request) const
{
    request.errors.format = request::error_format::mcp;
    if (request.sender.from_forbidden_page) {
        return request::respond_call_error(request, core::caller_error(errc::origin_forbidden));
    }
    responses::answer answer;
    answer.status = 204;
    net::http1::head_writer{answer.fields}.field("Allow", request::methods_of_mcp);
    return request::respond(request, std::move(answer));
}

net::routine<> mcp_route::post(mcp_call& call)
{
    const auto posted = co_await read_message(call, call.request.agent->record.mcp->max_message);
    if (posted) {
        co_await pass_message(call, posted->read, posted->body);
    }
}

net::routine<std::optional<posted_message>> mcp_route::read_message(mcp_call& call, std::uint64_t most)
{
    auto& request = call.request;
    request.record.mcp_method = ::mcp::client_method::other;  // until it has been read
    if (!responses::takes_json(request.caller.head())) {
        co_await request::respond_call_error(request, core::caller_error(errc::unsupported_media_type));
        co_return std::nullopt;
    }
    auto body = request.caller.body_at_hand(most);
    if (!body) {
        body = co_await request.caller.read_body(most);
    }
    if (!body) {
        co_await request::respond_call_error(request, std::move(body).error());
        co_return std::nullopt;
    }
    call.posted = *body;
    posted_message out{*body, {}};
    if (body->size() <= read_at_once) {
        out.read = ::mcp::read_incoming(*body);
    } else {
        out.read = co_await read_long_message(call, *body);
    }
    if (is_too_long(out.read)) {
        auto why = core::caller_error(errc::invalid_request, "an id, a name or a capability is too long");
        co_await request::respond_call_error(request, std::move(why));
        co_return std::nullopt;
    }
    request.errors.call_id = out.read.id.of(*body);
    if (request.contained) {
        co_await request::respond_contained(request);
        co_return std::nullopt;
    }
    co_return out;
}

net::routine<> mcp_route::pass_message(mcp_call& call, const ::mcp::incoming_body& read, std::string_view body)
{
    auto& request = call.request;
    core::result<> begun;
    if (era_choice::concerns(request, read)) {
        begun = co_await eras_.choose(call, read, control_);
    }
    if (!begun) {
        co_await request::respond_call_error(request, std::move(begun).error());
        co_return;
    }
    if (auto refusal = prepare(call, read, body)) {
        co_await std::move(*refusal);
        co_return;
    }
    if (era_choice::awaits_era(call)) {
        auto found = co_await eras_.find_era(call, control_);
        if (!found) {
            call.program.reset();
            co_await request::respond_call_error(request, std::move(found).error());
            co_return;
        }
    }
    co_await find_session(call);
}

// Looks up the session of which the id does not say enough. If there is none, the request is answered.
net::routine<> mcp_route::find_session(mcp_call& call) const
{
    auto& request = call.request;
    auto& repair = *call.repair;
    const auto& id = repair.session();
    if (call.program || !id || !(repair.is_kept() || asked_about_.contains(*id))) {
        co_return;
    }
    auto found = co_await repair.find_session();
    if (!found) {
        call.relayed.agent.reset();
        co_await request::respond_call_error(request, std::move(found).error());
        co_return;
    }
    call.relayed.request.lines = call.session_lines;
    call.relayed.request.cookies = repair.cookies();
}

net::routine<::mcp::incoming_body> mcp_route::read_long_message(mcp_call& call, std::string_view body)
{
    const auto here = call.request.caller.owner().get_executor();
    auto asked = control_.long_bodies.ask<::mcp::incoming_body>([&call, body] { return read_long(call, body); });
    co_return co_await net::ask(here, here, std::move(asked));
}

// The answer begins a session.
void mcp_route::expect_session(mcp_call& call, const ::mcp::incoming& initialize, std::string_view body) const
{
    auto& sessions = control_.caller_sessions;
    const auto& from = call.repair->upstream();  // NOLINT(*-optional-access): its caller has set it
    call.answer.expect_begin(session_begun_by(initialize, body), binding_of(call.request), ids_, sessions, from);
}

// Sets call.relayed or call.program, or returns the answer that refuses the message.
std::optional<net::routine<>>
mcp_route::prepare(mcp_call& call, const ::mcp::incoming_body& read, std::string_view body)
{
    auto& request = call.request;
    const auto fields = fields_of(call);
    const auto& message = read.message;
    request.record.era = ::mcp::era_of_post(fields, read);
    request.record.mcp_method = message.method;
    const bool legacy = *request.record.era == ::mcp::era::legacy;
    const bool begins = legacy && message.method == ::mcp::client_method::initialize;
    call.repair.emplace(call, control_, moved_);
    std::string_view version;
    if (legacy && !begins && fields.session.count == 1) {
        auto session = open_session(call, fields);
        if (!session) {
            return request::respond_call_error(request, std::move(session).error());
        }
        if (call.home != 0) {
            return replicas_.pass(request, call.home, call.posted, errc::session_not_found);
        }
        version = *session;
    }
    if (const auto why = call.member ? std::nullopt : ::mcp::check_post(fields, read, body)) {
        return refuse(request, *why);
    }
    std::string room;
    if (request.trace.recorded()) {
        note_version(request, version.empty() ? said_version(fields, message, body, room) : version);
    }
    if (!may_post(request, read, body)) {
        return request::respond_forbidden(request, message.text(::mcp::routed::method, body, room));
    }
    if (const auto why = refused_webhook(read, body, settings_)) {
        return refuse(request, *why);
    }
    const bool is_request = message.kind == ::mcp::incoming_kind::request;
    const auto trace = message.text(::mcp::routed::meta_trace, body, room).value_or("");
    if (auto refusal = is_request ? enter_chains(request, {.trace = trace}) : std::nullopt) {
        return refusal;
    }
    if (begins) {
        expect_session(call, message, body);
    }
    note_tool(request, message, body);
    auto edits = edit_for_server(call, read, body, {control_, ids_});
    if (!edits) {
        return refuse_hidden(request, std::move(edits).error());
    }
    const bool alone = !begins && call.repair->sealed() == nullptr;
    const auto* known = known_.find(request.agent->record.id);
    const auto* card = known == nullptr ? nullptr : known->card.get();
    if (call.translated || is_for_program_port(*request.agent, legacy, alone) || is_for_legacy_server(request, card)) {
        return set_local_call(call, {fields, read, body, *edits, call.repair->sealed()});
    }
    if (is_request && legacy && !begins && !call.repair->begin_call()) {
        return request::respond_call_error(request, core::gateway_error(errc::overloaded, "calls of this session"));
    }
    note_state(call, message, body);
    write_head(call);
    write_name(call, fields.name);
    write_call(call, read, edits->empty() ? body : std::string_view{call.edited_body}, fields.accept.form());
    return std::nullopt;
}

// To a session in this process; of a client that comes back to a call which waits in another replica, to that one.
std::optional<net::routine<>> mcp_route::set_local_call(mcp_call& call, const program_message& what) const
{
    auto answered = set_program_call(call, what);
    if (!answered) {
        call.home = home_of_parked(*call.program, *ids_);
    }
    if (call.home == 0) {
        return answered;
    }
    call.program.reset();
    return replicas_.pass(call.request, call.home, call.posted, errc::input_expired);
}

// Relays the message straight to a server over streamable HTTP. `listens`: to its unasked messages. `replayed`: some answers come that
// no id is known of. `form`: that the caller takes.
void mcp_route::set_server_call(
    mcp_call& call,
    std::string_view body,
    bool listens,
    bool replayed,
    ::mcp::answer_form form
) const
{
    auto& relayed = call.relayed;
    relayed.agent = call.request.agent;
    relayed.request.verb = call.request.caller.head().verb;
    relayed.request.head = relayed.request.head_text;
    relayed.request.lines = call.session_lines;
    relayed.request.cookies = call.repair->cookies();  // NOLINT(*-optional-access): its callers have set it
    relayed.request.body = body;
    relayed.request.json = true;
    relayed.times.silence = listens ? longest_silence : core::duration{};
    relayed.traits.listens = listens;
    relayed.traits.whole = form == ::mcp::answer_form::json && (replayed || !call.request.errors.call_id.empty());
    relayed.traits.gathers = replayed;
    relayed.traits.as_events = form == ::mcp::answer_form::events;
    auto events = event_terms(call, replayed, settings_.limits.sse_event);
    events.answers_only = relayed.traits.whole;
    relayed.hooks.repair = &*call.repair;
    relayed.hooks.tool = call.request.record.tool.empty() ? nullptr : &call.tool;
    relayed.hooks.gate = &call.answer.expect_events(events);
    if (call.edit != nullptr) {
        relayed.hooks.edits.push_back(std::move(call.edit));
    }
    if (call.member && call.member->edit != nullptr) {
        relayed.hooks.edits.push_back(std::move(call.member->edit));
    }
}

// Sets how long its answer may take, and what is done about a server that does not act.
void mcp_route::write_call(
    mcp_call& call,
    const ::mcp::incoming_body& read,
    std::string_view passed,
    ::mcp::answer_form form
) const
{
    using ::mcp::client_method;
    const auto& server = *call.request.agent->record.mcp;
    const auto method = read.message.method;
    set_server_call(call, passed, ::mcp::stays_open(method), /*replayed=*/false, form);
    auto& traits = call.relayed.traits;
    auto& times = call.relayed.times;
    traits.repeatable = ::mcp::safe_to_repeat(method);
    traits.streaming = true;
    traits.begins = method == client_method::initialize || method == client_method::discover;
    if (!traits.listens) {
        times.silence = server.call_timeout;
        times.longest = traits.begins ? server.initialize_timeout : server.longest_call;
    }
    if (method == client_method::tools_call && read.message.kind == ::mcp::incoming_kind::request && !traits.whole) {
        times.patience = server.silent_call;
    }
}

// A GET or DELETE, which is about a session.
net::routine<> mcp_route::pass_bodiless(mcp_call& call)
{
    auto& request = call.request;
    const auto fields = fields_of(call);
    const bool listens = request.caller.head().verb == method::get;
    request.record.era = ::mcp::era::legacy;
    const auto why = listens ? ::mcp::check_get(fields) : ::mcp::check_delete(fields);
    if (why) {
        co_await refuse(request, *why);
        co_return;
    }
    if (fields.session.count == 0) {
        co_await request::refuse_method(request, "POST");
        co_return;
    }
    call.repair.emplace(call, control_, moved_);
    auto session = open_session(call, fields);
    if (!session) {
        co_await request::respond_call_error(request, std::move(session).error());
        co_return;
    }
    if (call.home != 0) {
        co_await replicas_.pass(request, call.home, std::string_view(), errc::session_not_found);
        co_return;
    }
    if (listens) {
        edit_stream(call, {control_, ids_});
    }
    if (call.translated || request.agent->has_program_sessions()) {
        set_program_call(
            call,
            listens ? model::program_act::listen : model::program_act::end,
            fields,
            *call.repair->sealed()
        );
        co_return;
    }
    if (fields.event.count > 0 && (request.agent->filters || request.agent->pins)) {
        // A replayed message may be a list, and nothing says so.
        co_await request::respond_call_error(
            request,
            core::caller_error(errc::events_gone, "Last-Event-ID, with a filter")
        );
        co_return;
    }
    auto& terms = call.answer;
    if (!listens) {
        terms.expect_end();
    }
    write_head(call);
    set_server_call(call, {}, listens, fields.event.count > 0, ::mcp::answer_form::either);
    call.relayed.traits.repeatable = listens;
    call.relayed.traits.streaming = listens;
    co_await find_session(call);
}

// Its version. Fails with session_not_found.
core::result<std::string_view> mcp_route::open_session(mcp_call& call, const ::mcp::head_fields& fields) const
{
    auto& request = call.request;
    auto session = ids_->open(fields.session.value, binding_of(request), std::chrono::system_clock::now());
    if (!session) {
        return std::move(session).error();
    }
    if (request.agent->has_program_sessions() && !std::holds_alternative<::mcp::local_handle>(session->place)) {
        return core::caller_error(errc::session_not_found, "a session of another kind of server");
    }
    call.translated = !request.agent->has_program_sessions() && is_translated(*session);
    const auto id = ::mcp::digest_of_session(fields.session.value);
    if (!call.member) {
        request.texts.session = ::mcp::tag_of(id);
        request.record.session = request.texts.session;
    }
    request.errors.format = call.member ? request::error_format::mcp_bundle : request::error_format::mcp_session;
    call.answer.expect_session(!request.errors.call_id.empty());
    const auto* const place = std::get_if<::mcp::local_handle>(&session->place);
    if (place != nullptr && ids_->is_elsewhere(*place)) {
        call.home = place->replica;
        return session->version;
    }
    call.forwarded = forwarded_fields(request);
    auto& repair = *call.repair;
    return repair.set_session(id, std::move(*session), fields.version.value, ids_->alone());
}

// Where callers hear how to log in at the server (RFC 9728 section 3.1).
std::string mcp_route::metadata_address(const request::request_context& request) const
{
    const auto own = own_origin(request);
    auto address = (own.empty() ? known_.public_base() : own) + std::string{model::resource_metadata_path};
    if (own.empty()) {
        address.append("/agents/").append(request.agent->record.id);
    }
    return address.append(model::mcp_path);
}

net::routine<> mcp_route::refuse(request::request_context& request, const ::mcp::refusal& why)
{
    const auto& agent = request.record.agent;
    auto answer = responses::mcp_error_answer(why.code, agent, request.errors.call_id, why.data);
    if (!why.said.empty()) {
        answer.body = core::jsonrpc_error_body(request.errors.call_id, why.code, agent, why.said);
    }
    return request::respond_error(request, core::caller_error(why.code, std::string{why.why}), std::move(answer));
}

void mcp_route::write_head(mcp_call& call) const
{
    if (call.member && !(call.member->event.empty() && call.member->version.empty())) {
        const auto fields = fields_of(call);
        net::http1::head_writer lines{call.session_lines};
        for (const auto& [name, field] :
             {std::pair{"Last-Event-ID", &fields.event}, {"MCP-Protocol-Version", &fields.version}}) {
            if (field->count > 0) {
                lines.field(name, field->value);
            }
        }
        call.relayed.request.says_session = true;
    }
    const auto& agent = *call.request.agent;
    auto& head = call.relayed.request.head_text;
    net::http1::head_writer{head}.request_line(
        call.request.caller.head().verb,
        model::with_query(moved_.of(agent), agent.query_key)
    );
    head += agent.fixed_fields;
}

}  // namespace gateway::mcp::route
