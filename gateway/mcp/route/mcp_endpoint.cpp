#include "gateway/mcp/route/mcp_endpoint.hpp"

#include "core/json/jsonrpc_scan.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "gateway/mcp/route/era_of_server.hpp"
#include "gateway/mcp/route/mcp_fields.hpp"
#include "gateway/mcp/route/mcp_message.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/sent_credentials.hpp"
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

// As call_endpoint.
constexpr std::size_t read_at_once = 256 * 1024;

constexpr std::string_view methods_of_mcp = "POST, GET, DELETE, OPTIONS";

// How long the stream of what a server says unasked may be silent.
constexpr std::chrono::hours longest_silence{24};

}  // namespace

net::routine<> mcp_endpoint::look(request::request_context& request)
{
    request.words = request::call_words::mcp;
    if (find_agent(request) == nullptr) {
        return refuse_agent(request);
    }
    if (request.mcp->is_forbidden()) {  // NOLINT(*-optional-access): handle() has set it
        return request::respond_call_error(request, core::caller_error(errc::origin_forbidden));
    }
    if (!request.may_call) {
        return request::respond_forbidden(request);
    }
    if (model::passes_logins(request.agent->record)) {
        request.mcp->expect_login(metadata_address(request));  // NOLINT(*-optional-access): as above
    }
    if (!request.agent->upstream && !request.agent->has_program_sessions()) {
        const auto* const why = "the server is in a package that the gateway does not run";
        return request::respond_call_error(request, core::gateway_error(errc::not_implemented, why));
    }
    switch (request.caller.head().verb) {
        case method::post:
            return post(request);
        case method::get:
        case method::delete_:
            return pass_bodiless(request);
        default:
            return request::refuse_method(request, methods_of_mcp);
    }
}

void mcp_endpoint::account(request::request_context& request)
{
    auto& record = request.record;
    const auto& terms = *request.mcp;  // NOLINT(*-optional-access): handle() has set it
    if (const auto begun = terms.begun(); !begun.empty() && !record.code) {
        request.session_tag = ::mcp::tag_of(::mcp::digest_of_session(begun));
        record.session = request.session_tag;
        record.session_begun = true;
    }
    record.session_ended = terms.ended();
    if (!request.state_params.empty() && !record.code && record.status < 300) {
        control_.caller_sessions().note(
            request.agent->record.id,
            *request.repair->session(),       // NOLINT(*-optional-access): note_state() has looked
            ::mcp::name(*record.mcp_method),  // NOLINT(*-optional-access): as above
            std::move(request.state_params)
        );
    }
    if (request.agent && (record.status == 404 || record.status == 405)) {
        moved_.forget(request.record.agent);
    }
    const auto* known = record.tool.empty() ? nullptr : known_.find(record.agent);
    if (known != nullptr && known->card != nullptr && known->card->tools != nullptr) {
        record.tool_listed = std::ranges::binary_search(*known->card->tools, record.tool, std::less<>{});
    }
}

void mcp_endpoint::ask_about(const ::mcp::session_digest& id, bool ask)
{
    if (ask) {
        asked_about_.insert(id);
    } else {
        asked_about_.erase(id);
    }
}

net::routine<> mcp_endpoint::answer_options(request::request_context& request) const
{
    request.words = request::call_words::mcp;
    if (request.mcp->is_forbidden()) {  // NOLINT(*-optional-access): handle() has set it
        return request::respond_call_error(request, core::caller_error(errc::origin_forbidden));
    }
    responses::answer answer;
    answer.status = 204;
    net::http1::head_writer{answer.fields}.field("Allow", methods_of_mcp);
    return request::respond(request, std::move(answer));
}

net::routine<> mcp_endpoint::post(request::request_context& request)
{
    request.record.mcp_method = ::mcp::client_method::other;  // until it has been read
    if (!responses::takes_json(request.caller.head())) {
        co_await request::respond_call_error(request, core::caller_error(errc::unsupported_media_type));
        co_return;
    }
    const auto most = request.agent->record.mcp->max_message;
    auto body = request.caller.body_at_hand(most);
    if (!body) {
        body = co_await request.caller.read_body(most);
    }
    if (!body) {
        co_await request::respond_call_error(request, std::move(body).error());
        co_return;
    }
    ::mcp::incoming_body read;
    if (body->size() <= read_at_once) {
        read = ::mcp::read_incoming(*body);
    } else {
        read = co_await read_long_message(request, *body);
    }
    core::result<> begun;
    if (is_too_long(read)) {
        begun = core::caller_error(errc::invalid_request, "an id, a name or a capability is too long");
    } else {
        request.call_id = read.id.of(*body);
        if (era_choice::concerns(request, read)) {
            begun = co_await eras_.choose(request, read, control_);
        }
    }
    if (!begun) {
        co_await request::respond_call_error(request, std::move(begun).error());
        co_return;
    }
    if (auto refusal = prepare(request, read, *body)) {
        co_await std::move(*refusal);
        co_return;
    }
    if (era_choice::awaits_era(request)) {
        auto found = co_await eras_.find_era(request, control_);
        if (!found) {
            request.program.reset();
            co_await request::respond_call_error(request, std::move(found).error());
            co_return;
        }
    }
    co_await find_session(request);
}

