#include "gateway/mcp/route/program_call.hpp"

#include "core/trace_context.hpp"
#include "gateway/mcp/route/era_choice.hpp"
#include "gateway/mcp/route/mcp_call.hpp"
#include "gateway/mcp/route/mcp_fields.hpp"
#include "gateway/request/request_context.hpp"
#include "gateway/request/responder.hpp"
#include "mcp/calls/client_capabilities.hpp"
#include "mcp/calls/text_edits.hpp"
#include "mcp/protocol/read_text.hpp"
#include "mcp/protocol/version.hpp"
#include "mcp/translation/legacy_messages.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <variant>

namespace gateway::mcp::route {
namespace {

using core::errc;
using model::program_act;

// The first version whose clients know of resumption, and the first whose clients take an event without data for what it is.
constexpr std::string_view first_resumed = "2025-03-26";
constexpr std::string_view first_primed = "2025-11-25";

// The two parts have no control characters.
std::string owner_of(const request::request_context& request)
{
    const auto* caller = request.principal();
    return caller == nullptr ? std::string{} : caller->provider + '\n' + caller->id;
}

std::string handle_of(const ::mcp::sealed_session& session)
{
    const auto& place = std::get<::mcp::local_handle>(session.place);
    return {place.random.begin(), place.random.end()};
}

// The trace for a request to a server that gets no fields, in a trace that the gateway joins. Long ones are not searched here.
std::optional<::mcp::text_edit> trace_of(const mcp_call& of, const ::mcp::incoming& read, std::string_view text)
{
    const auto& request = of.request;
    const auto& trace = request.trace;
    const bool asks =
        read.kind == ::mcp::incoming_kind::request && read.method != ::mcp::client_method::initialize && !of.translated;
    if (!trace.joined() || !asks || text.size() > ::mcp::read_at_once) {
        return std::nullopt;
    }
    std::string parent;
    core::append_traceparent(parent, trace.at());
    const auto* const state = net::http1::find(request.caller.head().fields, net::http1::field_name::tracestate);
    const bool keeps = state != nullptr && !trace.replaces("tracestate");
    return ::mcp::trace_edit(read, text, {parent, keeps ? *state : std::string_view{}});
}

// The message as it is passed on, and where its parts stand there.
::mcp::kept_message kept(const mcp_call& of, const program_message& what, ::mcp::incoming& read)
{
    const auto body = what.edits.empty() ? what.body : std::string_view{of.edited_body};
    read = ::mcp::moved(what.read.message, what.edits);
    std::string room;
    auto text = body.substr(what.read.message.whole.at, read.whole.size);
    std::string traced;
    if (const auto trace = trace_of(of, read, text)) {
        traced = ::mcp::edited(text, {&*trace, 1});
        read = ::mcp::moved(read, {&*trace, 1});
        text = traced;
    }
    return ::mcp::kept_message{::mcp::client_message_of(read, text, room)};
}

net::routine<> accept(request::request_context& request)
{
    responses::answer accepted;
    accepted.status = 202;
    return request::respond(request, std::move(accepted));
}

// Copies legacy_version(), which may be a view into the head.
std::string_view static_version(std::string_view version)
{
    const auto known = ::mcp::versions(::mcp::era::legacy);
    const auto found = std::ranges::find(known, version);
    return found == known.end() ? ::mcp::latest(::mcp::era::legacy) : *found;
}

// `session`: the version that the client asked for when it began; `version`: the one that it speaks, which may be older.
model::resumption resumption_of(std::string_view session, std::string_view version) noexcept
{
    if (session < first_resumed) {
        return model::resumption::never;
    }
    return version >= first_primed ? model::resumption::at_once : model::resumption::after_event;
}

// digest_of_call() of a request whose client says that it can be asked for something during it; else empty.
std::string input_digest(const ::mcp::incoming& message, std::string_view body)
{
    using enum ::mcp::client_capability;
    if (message.kind != ::mcp::incoming_kind::request || !::mcp::may_need_input(message.method)) {
        return {};
    }
    const auto declared = ::mcp::client_capabilities::read(message.raw(::mcp::routed::meta_capabilities, body));
    if (!declared.has(roots) && !declared.has(sampling) && !declared.has(elicitation)) {
        return {};
    }
    const auto target = ::mcp::target_of(message.method);
    if (!target) {
        return {};
    }
    std::string room;
    const auto name = message.text(*target, body, room).value_or("");
    return ::mcp::digest_of_call(::mcp::name(message.method), name, message.raw(::mcp::routed::arguments, body));
}

// In the form that the caller takes.
program_call& begin_call(mcp_call& of, const program_message& what)
{
    of.program = std::make_unique<program_call>();
    auto& call = *of.program;
    call.form = what.head.accept.form();
    call.asked.answers_only = call.form == ::mcp::answer_form::json;
    return call;
}

std::optional<net::routine<>> set_modern_call(mcp_call& of, const program_message& what)
{
    auto& request = of.request;
    if (what.read.message.kind != ::mcp::incoming_kind::request) {
        return accept(request);
    }
    auto& call = begin_call(of, what);
    call.asked.act = model::program_act::modern;
    call.asked.agent = request.agent->record.id;
    call.asked.principal = owner_of(request);
    call.asked.message = kept(of, what, call.asked.read);
    if (what.read.message.method == ::mcp::client_method::tools_call) {
        call.asked.fields = parameter_fields_of(request.caller.head());
        if (of.member) {
            const auto& further = of.member->parameters;
            call.asked.fields.insert(call.asked.fields.end(), further.begin(), further.end());
        }
    }
    call.asked.digest =
        of.input_digest.empty() ? input_digest(what.read.message, what.body) : std::move(of.input_digest);
    return std::nullopt;
}

}  // namespace

std::uint64_t home_of_parked(const program_call& call, const ::mcp::session_ids& ids)
{
    const auto& asked = call.asked;
    if (asked.act != model::program_act::modern || asked.read[::mcp::routed::request_state].empty()) {
        return 0;
    }
    std::string room;
    const auto state = asked.read.text(::mcp::routed::request_state, asked.message.view().text, room).value_or("");
    // eras::modern_client_calls seals it in this form.
    const ::mcp::input_binding binding{
        .agent = asked.agent,
        .provider = {},
        .principal = asked.principal,
        .call = asked.digest
    };
    const auto parked = ids.open_input(state, binding, std::chrono::system_clock::now());
    return parked && ids.is_elsewhere(*parked) ? parked->replica : 0;
}

::mcp::incoming_body read_long(mcp_call& of, std::string_view body)
{
    auto& request = of.request;
    auto read = ::mcp::read_incoming(body);
    // A server of the modern era keeps its calls' state itself; of a bundle it is not known yet which one it is for.
    const auto* const agent = request.agent.get();
    const bool may_wait = agent != nullptr && (is_for_program_port(*agent, /*legacy=*/false, /*alone=*/true) ||
                                               agent->record.mcp->era != core::mcp_era::modern);
    if (may_wait && !read.problem) {
        of.input_digest = input_digest(read.message, body);
    }
    return read;
}

bool is_for_program_port(const model::agent_entry& agent, bool legacy, bool alone)
{
    if (!agent.upstream || agent.fell_back) {
        return true;
    }
    // Over HTTP a request of the modern era needs nobody's session.
    const auto& server = *agent.record.mcp;
    return legacy && (server.sessions == core::mcp_sessions::shared ||
                      (alone && server.sessionless == core::mcp_sessionless::shared));
}

std::optional<net::routine<>> set_program_call(mcp_call& of, const program_message& what)
{
    auto& request = of.request;
    const auto& server = *request.agent->record.mcp;
    const auto& message = what.read.message;
    const bool asks = message.kind == ::mcp::incoming_kind::request;
    const bool begins = message.method == ::mcp::client_method::initialize;
    const bool alone = !what.session && !begins;
    if (request.record.era == ::mcp::era::modern) {
        return set_modern_call(of, what);
    }
    if (alone && server.sessionless == core::mcp_sessionless::refuse) {
        return request::respond_call_error(
            request,
            core::caller_error(errc::session_required, "a message without a session")
        );
    }
    if (alone && !asks) {
        // Nothing waits for it: each call has a session of its own.
        return accept(request);
    }
    const auto version = ::mcp::legacy_version(what.head, what.session ? what.session->version : std::string_view{});
    auto& call = begin_call(of, what);
    call.asked.agent = request.agent->record.id;
    call.asked.principal = owner_of(request);
    call.asked.message = kept(of, what, call.asked.read);
    if (of.translated) {
        call.asked.fields = passed_fields(request);
    }
    call.primed = version >= first_primed;
    if (what.session) {
        call.asked.act = asks ? model::program_act::request : model::program_act::tell;
        call.asked.handle = handle_of(*what.session);
        // A list that is edited here is not what is kept.
        const bool kept = (of.edit == nullptr || of.edit->on().each) && !call.asked.answers_only;
        call.asked.resumes = kept ? resumption_of(what.session->version, version) : model::resumption::never;
    } else if (begins) {
        call.asked.act = model::program_act::begin;
        call.primed = false;  // the version is not agreed on yet
    } else {
        call.asked.act = model::program_act::call;
        call.asked.version = static_version(version);
    }
    return std::nullopt;
}

void set_program_call(
    mcp_call& of,
    model::program_act act,
    const ::mcp::head_fields& head,
    const ::mcp::sealed_session& session
)
{
    auto& request = of.request;
    const auto version = ::mcp::legacy_version(head, session.version);
    of.program = std::make_unique<program_call>();
    auto& call = *of.program;
    call.asked.act = act;
    call.asked.agent = request.agent->record.id;
    call.asked.principal = owner_of(request);
    call.asked.handle = handle_of(session);
    call.asked.resumes = resumption_of(session.version, version);
    call.primed = version >= first_primed;
    if (act == model::program_act::listen && head.event.count > 0) {
        call.asked.act = model::program_act::resume;
        // A malformed place is not a known one.
        call.asked.last = ::mcp::event_position::read(head.event.value).value_or(::mcp::event_position{});
    }
}

}  // namespace gateway::mcp::route
