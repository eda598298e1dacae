#include "gateway/mcp/route/mcp_message.hpp"

#include "core/json/jsonrpc_scan.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/mcp/route/mcp_call.hpp"
#include "gateway/mcp/route/mcp_fields.hpp"
#include "gateway/mcp/route/server_edits.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/request/request_context.hpp"
#include "gateway/request/responder.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace gateway::mcp::route {

using core::errc;

// Hidden and unknown names do not differ: servers answer a call of what they do not have like this.
net::routine<> refuse_hidden(request::request_context& request, core::error failure)
{
    auto answer = responses::mcp_error_answer(failure.code, request.record.agent, request.errors.call_id);
    if (failure.code == errc::invalid_params && !request.errors.call_id.empty()) {
        answer.status = 200;
    }
    return request::respond_error(request, std::move(failure), std::move(answer));
}

::mcp::session_binding binding_of(const request::request_context& request)
{
    const auto* caller = request.principal();
    ::mcp::session_binding binding;
    binding.agent = request.agent->record.id;
    binding.address = request.agent->call_url;
    if (caller != nullptr) {
        binding.provider = caller->provider;
        binding.principal = caller->id;
    }
    return binding;
}

::mcp::sealed_session session_begun_by(const ::mcp::incoming& initialize, std::string_view body)
{
    std::string room;
    const auto asked = initialize.text(::mcp::routed::version, body, room).value_or("");
    ::mcp::sealed_session begins;
    begins.version = ::mcp::latest(::mcp::era::legacy);
    for (const auto known : ::mcp::versions(::mcp::era::legacy)) {
        begins.version = asked == known ? known : begins.version;
    }
    const auto capabilities = initialize.raw(::mcp::routed::capabilities, body);
    begins.declared = ::mcp::client_capabilities::read(capabilities);
    begins.further = ::mcp::further_capabilities(capabilities);
    begins.began = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return begins;
}

::mcp::event_gate::terms event_terms(const mcp_call& call, bool replayed, std::uint64_t limit)
{
    const auto& request = call.request;
    ::mcp::event_gate::terms events{.call = request.errors.call_id, .replayed = replayed, .limit = limit};
    if (request.record.era == ::mcp::era::modern) {
        // Servers of that era ask nothing (MCP 2026-07-28, basic/patterns/mrtr).
        events.declared = ::mcp::client_capabilities{};
    } else if (const auto* const session = call.repair ? call.repair->sealed() : nullptr) {
        events.declared = session->declared;
    }
    return events;
}

// `Mcp-Name` repeats what the body says, and so has the server's name where callers use another one.
void write_name(mcp_call& call, const ::mcp::head_field& name)
{
    if (name.count == 1) {
        const auto own = call.member && call.server_name.empty() ? std::string_view{call.member->name}
                                                                 : std::string_view{call.server_name};
        const auto value = own.empty() ? std::string{name.value} : ::mcp::header_value(own);
        net::http1::head_writer{call.session_lines}.field("Mcp-Name", value);
    }
    if (call.member) {
        for (const auto& [field, value] : call.member->parameters) {
            net::http1::head_writer{call.session_lines}.field(field, value);
        }
    }
}

bool may_post(const request::request_context& request, const ::mcp::incoming_body& read, std::string_view body)
{
    if (!request.sender.access || read.message.kind != ::mcp::incoming_kind::request) {
        return true;
    }
    // The session of a bundle with its member is no right of its own: what is called in it is.
    const auto& inner = request.sender.inner;
    const auto asked = read.message.method;
    if (inner != nullptr && !inner->bundle.empty() && !inner->bridge &&
        (asked == ::mcp::client_method::initialize || asked == ::mcp::client_method::set_level)) {
        return true;
    }
    std::string room;
    const auto method = read.message.text(::mcp::routed::method, body, room).value_or("");
    return request.sender.access->may_call(request.agent->record, request.principal(), method);
}

