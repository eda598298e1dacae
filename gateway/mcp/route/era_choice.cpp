#include "gateway/mcp/route/era_choice.hpp"

#include "core/ascii.hpp"
#include "gateway/mcp/route/mcp_call.hpp"
#include "gateway/mcp/route/mcp_fields.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/relay/call_wait.hpp"
#include "gateway/request/request_context.hpp"
#include "mcp/calls/incoming_check.hpp"
#include "net/server/timed_ask.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

namespace gateway::mcp::route {

bool era_choice::concerns(const request::request_context& request, const ::mcp::incoming_body& read)
{
    const auto& server = *request.agent->record.mcp;
    if (server.transport != core::mcp_transport::streamable_http || request.agent->fell_back ||
        server.era == core::mcp_era::legacy || server.sessions == core::mcp_sessions::shared || read.problem ||
        model::passes_logins(request.agent->record)) {  // its 401 has to reach the caller
        return false;
    }
    const bool begins = read.message.method == ::mcp::client_method::initialize;
    const auto& head = request.caller.head();
    return (begins || net::http1::find(head.fields, "Mcp-Session-Id") == nullptr) &&
           ::mcp::era_of_post(mcp_fields_of(head), read) == ::mcp::era::legacy;
}

net::routine<core::result<>>
era_choice::choose(mcp_call& call, const ::mcp::incoming_body& read, model::control_services& control)
{
    auto& request = call.request;
    if (const auto* const known = look(request)) {
        call.translated = known->translated;
        co_return core::result<>{};
    }
    auto asked = control.programs.translates(request.agent->record.id);
    const bool begins = read.message.method == ::mcp::client_method::initialize;
    const auto due = begins ? std::min(due_of(request), opening_due(request)) : due_of(request);
    const auto found = co_await net::ask_until(request.caller, due, control.executor, std::move(asked));
    if (!found) {
        co_return net::gave_up(request.caller);
    }
    call.translated = *found;
    remember(call);
    co_return core::result<>{};
}

bool era_choice::awaits_era(const mcp_call& call)
{
    const auto& request = call.request;
    const auto& server = *request.agent->record.mcp;
    return call.program && call.program->asked.act == model::program_act::modern &&
           server.transport == core::mcp_transport::stdio && server.era == core::mcp_era::automatic &&
           server.sessions != core::mcp_sessions::shared;
}

net::routine<core::result<>> era_choice::find_era(const mcp_call& call, model::control_services& control)
{
    const auto& request = call.request;
    if (look(request) != nullptr) {
        co_return core::result<>{};
    }
    auto asked = control.programs.find_era(request.agent->record.id);
    const auto due = due_of(request);
    auto found = co_await net::ask_until(request.caller, due, control.executor, std::move(asked));
    if (!found) {
        co_return net::gave_up(request.caller);
    }
    if (*found) {
        remember(call);
    }
    co_return std::move(*found);
}

// Null: the control loop has to be asked.
const era_choice::known_agent* era_choice::look(const request::request_context& request) const
{
    const auto found = known_.find(request.agent->record.id);
    const bool holds = found != known_.end() && request.caller.owner().now() < found->second.until &&
                       found->second.agent.lock() == request.agent;
    return holds ? &found->second : nullptr;
}

void era_choice::remember(const mcp_call& call)
{
    const auto& request = call.request;
    known_[request.agent->record.id] = {
        request.agent,
        call.translated,
        request.caller.owner().now() + memory,
    };
}

core::steady_time era_choice::due_of(const request::request_context& request) const
{
    return relay::caller_deadline(request.caller.head().fields, deadlines_, request.caller.started());
}

core::steady_time opening_due(const request::request_context& request)
{
    return request.caller.started() + request.agent->record.mcp->initialize_timeout;
}

bool is_translated(const ::mcp::sealed_session& session) noexcept
{
    const auto* const place = std::get_if<::mcp::local_handle>(&session.place);
    return place != nullptr && place->worker == session_here;
}

std::vector<std::pair<std::string, std::string>> passed_fields(const request::request_context& request)
{
    std::vector<std::pair<std::string, std::string>> passed;
    for (const auto& [name, value] : forwarded_fields(request)) {
        passed.emplace_back(name, value.reveal());
    }
    const auto& trace = request.trace;
    if (trace.joined()) {
        std::erase_if(passed, [&](const auto& each) { return trace.replaces(each.first); });
        std::string value;
        core::append_traceparent(value, trace.at());
        passed.emplace_back("traceparent", std::move(value));
    }
    for (const std::string_view name : {"traceparent", "tracestate"}) {
        const auto* const value = net::http1::find(request.caller.head().fields, name);
        const bool named = std::ranges::any_of(passed, [name](const auto& each) {
            return core::equal_ignoring_case(each.first, name);
        });
        if (value != nullptr && !named && !trace.replaces(name)) {
            passed.emplace_back(name, *value);
        }
    }
    return passed;
}

bool is_for_legacy_server(const request::request_context& request, const model::published_card* card)
{
    const auto& record = request.agent->record;
    const auto& server = *record.mcp;
    if (request.record.era != ::mcp::era::modern || server.transport != core::mcp_transport::streamable_http) {
        return false;
    }
    const bool found_out = server.era == core::mcp_era::automatic && card != nullptr && card->era == ::mcp::era::legacy;
    if (!found_out && server.era != core::mcp_era::legacy) {
        return false;
    }
    const bool passes = record.of_callers.all || !record.of_callers.names.empty() || !server.forward_headers.empty();
    return !passes && !request.agent->exchanges_tokens;
}

}  // namespace gateway::mcp::route
