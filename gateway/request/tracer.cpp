#include "gateway/request/tracer.hpp"

#include "core/json/jsonrpc_scan.hpp"
#include "core/utf8.hpp"
#include "gateway/request/request_context.hpp"
#include "gateway/telemetry/mcp_counters.hpp"

#include <chrono>
#include <utility>

namespace gateway::request {
namespace {

using net::http1::field_name;

constexpr std::size_t longest_path = 1024;
constexpr std::size_t longest_id = 128;
constexpr unsigned first_server_error = 500;
constexpr unsigned first_error = 400;

// The kind of path, as few words as there are routes. The rest of a path is in the span's own.
std::string_view route_text(model::route where) noexcept
{
    switch (where) {
        case model::route::card:
            return "/agents/{id}/.well-known/agent-card.json";
        case model::route::call:
            return "/agents/{id}";
        case model::route::mcp:
            return "/agents/{id}/mcp";
        case model::route::bundle:
            return "/mcp/{bundle}";
        case model::route::relay:
            return "/agents/{id}/{path}";
        case model::route::push:
            return "/agents/{id}/push/{address}";
        case model::route::management:
            return "/rpc";
        case model::route::registration:
            return "/agent/register";
        case model::route::key_set:
            return "/.well-known/jwks.json";
        case model::route::resource_metadata:
            return "/.well-known/oauth-protected-resource";
        case model::route::directory:
            return "/.well-known/{directory}";
        case model::route::index:
            return "/";
        case model::route::none:
            break;
    }
    return {};
}

std::string_view rpc_method_of(const model::request_record& record) noexcept
{
    if (record.rpc_method) {
        return ::a2a::name(*record.rpc_method);
    }
    return record.mcp_method ? telemetry::method_label(*record.mcp_method) : std::string_view{};
}

// `authority` without its port, and that; a name or an address in brackets.
void set_host(model::span& span, std::string_view authority)
{
    const auto colon = authority.rfind(':');
    const bool has_port = colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos;
    span.host = authority.substr(0, has_port ? colon : authority.size());
    unsigned port = 0;
    for (const char digit : has_port ? authority.substr(colon + 1) : std::string_view{}) {
        port = port * 10 + static_cast<unsigned>(digit - '0');
    }
    span.port = static_cast<std::uint16_t>(port);
}

// By its access rules, its limits or its names, before any agent is asked.
bool is_turned_away(const model::request_record& record) noexcept
{
    return record.denied || record.over || record.code == core::errc::misdirected_request;
}

// Not the id `null`, which names no request.
std::string shown_id(std::string_view raw)
{
    if (raw.empty() || raw == "null") {
        return {};
    }
    const bool quoted = raw.size() >= 2 && raw.front() == '"';
    const auto text = quoted ? core::unescape_json(raw.substr(1, raw.size() - 2)) : std::string{raw};
    return std::string{core::cut_utf8(text, longest_id)};
}

void add_mcp(model::span& span, const request_context& request)
{
    const auto& record = request.record;
    span.is_mcp = true;
    span.protocol = request.trace.protocol();
    if (*record.mcp_method == ::mcp::client_method::tools_call) {  // NOLINT(*-optional-access): its caller has looked
        span.operation = "execute_tool";
        span.tool = record.tool_listed ? record.tool : std::string_view{"other"};
    }
    if (record.tool_failed && span.error.empty()) {
        span.error = "tool_error";
        span.failed = true;
    }
}

void add_a2a(model::span& span, const request_context& request)
{
    span.is_a2a = true;
    const auto what = ::a2a::operation_of(*request.record.rpc_method);  // NOLINT(*-optional-access): as above
    if (what == ::a2a::operation::send || what == ::a2a::operation::stream) {
        span.operation = "invoke_agent";
    }
    span.agent_name = request.trace.agent_name();
    span.conversation = request.trace.conversation();
}

model::span span_of_request(const request_context& request, core::wall_time now)
{
    const auto& record = request.record;
    const auto& trace = request.trace;
    model::span span;
    span.at = trace.at();
    span.parent = trace.parent();
    span.kind = model::span_kind::server;
    span.end = now;
    span.start = now - std::chrono::duration_cast<core::wall_time::duration>(record.total);
    span.http_method = record.http_method;
    span.route = route_text(record.where);
    span.scheme = request.caller.secure() ? "https" : "http";
    span.rpc_method = rpc_method_of(record);
    span.error = record.code ? core::name(*record.code) : std::string_view{};
    span.status = record.status;
    span.failed = record.status >= first_server_error || (record.code && record.from != core::side::caller);
    if (record.where != model::route::push) {  // its path is a key: who knows it may notify
        span.path = trace.path();
    }
    set_host(span, trace.authority());
    span.agent = record.agent;
    span.request_id = shown_id(request.errors.call_id);
    if (record.mcp_method) {
        add_mcp(span, request);
    } else if (record.rpc_method) {
        add_a2a(span, request);
    }
    return span;
}

// `since`: what the steady clock said at `now`.
model::span
span_of_attempt(const request_context& request, std::size_t index, core::wall_time now, core::steady_time since)
{
    const auto& attempt = request.trace.attempts()[index];
    const auto& record = request.record;
    const auto at = [&](core::steady_time when) {
        return now - std::chrono::duration_cast<core::wall_time::duration>(since - when);
    };
    model::span span;
    span.at = request.trace.at();
    span.at.span = attempt.span;
    span.parent = request.trace.at().span;
    span.kind = model::span_kind::client;
    span.start = at(attempt.begun);
    span.end = attempt.ended == core::steady_time{} ? now : at(attempt.ended);
    span.http_method = attempt.method;
    span.status = attempt.status;
    span.resends = static_cast<unsigned>(index);
    span.host = attempt.host;
    span.port = attempt.port;
    span.agent = record.agent;
    auto failure = attempt.failure;
    // The record has the failure that came after the head of the last answer.
    const bool last = index + 1 == request.trace.attempts().size();
    if (!failure && last && attempt.status > 0 && record.code && record.from == core::side::upstream) {
        failure = record.code;
    }
    span.error = failure ? core::name(*failure) : std::string_view{};
    span.failed = failure || attempt.status >= first_error;
    return span;
}

}  // namespace

std::optional<core::trace_context> caller_trace(const net::http1::field_list& fields) noexcept
{
    const std::string_view* found = nullptr;
    for (const auto& field : fields) {
        if (field.id == field_name::traceparent) {
            if (found != nullptr) {
                return std::nullopt;
            }
            found = &field.value;
        }
    }
    return found != nullptr ? core::read_traceparent(*found) : std::nullopt;
}

void tracer::begin(request_context& request, bool readable)
{
    auto& at = request.record.trace;
    const auto came = readable ? caller_trace(request.caller.head().fields) : std::nullopt;
    if (came && !plan_.joins) {
        at = *came;
        return;
    }
    at.trace = came ? came->trace : ids_.trace();
    at.span = ids_.span();
    if (!plan_.joins) {
        return;
    }
    at.sampled = came ? came->sampled : ids_.chance(plan_.sample);
    request.trace.join(ids_, at, came ? came->span : 0);
    if (at.sampled && readable) {
        const auto& head = request.caller.head();
        request.trace.set_target(
            core::cut_utf8(head.target.substr(0, head.target.find('?')), longest_path),
            head.authority
        );
    }
}

void tracer::account(const request_context& request, core::wall_time now)
{
    if (!request.trace.recorded()) {
        return;
    }
    // Callers that are turned away do not decide which spans are kept: each small request would bring one.
    const bool is_by_word = request.trace.parent() != 0;
    if (is_by_word && is_turned_away(request.record) && !ids_.chance(plan_.sample)) {
        return;
    }
    const auto since = request.caller.started() + request.record.total;
    for (std::size_t i = 0; i < request.trace.attempts().size(); ++i) {
        add(span_of_attempt(request, i, now, since));
    }
    add(span_of_request(request, now));
}

void tracer::add(model::span done)
{
    if (done_.spans.size() < most_waiting) {
        done_.spans.push_back(std::move(done));
    } else {
        ++done_.dropped;
    }
}

model::span_batch tracer::take()
{
    return std::exchange(done_, {});
}

}  // namespace gateway::request