std::optional<::mcp::refusal>
refused_webhook(const ::mcp::incoming_body& read, std::string_view body, const config::settings& settings)
{
    const auto& message = read.message;
    if (message.method != ::mcp::client_method::events_subscribe || message[::mcp::routed::delivery].empty()) {
        return std::nullopt;
    }
    std::string room;
    const auto url = message.text(::mcp::routed::webhook, body, room);
    const bool absent =
        message[::mcp::routed::webhook].empty() && ::mcp::is_object(message.raw(::mcp::routed::delivery, body));
    const auto why = absent ? std::nullopt : model::objection_to_push_url(std::string{url.value_or("")}, settings);
    if (!why) {
        return std::nullopt;
    }
    return ::mcp::refusal{
        .code = errc::invalid_params,
        .data = {},
        .why = *why,
        .said = "params.delivery.url " + std::string{*why} + ".",
    };
}

namespace {

// Scopes are of principals alone, as with extended cards.
const std::vector<std::string>* scopes_of(const request::request_context& request)
{
    const auto* const caller = request.principal();
    return caller == nullptr ? nullptr : &caller->scopes;
}

// Where callers have no identity there is nobody to keep apart.
bool binds(const request::request_context& request)
{
    return request.sender.access != nullptr && request.agent->record.mcp->bind;
}

handed_out_owner owner_of(const request::request_context& request, const message_services& with)
{
    return {with.ids, binding_of(request), with.control.tasks, request.principal()};
}

std::unique_ptr<relay::answer_edit>
make_sealing(const request::request_context& request, ::mcp::handing what, const message_services& with)
{
    relay::text_edit::means means{
        .limit = request.agent->record.mcp->max_message,
        .side = with.control.long_bodies,
        .here = request.caller.owner().get_executor(),
        .each = true,
    };
    return std::make_unique<handed_out_edit>(owner_of(request, with), what, std::move(means));
}

// The kind of thing that the server may hand out with its answer. Nothing: it passes as it is. A legacy server hands something out if it is
// asked for a task; what is said of tasks beside that comes on other streams, of a session here on any.
std::optional<::mcp::handing> handed_out_with(const mcp_call& call, const ::mcp::incoming& message)
{
    const auto& request = call.request;
    using enum ::mcp::client_method;
    if (message.kind != ::mcp::incoming_kind::request) {
        return std::nullopt;
    }
    switch (message.method) {
        case tasks_list:
            return ::mcp::handing::task_list;
        case tasks_get:
        case tasks_update:
        case tasks_cancel:
        case tasks_result:
            return ::mcp::handing::request;
        default:
            break;
    }
    const bool modern = request.record.era == ::mcp::era::modern;
    if (modern && ::mcp::may_need_input(message.method)) {
        return ::mcp::handing::modern_request;
    }
    if (!message[::mcp::routed::augmented].empty()) {
        return ::mcp::handing::request;
    }
    const bool here = call.translated || request.agent->has_program_sessions();
    return message.method == listen || (here && message.method != initialize) ? std::optional{::mcp::handing::other}
                                                                              : std::nullopt;
}

// Edits the message where something of the server is hidden or has another name, and its answer.
core::result<std::vector<::mcp::text_edit>>
filter(mcp_call& call, const ::mcp::incoming_body& read, std::string_view body, const message_services& with)
{
    auto& request = call.request;
    std::vector<::mcp::text_edit> edits;
    const auto& filters = filters_of(*request.agent);
    const auto* const pins = request.agent->pins.get();
    auto admitted =
        pins != nullptr ? ::mcp::admit(filters, *pins, read.message, body) : ::mcp::admit(filters, read.message, body);
    if (!admitted) {
        return std::move(admitted).error();
    }
    const auto* const scopes = scopes_of(request);
    if (!::mcp::shows_named(filters, read.message, body, scopes)) {
        request.record.denied = model::denial::forbidden;
        return core::caller_error(errc::invalid_params, "a name that the caller's scopes hide");
    }
    if (*admitted) {
        edits.push_back(std::move(**admitted));
    }
    relay::text_edit::means means{
        request.agent->record.mcp->max_message,
        with.control.long_bodies,
        request.caller.owner().get_executor()
    };
    using ::mcp::client_method;
    const auto list = ::mcp::list_of(read.message.method);
    if (list && (filters.edits(*list) || (pins != nullptr && *list == ::mcp::list_kind::tools))) {
        call.edit = std::make_unique<list_edit>(request.agent, *list, scopes, with.control, std::move(means));
    } else if (pins != nullptr &&
               (read.message.method == client_method::initialize || read.message.method == client_method::discover)) {
        call.edit = std::make_unique<opening_edit>(request.agent, std::move(means));
    }
    return edits;
}

// Edits the message where it names something that the server has handed out to the caller.
core::result<std::vector<::mcp::text_edit>> open_what_was_handed_out(
    mcp_call& call,
    const ::mcp::incoming_body& read,
    std::string_view body,
    const message_services& with
)
{
    auto& request = call.request;
    const auto owner = owner_of(request, with);
    const auto* const session = call.repair ? call.repair->sealed() : nullptr;
    const bool has_tasks = session != nullptr && session->declared.has(::mcp::client_capability::tasks);
    auto opened = ::mcp::open_handed_out(read.message, body, owner.client(), has_tasks);
    if (!opened) {
        request.record.denied = model::denial::task;
        return std::move(opened).error();
    }
    for (const auto& each : opened->tasks) {
        owner.learn(each);
    }
    if (const auto what = handed_out_with(call, read.message); what && call.edit == nullptr) {
        call.edit = make_sealing(request, *what, with);
    }
    return std::move(opened->edits);
}

// `Mcp-Name` of the server's, if that is what an edit changes.
void note_server_name(mcp_call& call, const ::mcp::incoming& message, const ::mcp::text_edit& edit)
{
    const auto target = ::mcp::target_of(message.method);
    if (target && edit.place == message[*target]) {
        const std::string_view text = edit.text;
        call.server_name = core::unescape_json(text.substr(1, text.size() - 2));
    }
}

}  // namespace