// Of a session of which its id does not say enough. If there is none, the request is answered.
net::routine<> mcp_endpoint::find_session(request::request_context& request) const
{
    auto& repair = *request.repair;  // NOLINT(*-optional-access): its callers have set it
    const auto& id = repair.session();
    if (request.program || !id || !(repair.is_kept() || asked_about_.contains(*id))) {
        co_return;
    }
    auto found = co_await repair.find_session();
    if (!found) {
        request.call.reset();
        co_await request::respond_call_error(request, std::move(found).error());
        co_return;
    }
    auto& call = *request.call;  // NOLINT(*-optional-access): what is no program's call is relayed
    call.session = request.session_field;
    call.cookies = repair.cookies();
}

net::routine<::mcp::incoming_body>
mcp_endpoint::read_long_message(request::request_context& request, std::string_view body)
{
    const auto here = request.caller.owner().get_executor();
    auto asked =
        control_.long_bodies().ask<::mcp::incoming_body>([&request, body] { return read_long(request, body); });
    co_return co_await net::ask(here, here, std::move(asked));
}

// Sets request.call, or returns the answer that refuses the message.
std::optional<net::routine<>>
mcp_endpoint::prepare(request::request_context& request, const ::mcp::incoming_body& read, std::string_view body)
{
    const auto fields = mcp_fields_of(request.caller.head());
    const auto& message = read.message;
    request.record.era = ::mcp::era_of_post(fields, read);
    request.record.mcp_method = message.method;
    const bool legacy = *request.record.era == ::mcp::era::legacy;
    const bool begins = legacy && message.method == ::mcp::client_method::initialize;
    request.repair.emplace(request, control_, moved_);
    std::string_view version;
    if (legacy && !begins && fields.session.count == 1) {
        auto session = open_session(request, fields);
        if (!session) {
            return request::respond_call_error(request, std::move(session).error());
        }
        version = *session;
    }
    if (const auto why = ::mcp::check_post(fields, read, body)) {
        return refuse(request, *why);
    }
    std::string room;
    if (!may_post(request, read, body)) {
        return request::respond_forbidden(request, message.text(::mcp::routed::method, body, room));
    }
    if (const auto why = refused_webhook(read, body, settings_)) {
        return refuse(request, *why);
    }
    const bool is_request = message.kind == ::mcp::incoming_kind::request;
    if (begins) {
        auto& terms = *request.mcp;  // NOLINT(*-optional-access): handle() has set it
        auto& sessions = control_.caller_sessions();
        const auto& from = request.repair->upstream();
        terms.expect_begin(session_begun_by(message, body), binding_of(request), ids_, sessions, from);
    }
    if (message.method == ::mcp::client_method::tools_call) {
        request.tool = message.text(::mcp::routed::name, body, room).value_or("");
        request.record.tool = request.tool;
    }
    auto edits = edit_for_server(request, read, body, {control_, ids_});
    if (!edits) {
        return refuse_hidden(request, std::move(edits).error());
    }
    const bool alone = !begins && request.repair->sealed() == nullptr;
    const auto* known = known_.find(request.agent->record.id);
    const auto* card = known == nullptr ? nullptr : known->card.get();
    if (request.translated || is_for_program_port(*request.agent, legacy, alone) ||
        is_for_legacy_server(request, card)) {
        return set_program_call(request, {fields, read, body, *edits, request.repair->sealed()});
    }
    if (is_request && legacy && !begins && !request.repair->begin_call()) {
        return request::respond_call_error(request, core::gateway_error(errc::overloaded, "calls of this session"));
    }
    note_state(request, message, body);
    write_head(request);
    write_name(request, fields.name);
    write_call(request, read, edits->empty() ? body : std::string_view{request.edited_body}, fields.accept.form());
    return std::nullopt;
}

// A call that goes straight to a server over streamable HTTP. `listens`: to what that says unasked. `replayed`: some answers come that
// no id is known of. `form`: that the caller takes.
relay::relay_call& mcp_endpoint::set_server_call(
    request::request_context& request,
    std::string_view body,
    bool listens,
    bool replayed,
    ::mcp::answer_form form
) const
{
    auto& terms = *request.mcp;  // NOLINT(*-optional-access): handle() has set it
    auto& call = set_call(request, body);
    call.listens = listens;
    call.silence = listens ? longest_silence : core::duration{};
    call.session = request.session_field;
    call.terms = &terms;
    call.repair = &*request.repair;  // NOLINT(*-optional-access): its callers have set it
    call.cookies = request.repair->cookies();
    auto events = event_terms(request, replayed, settings_.limits.sse_event);
    call.whole = form == ::mcp::answer_form::json && (replayed || !request.call_id.empty());
    call.gathers = replayed;
    call.as_events = form == ::mcp::answer_form::events;
    events.answers_only = call.whole;
    call.gate = &terms.expect_events(events);
    return call;
}

