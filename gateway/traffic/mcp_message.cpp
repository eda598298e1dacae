#include "gateway/traffic/mcp_message.hpp"

#include "core/json/jsonrpc_scan.hpp"
#include "gateway/traffic/list_edit.hpp"
#include "gateway/traffic/mcp_fields.hpp"
#include "gateway/traffic/request_context.hpp"
#include "gateway/traffic/responder.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace gateway::traffic {

using core::errc;

// As servers answer a call of what they do not have: what is hidden does not differ from what is unknown.
net::routine<> refuse_hidden(request_context& request, core::error failure)
{
    auto answer = model::mcp_error_answer(failure.code, request.record.agent, request.call_id);
    if (failure.code == errc::invalid_params && !request.call_id.empty()) {
        answer.status = 200;
    }
    return respond_error(request, std::move(failure), std::move(answer));
}

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

// `Mcp-Name` repeats what the body says, and so has the server's name where callers use another one.
void write_name(request_context& request, const mcp::head_field& name)
{
    if (name.count == 1) {
        const auto value =
            request.server_name.empty() ? std::string{name.value} : mcp::header_value(request.server_name);
        net::http1::head_writer{request.session_field}.field("Mcp-Name", value);
    }
}

bool may_post(const request_context& request, const mcp::incoming_body& read, std::string_view body)
{
    const auto may = [&](const mcp::incoming& message) {
        std::string room;
        const auto method = message.text(mcp::routed::method, body, room).value_or("");
        return message.kind != mcp::incoming_kind::request ||
               request.access->may_call(request.agent->record, request.principal(), method);
    };
    return !request.access || (read.is_batch ? std::ranges::all_of(read.batch, may) : may(read.message));
}

// What of the message has to change because something of the server is hidden or has another name, and what of its answer.
core::result<std::optional<mcp::text_edit>> edit_for_server(
    request_context& request,
    const mcp::incoming_body& read,
    std::string_view body,
    model::side_thread& long_bodies
)
{
    if (read.is_batch) {
        return core::caller_error(errc::invalid_request, "a batch, of a server whose lists are edited");
    }
    auto admitted = mcp::admit(*request.agent->filters, read.message, body);
    if (!admitted) {
        return std::move(admitted).error();
    }
    auto edit = std::move(*admitted);
    if (edit) {
        const std::string_view text = edit->text;
        request.edited_body = mcp::edited(body, {&*edit, 1});
        request.server_name = core::unescape_json(text.substr(1, text.size() - 2));
    }
    const auto list = mcp::list_of(read.message.method);
    if (list && !request.agent->filters->of(*list).passes_all()) {
        const auto here = request.caller.owner().get_executor();
        request.edit = std::make_unique<list_edit>(request.agent, *list, long_bodies, here);
    }
    return edit;
}

// What a server that begins the session again has to be told again, once it has taken it.
void note_state(request_context& request, const mcp::incoming& message, std::string_view body)
{
    using enum mcp::client_method;
    const bool is_state =
        message.method == set_level || message.method == resources_subscribe || message.method == resources_unsubscribe;
    const bool has_session = request.repair.has_value() && request.repair->session();
    if (is_state && has_session && request.agent->record.mcp->on_lost == core::mcp_loss::recover) {
        const auto& sent = request.edited_body.empty() ? message.raw(mcp::routed::params, body) : std::string_view{};
        request.state_params = sent;
    }
}

}  // namespace gateway::traffic
