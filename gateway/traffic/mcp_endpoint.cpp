#include "gateway/traffic/mcp_endpoint.hpp"

#include "config/values.hpp"
#include "core/ascii.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "gateway/model/content_type.hpp"
#include "gateway/model/sent_credentials.hpp"
#include "gateway/traffic/list_edit.hpp"
#include "gateway/traffic/mcp_fields.hpp"
#include "mcp/calls/origin.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/ask.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <variant>

namespace gateway::traffic {
namespace {

using core::errc;
using net::http1::method;

// As call_endpoint.
constexpr std::size_t read_at_once = 256 * 1024;

constexpr std::string_view methods_of_mcp = "POST, GET, DELETE, OPTIONS";

// How long the stream of what a server says unasked may be silent.
constexpr std::chrono::hours longest_silence{24};

mcp::session_binding binding_of(const request_context& request)
{
    const auto* caller = request.principal();
    mcp::session_binding binding;
    binding.agent = request.agent->record.id;
    binding.address = request.agent->call_url;
    if (caller != nullptr) {
        binding.provider = caller->provider;
        binding.principal = caller->id;
    }
    return binding;
}

}  // namespace

net::routine<> mcp_endpoint::look(request_context& request)
{
    request.words = call_words::mcp;
    if (find_agent(request) == nullptr) {
        return refuse_agent(request);
    }
    if (request.mcp->is_forbidden()) {
        return respond_call_error(request, core::caller_error(errc::origin_forbidden));
    }
    if (!request.may_call) {
        return respond_forbidden(request);
    }
    if (!request.agent->upstream && !request.agent->has_program_sessions()) {
        const auto* const why = "the server is in a package that the gateway does not run";
        return respond_call_error(request, core::gateway_error(errc::not_implemented, why));
    }
    switch (request.caller.head().verb) {
        case method::post:
            return post(request);
        case method::get:
        case method::delete_:
            return pass_bodiless(request);
        default:
            return refuse_method(request, methods_of_mcp);
    }
}

// A page of another origin is told so by its browser, which does not let it read an answer without CORS fields.
void mcp_endpoint::note_origin(request_context& request) const
{
    std::string_view origin;
    unsigned count = 0;
    for (const auto& field : request.caller.head().fields) {
        if (core::equal_ignoring_case(field.name, "Origin")) {
            origin = field.value;
            ++count;
        }
    }
    const auto verdict = mcp::judge_origin(
        origin,
        count,
        {.own = {&known_.public_base(), 1},
         .loopback_listener = config::is_loopback(settings_.listen),
         .listed = settings_.mcp.origins}
    );
    const bool of_another = verdict == mcp::origin_verdict::loopback || verdict == mcp::origin_verdict::listed;
    request.mcp.emplace(of_another ? origin : std::string_view{}, verdict == mcp::origin_verdict::forbidden);
}

net::routine<> mcp_endpoint::answer_preflight(request_context& request) const
{
    request.words = call_words::mcp;
    if (request.mcp->is_forbidden()) {
        return respond_call_error(request, core::caller_error(errc::origin_forbidden));
    }
    model::answer answer;
    answer.status = 204;
    net::http1::head_writer head{answer.fields};
    head.field("Allow", methods_of_mcp);
    if (!request.mcp->origin().empty()) {
        head.field("Access-Control-Allow-Methods", methods_of_mcp);
        const auto* asked = net::http1::find(request.caller.head().fields, "Access-Control-Request-Headers");
        if (asked != nullptr) {
            // Which of them go on is decided with the request itself.
            head.field("Access-Control-Allow-Headers", *asked);
        }
        head.field("Access-Control-Max-Age", "600");
    }
    return respond(request, std::move(answer));
}

net::routine<> mcp_endpoint::post(request_context& request)
{
    if (!model::takes_json(request.caller.head())) {
        co_await respond_call_error(request, core::caller_error(errc::unsupported_media_type));
        co_return;
    }
    const auto most = request.agent->record.mcp->max_message;
    auto body = request.caller.body_at_hand(most);
    if (!body) {
        body = co_await request.caller.read_body(most);
    }
    if (!body) {
        co_await respond_call_error(request, std::move(body).error());
        co_return;
    }
    mcp::incoming_body read;
    if (body->size() <= read_at_once) {
        read = mcp::read_incoming(*body);
    } else {
        read = co_await read_long_message(request, *body);
    }
    if (auto refusal = prepare(request, read, *body)) {
        co_await std::move(*refusal);
    }
}

net::routine<mcp::incoming_body> mcp_endpoint::read_long_message(request_context& request, std::string_view body)
{
    const auto here = request.caller.owner().get_executor();
    auto asked = control_.long_bodies().ask<mcp::incoming_body>([body] { return mcp::read_incoming(body); });
    co_return co_await net::ask(here, here, std::move(asked));
}

// Sets request.call, or returns the answer that refuses the message.
std::optional<net::routine<>>
mcp_endpoint::prepare(request_context& request, const mcp::incoming_body& read, std::string_view body)
{
    const auto fields = mcp_fields_of(request.caller.head());
    const auto& message = read.message;
    if (is_too_long(message)) {
        return respond_call_error(
            request,
            core::caller_error(errc::invalid_request, "a name or a capability is too long")
        );
    }
    request.call_id = read.id.of(body);
    request.record.era = mcp::era_of_post(fields, read);
    request.record.mcp_method = message.method;
    const bool legacy = *request.record.era == mcp::era::legacy;
    const bool begins = legacy && message.method == mcp::client_method::initialize;
    std::optional<mcp::sealed_session> session;
    std::string_view version;
    if (legacy && !begins && fields.session.count == 1) {
        auto opened = open_session(request, fields.session.value);
        if (!opened) {
            return respond_call_error(request, std::move(opened).error());
        }
        session = std::move(*opened);
        version = session->version;
    }
    if (const auto why = mcp::check_post(fields, read, body, version)) {
        return refuse(request, *why);
    }
    std::string room;
    const bool is_request = message.kind == mcp::incoming_kind::request;
    if (is_request && !may_call(request, message.text(mcp::routed::method, body, room).value_or(""))) {
        return respond_forbidden(request);
    }
    if (begins) {
        expect_begin(request, message, body);
    }
    if (message.method == mcp::client_method::tools_call) {
        request.tool = message.text(mcp::routed::name, body, room).value_or("");
        request.record.tool = request.tool;
    }
    std::optional<mcp::text_edit> renamed;
    if (request.agent->filters) {
        auto edit = filter(request, read, body);
        if (!edit) {
            return refuse_hidden(request, std::move(edit).error());
        }
        renamed = std::move(*edit);
    }
    if (request.agent->has_program_sessions()) {
        return set_program_call(request, {fields, read, body, renamed, session});
    }
    write_head(request, session ? std::get<std::string>(session->place) : std::string{});
    write_name(request, fields.name);
    auto& call = set_call(request, renamed ? std::string_view{request.edited_body} : body);
    call.edit = request.edit.get();
    call.repeatable = safe_to_repeat(message.method);
    call.streaming = true;
    call.silence =
        message.method == mcp::client_method::listen ? longest_silence : request.agent->record.mcp->call_timeout;
    call.session = request.session_field;
    call.terms = &*request.mcp;
    return std::nullopt;
}

// As servers answer a call of what they do not have: what is hidden does not differ from what is unknown.
net::routine<> mcp_endpoint::refuse_hidden(request_context& request, core::error failure)
{
    auto answer = model::mcp_error_answer(failure.code, request.record.agent, request.call_id);
    if (failure.code == errc::invalid_params && !request.call_id.empty()) {
        answer.status = 200;
    }
    return respond_error(request, std::move(failure), std::move(answer));
}

// `Mcp-Name` repeats what the body says, and so has the server's name where callers use another one.
void mcp_endpoint::write_name(request_context& request, const mcp::head_field& name)
{
    if (name.count == 1) {
        const auto value =
            request.server_name.empty() ? std::string{name.value} : mcp::header_value(request.server_name);
        net::http1::head_writer{request.session_field}.field("Mcp-Name", value);
    }
}

// What of the message has to change because something of the server is hidden or has another name, and what of its answer.
core::result<std::optional<mcp::text_edit>>
mcp_endpoint::filter(request_context& request, const mcp::incoming_body& read, std::string_view body) const
{
    if (read.is_batch) {
        return core::caller_error(errc::invalid_request, "a batch, of a server whose lists are edited");
    }
    auto edit = mcp::admit(*request.agent->filters, read.message, body);
    if (!edit) {
        return std::move(edit).error();
    }
    if (*edit) {
        request.edited_body = mcp::edited(body, {&**edit, 1});
        request.server_name = core::unescape_json(std::string_view{(*edit)->text}.substr(1, (*edit)->text.size() - 2));
    }
    const auto list = list_of(read.message.method);
    if (list && !request.agent->filters->of(*list).passes_all()) {
        const auto here = request.caller.owner().get_executor();
        request.edit = std::make_unique<list_edit>(request.agent, *list, control_.long_bodies(), here);
    }
    return edit;
}

// A GET or DELETE, which is about a session.
net::routine<> mcp_endpoint::pass_bodiless(request_context& request)
{
    const auto fields = mcp_fields_of(request.caller.head());
    const bool listens = request.caller.head().verb == method::get;
    request.record.era = mcp::era::legacy;
    const auto why = listens ? mcp::check_get(fields) : mcp::check_delete(fields);
    if (why) {
        co_await refuse(request, *why);
        co_return;
    }
    if (fields.event.count > 0 && request.agent->filters) {
        // What is replayed may be a list, and nothing says so.
        co_await respond_call_error(request, core::caller_error(errc::bad_request, "Last-Event-ID, with a filter"));
        co_return;
    }
    if (fields.session.count == 0) {
        co_await refuse_method(request, "POST");
        co_return;
    }
    auto session = open_session(request, fields.session.value);
    if (!session) {
        co_await respond_call_error(request, std::move(session).error());
        co_return;
    }
    if (request.agent->has_program_sessions()) {
        set_program_call(request, listens ? model::program_act::listen : model::program_act::end, *session);
        co_return;
    }
    write_head(request, std::get<std::string>(session->place));
    auto& call = set_call(request, {});
    call.repeatable = listens;
    call.streaming = listens;
    call.silence = listens ? longest_silence : core::duration{};
    call.session = request.session_field;
    call.terms = &*request.mcp;
}

// Fails with session_not_found.
core::result<mcp::sealed_session> mcp_endpoint::open_session(request_context& request, std::string_view id) const
{
    auto session = ids_->open(id, binding_of(request), std::chrono::system_clock::now());
    if (session && std::holds_alternative<std::string>(session->place) == request.agent->has_program_sessions()) {
        return core::caller_error(errc::session_not_found);
    }
    if (session) {
        request.session_tag = mcp::tag_of(id);
        request.record.session = request.session_tag;
        request.words = call_words::mcp_session;
        request.mcp->expect_session();
    }
    return session;
}

// The server chooses the version; what is sealed is the one that the client asks for, and only counts where a later request
// has none.
void mcp_endpoint::expect_begin(request_context& request, const mcp::incoming& message, std::string_view body) const
{
    std::string room;
    const auto asked = message.text(mcp::routed::version, body, room).value_or("");
    mcp::sealed_session begins;
    begins.version = mcp::latest(mcp::era::legacy);
    for (const auto known : mcp::versions(mcp::era::legacy)) {
        begins.version = asked == known ? known : begins.version;
    }
    begins.declared = mcp::client_capabilities::read(message.raw(mcp::routed::capabilities, body));
    begins.began = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    request.mcp->expect_begin(std::move(begins), binding_of(request), ids_);
}

net::routine<> mcp_endpoint::refuse(request_context& request, const mcp::refusal& why)
{
    auto answer = model::mcp_error_answer(why.code, request.record.agent, request.call_id, why.data);
    return respond_error(request, core::caller_error(why.code, std::string{why.why}), std::move(answer));
}

void mcp_endpoint::write_head(request_context& request, std::string_view session)
{
    const auto& agent = *request.agent;
    net::http1::head_writer head{request.head};
    head.request_line(request.caller.head().verb, model::with_query(agent.upstream->path, agent.query_key));
    request.head += agent.fixed_fields;
    if (!session.empty()) {
        net::http1::head_writer{request.session_field}.field("Mcp-Session-Id", session);
    }
}

}  // namespace gateway::traffic