// How long its answer may take, and what is done about a server that does not act.
void mcp_endpoint::write_call(
    request::request_context& request,
    const ::mcp::incoming_body& read,
    std::string_view passed,
    ::mcp::answer_form form
) const
{
    using ::mcp::client_method;
    const auto& server = *request.agent->record.mcp;
    const auto method = read.message.method;
    auto& call = set_server_call(request, passed, ::mcp::stays_open(method), /*replayed=*/false, form);
    call.edit = request.edit.get();
    call.repeatable = ::mcp::safe_to_repeat(method);
    call.streaming = true;
    call.begins = method == client_method::initialize || method == client_method::discover;
    if (!call.listens) {
        call.silence = server.call_timeout;
        call.longest = call.begins ? server.initialize_timeout : server.longest_call;
    }
    if (method == client_method::tools_call && read.message.kind == ::mcp::incoming_kind::request && !call.whole) {
        call.patience = server.silent_call;
    }
}

// A GET or DELETE, which is about a session.
net::routine<> mcp_endpoint::pass_bodiless(request::request_context& request)
{
    const auto fields = mcp_fields_of(request.caller.head());
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
    request.repair.emplace(request, control_, moved_);
    auto session = open_session(request, fields);
    if (!session) {
        co_await request::respond_call_error(request, std::move(session).error());
        co_return;
    }
    if (listens) {
        edit_stream(request, {control_, ids_});
    }
    if (request.translated || request.agent->has_program_sessions()) {
        set_program_call(
            request,
            listens ? model::program_act::listen : model::program_act::end,
            fields,
            *request.repair->sealed()
        );
        co_return;
    }
    if (fields.event.count > 0 && request.agent->filters) {
        // What the server replays may be a list, and nothing says so.
        co_await request::respond_call_error(
            request,
            core::caller_error(errc::events_gone, "Last-Event-ID, with a filter")
        );
        co_return;
    }
    auto& terms = *request.mcp;  // NOLINT(*-optional-access): handle() has set it
    if (!listens) {
        terms.expect_end();
    }
    write_head(request);
    auto& call = set_server_call(request, {}, listens, fields.event.count > 0, ::mcp::answer_form::either);
    call.edit = request.edit.get();
    call.repeatable = listens;
    call.streaming = listens;
    co_await find_session(request);
}

// Its version. Fails with session_not_found.
core::result<std::string_view>
mcp_endpoint::open_session(request::request_context& request, const ::mcp::head_fields& fields) const
{
    auto session = ids_->open(fields.session.value, binding_of(request), std::chrono::system_clock::now());
    if (!session) {
        return std::move(session).error();
    }
    if (request.agent->has_program_sessions() && !std::holds_alternative<::mcp::local_handle>(session->place)) {
        return core::caller_error(errc::session_not_found, "a session of another kind of server");
    }
    request.translated = !request.agent->has_program_sessions() && is_translated(*session);
    const auto id = ::mcp::digest_of_session(fields.session.value);
    request.session_tag = ::mcp::tag_of(id);
    request.record.session = request.session_tag;
    request.words = request::call_words::mcp_session;
    request.mcp->expect_session(!request.call_id.empty());  // NOLINT(*-optional-access): handle() has set it
    request.forwarded = forwarded_fields(request);
    auto& repair = *request.repair;  // NOLINT(*-optional-access): its callers have set it
    return repair.set_session(id, std::move(*session), fields.version.value, ids_->alone());
}

// Where callers hear how to log in at the server (RFC 9728 section 3.1).
std::string mcp_endpoint::metadata_address(const request::request_context& request) const
{
    const auto own = own_origin(request);
    auto address = (own.empty() ? known_.public_base() : own) + std::string{model::resource_metadata_path};
    if (own.empty()) {
        address.append("/agents/").append(request.agent->record.id);
    }
    return address.append(model::mcp_path);
}

net::routine<> mcp_endpoint::refuse(request::request_context& request, const ::mcp::refusal& why)
{
    const auto& agent = request.record.agent;
    auto answer = responses::mcp_error_answer(why.code, agent, request.call_id, why.data);
    if (!why.said.empty()) {
        answer.body = core::jsonrpc_error_body(request.call_id, why.code, agent, why.said);
    }
    return request::respond_error(request, core::caller_error(why.code, std::string{why.why}), std::move(answer));
}

void mcp_endpoint::write_head(request::request_context& request) const
{
    const auto& agent = *request.agent;
    net::http1::head_writer head{request.head};
    head.request_line(request.caller.head().verb, model::with_query(moved_.of(agent), agent.query_key));
    request.head += agent.fixed_fields;
}

}  // namespace gateway::mcp::route