core::result<std::vector<::mcp::text_edit>>
edit_for_server(mcp_call& call, const ::mcp::incoming_body& read, std::string_view body, const message_services& with)
{
    auto& request = call.request;
    std::vector<::mcp::text_edit> edits;
    if (request.agent->filters || request.agent->pins) {
        auto filtered = filter(call, read, body, with);
        if (!filtered) {
            return filtered;
        }
        edits = std::move(*filtered);
    }
    if (binds(request)) {
        auto opened = open_what_was_handed_out(call, read, body, with);
        if (!opened) {
            return opened;
        }
        edits.insert(edits.end(), opened->begin(), opened->end());
    }
    for (const auto& each : edits) {
        note_server_name(call, read.message, each);
    }
    if (!edits.empty()) {
        call.edited_body = ::mcp::edited(body, edits);
    }
    return edits;
}

void edit_stream(mcp_call& call, const message_services& with)
{
    auto& request = call.request;
    if (binds(request)) {
        call.edit = make_sealing(request, ::mcp::handing::unknown, with);
    }
}

// Keeps what a server that begins the session again has to be told again, once it has taken it.
void note_state(mcp_call& call, const ::mcp::incoming& message, std::string_view body)
{
    auto& request = call.request;
    using enum ::mcp::client_method;
    const bool is_state =
        message.method == set_level || message.method == resources_subscribe || message.method == resources_unsubscribe;
    const bool has_session = call.repair.has_value() && call.repair->session();
    if (is_state && has_session && request.agent->record.mcp->on_lost == core::mcp_loss::recover) {
        const auto& sent = call.edited_body.empty() ? message.raw(::mcp::routed::params, body) : std::string_view{};
        call.state_params = sent;
    }
}

}  // namespace gateway::mcp::route
