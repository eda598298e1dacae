#include "gateway/worker/traffic_handler.hpp"

#include "core/log.hpp"
#include "gateway/a2a/call_endpoint.hpp"
#include "gateway/a2a/card_endpoint.hpp"
#include "gateway/a2a/extended_card_endpoint.hpp"
#include "gateway/a2a/managed_card_endpoint.hpp"
#include "gateway/a2a/opaque_endpoint.hpp"
#include "gateway/a2a/push_endpoint.hpp"
#include "gateway/a2a/rest_endpoint.hpp"
#include "gateway/mcp/route/mcp_endpoint.hpp"
#include "gateway/mcp/route/program_relay.hpp"
#include "gateway/model/endpoint_entries.hpp"
#include "gateway/pages/description_endpoint.hpp"
#include "gateway/pages/directory_endpoint.hpp"
#include "gateway/pages/index_endpoint.hpp"
#include "gateway/pages/key_set_endpoint.hpp"
#include "gateway/pages/management_endpoint.hpp"
#include "gateway/pages/not_found_endpoint.hpp"
#include "gateway/pages/registration_endpoint.hpp"
#include "gateway/pages/resource_metadata_endpoint.hpp"
#include "gateway/relay/forwarded.hpp"
#include "gateway/relay/forwarding.hpp"
#include "gateway/request/access_guard.hpp"
#include "gateway/request/agent_origins.hpp"
#include "gateway/request/agent_relay.hpp"
#include "gateway/request/cross_origin.hpp"
#include "gateway/request/path_pattern.hpp"
#include "gateway/request/tracer.hpp"
#include "gateway/responses/host_policy.hpp"
#include "gateway/telemetry/access_log.hpp"
#include "gateway/telemetry/audit_tally.hpp"
#include "gateway/telemetry/call_tally.hpp"
#include "gateway/telemetry/worker_metrics.hpp"
#include "gateway/worker/handshake_notes.hpp"
#include "gateway/worker/session_lines.hpp"

#include <chrono>
#include <random>
#include <utility>

namespace gateway::worker {

using core::errc;
using net::http1::method;

// Behind a pointer, so that who includes the handler does not see all of traffic.
struct traffic_handler::phases {
    model::control_services& control;
    net::upstream_pool& pool;
    const config::settings& settings;
    responses::host_policy hosts{settings, settings.listen};
    relay::proxy_trust proxies{settings.trusted_proxies};
    telemetry::worker_metrics metrics{};
    telemetry::audit_tally tally{settings.audit != "off"};
    telemetry::call_tally calls{};
    request::tracer traces{[entropy = std::make_shared<std::random_device>()] { return (*entropy)(); }};
    request::local_snapshot known{};
    request::agent_origins origins{settings, known};
    request::access_guard guard{control, settings, known};
    request::cross_origin pages{control, settings, known};
    a2a::card_endpoint card{control, settings, known};
    pages::key_set_endpoint key_set{control, settings, known};
    pages::resource_metadata_endpoint resource_metadata{control, settings, known};
    pages::directory_endpoint directory{control, settings, known};
    pages::description_endpoint description{control, settings, known};
    a2a::call_endpoint call{control, settings, known};
    a2a::extended_card_endpoint extended_card{control, settings, known};
    a2a::managed_card_endpoint managed_card{control, settings, known};
    mcp::route::mcp_endpoint mcp{control, settings, known};
    a2a::opaque_endpoint opaque{control, settings, known};
    a2a::rest_endpoint rest{control, settings, known};
    pages::management_endpoint management{control, settings, known};
    pages::registration_endpoint registration{control, settings, known};
    a2a::push_endpoint push{control, settings, known};
    pages::not_found_endpoint not_found{control, settings, known};
    request::agent_relay relay{control, pool, settings, metrics};
};

traffic_handler::traffic_handler(
    model::control_services& control,
    net::upstream_pool& pool,
    const config::settings& settings,
    telemetry::access_log& lines,
    const core::logger& log
)
    : lines_{lines},
      log_{log},
      phases_{new phases{control, pool, settings}}
{
    phases_->guard.set_observers(phases_->metrics, phases_->tally);
}

traffic_handler::~traffic_handler() = default;

// The phases of a request: route, admit, identify, look, relay, account.
net::routine<> traffic_handler::handle(net::server_connection& caller)
{
    const telemetry::request_in_flight counted{phases_->metrics};
    request::request_context request{caller};
    phases_->traces.begin(request);
    route(request);
    const auto page = phases_->pages.note(request);
    if (request.to.where == model::route::mcp) {
        request.mcp.emplace(page == request::origin_verdict::forbidden);
    }
    auto refusal = admit(request, page);
    if (!refusal) {
        if (!phases_->guard.identify(request)) {
            co_await phases_->guard.ask(request);
        }
        if (auto denied = phases_->guard.admit(request)) {
            refusal.emplace(std::move(*denied));
        }
    }
    if (refusal) {
        co_await std::move(*refusal);
    } else {
        phases_->pages.publish(request);
        co_await look(request);
        if (request.call) {
            co_await phases_->relay.pass(request);
        } else if (request.program) {
            mcp::route::program_relay
                relay{request, *request.program, phases_->control, phases_->settings, phases_->relay};
            co_await relay.run();
        } else if (request.managed) {
            co_await phases_->managed_card.answer(request, *request.managed);
        }
    }
    account(request);
}

net::routine<> traffic_handler::refuse(net::server_connection& caller, core::error failure)
{
    request::request_context request{caller};
    phases_->traces.begin(request, /*readable=*/false);
    // A request that cannot be read costs as much as one that can. What the gateway itself broke off has been counted.
    auto limited = failure.from == core::side::caller ? phases_->guard.admit_address(request) : std::nullopt;
    auto answered = limited ? std::move(*limited) : request::respond_error(request, std::move(failure));
    co_await std::move(answered);
    account(request);
}

// Where the request comes from and where it goes.
void traffic_handler::route(request::request_context& request) const
{
    const auto& head = request.caller.head();
    const auto& peer = request.caller.peer();
    request.record.http_method = net::http1::name(head.verb);
    request.from_proxy = !phases_->proxies.empty() && phases_->proxies.trusts(peer);
    if (request.from_proxy) {
        // A copy: a stream gives its request's head up long before the line about it is written.
        request.client = relay::client_address(peer, head.fields, phases_->proxies);
        request.record.client = request.client;
    }
    request.origin = phases_->origins.find(head.authority);
    if (!relay::ends_here(head)) {
        request.to = request.origin ? request::find_destination_of(request.origin->id, head.target)
                                    : request::find_destination(head.target);
        request.disabled = request.origin ? request.origin->disabled : phases_->known.find_disabled(request.to.agent);
        if (request.to.where == model::route::registration && !phases_->guard.takes_registrations()) {
            request.to.where = model::route::none;
        }
        phases_->push.recognise(request);
        phases_->rest.note_words(request);
        request.record.where = request.to.where;
    }
}

// The answer to a request that is refused whatever agent it is for; nullopt: it is admitted.
std::optional<net::routine<>> traffic_handler::admit(request::request_context& request, request::origin_verdict page)
    const
{
    if (auto limited = phases_->guard.admit_address(request)) {
        return limited;
    }
    if (auto why = phases_->relay.overload_objection(request)) {
        return request::respond_call_error(request, std::move(*why));
    }
    const auto& head = request.caller.head();
    if (!request.origin && !phases_->hosts.answers(head.authority)) {
        request.record.where = model::route::none;
        request.caller.close_after_answer();
        return request::respond_error(request, core::caller_error(errc::misdirected_request));
    }
    if (auto answer = phases_->pages.answer_preflight(request, page, phases_->guard.asks_callers())) {
        return answer;
    }
    switch (request.to.where) {
        case model::route::card:
        case model::route::key_set:
        case model::route::resource_metadata:
        case model::route::index:
            if (!request::reads(head.verb)) {
                return request::refuse_method(request, request::reading_methods);
            }
            break;
        case model::route::directory:
            if (!request::reads(head.verb) && request.to.directory != model::directory_kind::server_card) {
                return request::refuse_method(request, request::reading_methods);
            }
            break;
        case model::route::management:
        case model::route::push:
        case model::route::registration:
            if (head.verb != method::post) {
                return request::refuse_method(request, "POST");
            }
            break;
        case model::route::call:
        case model::route::mcp:
        case model::route::relay:
        case model::route::none:
            break;  // their endpoints know the methods
    }
    return std::nullopt;
}

// The endpoint of the route answers, or sets request.call.
net::routine<> traffic_handler::look(request::request_context& request)
{
    const auto verb = request.caller.head().verb;
    switch (request.to.where) {
        case model::route::card:
            return phases_->card.answer(request);
        case model::route::key_set:
            return phases_->key_set.answer(request);
        case model::route::resource_metadata:
            return phases_->resource_metadata.answer(request);
        case model::route::directory:
            // An A2A agent may have a path of this name among its `relay_paths`.
            if (request.to.directory == model::directory_kind::server_card && !is_mcp_server(request) &&
                relays(request, request.to.below)) {
                return phases_->opaque.look(request);
            }
            return phases_->directory.answer(request);
        case model::route::index:
            return pages::index_endpoint::answer(request);
        case model::route::management:
            return phases_->management.answer(request);
        case model::route::registration:
            return phases_->registration.answer(request);
        case model::route::push:
            return phases_->push.answer(request);
        case model::route::call:
            // A POST to the agent itself is a call. Anything else is none, but `relay_paths` may let it through.
            if (verb == method::post) {
                return phases_->call.look(request);
            }
            return relays(request, "/") ? phases_->opaque.look(request) : phases_->description.answer(request);
        case model::route::mcp:
            if (phases_->guard.asks_first(request)) {
                return phases_->mcp.answer_options(request);
            }
            if (is_mcp_server(request)) {
                return phases_->mcp.look(request);
            }
            request.mcp.reset();
            return phases_->opaque.look(request);
        case model::route::relay:
            if (phases_->rest.takes(request)) {
                return phases_->rest.look(request);
            }
            if (request.to.extended == request::extended_path::none ||
                (!request::reads(verb) && relays(request, request.to.below))) {
                return phases_->opaque.look(request);
            }
            return phases_->extended_card.look(request);
        case model::route::none:
            break;
    }
    return relay::ends_here(request.caller.head()) ? request::respond(request, responses::options_answer())
                                                   : phases_->not_found.answer(request);
}

// Whether the agent is known and has `path` among its `relay_paths`.
bool traffic_handler::relays(const request::request_context& request, std::string_view path) const
{
    const auto* known = request.sees_agent ? phases_->known.find(request.to.agent) : nullptr;
    return known != nullptr && request::fits_any(known->entry->record.relay_paths, path);
}

// Whether the agent is known and an MCP server: another one may have a path of this name among its `relay_paths`.
bool traffic_handler::is_mcp_server(const request::request_context& request) const
{
    const auto* known = request.sees_agent ? phases_->known.find(request.to.agent) : nullptr;
    return known != nullptr && known->entry->record.mcp;
}

// Whether its agent is still there, and called where this request went: what ends later says nothing of how the agent is now.
bool traffic_handler::is_current(request::request_context& request) const
{
    const auto& agent = request.agent;
    const auto* known = agent ? phases_->known.find(agent->record.id, request.sighted) : nullptr;
    return known != nullptr && known->entry->call_url == model::first_of(*agent).call_url;
}

void traffic_handler::account(request::request_context& request)
{
    request.record.peer = request.caller.peer();
    request.record.bytes_in = request.caller.request_bytes();
    request.record.bytes_out = request.caller.answer_bytes();
    request.record.total = std::chrono::steady_clock::now() - request.caller.started();
    if (request.mcp) {
        phases_->mcp.account(request);
    }
    request::access_guard::note_denial(request);
    phases_->metrics.count(request.record);
    phases_->tally.note(request.record);
    if (is_current(request)) {
        phases_->calls.note(request.record);
    }
    const auto now = std::chrono::system_clock::now();
    phases_->traces.account(request, now);
    if (request.disabled && request.record.code == errc::agent_not_found) {
        request.record.agent = request.disabled->record.id;
        request.record.detail = "the agent is disabled";
    }
    lines_.write(request.record, now);
    write_session(log_, request.record);
}

void traffic_handler::failed(std::string_view problem) noexcept
{
    log_.write(core::log_level::error, "internal_error", {{"where", "request"}, {"what", problem}});
}

void traffic_handler::on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept
{
    note_handshake(phases_->metrics, log_, how, peer, why);
}

void traffic_handler::set_snapshot(const model::snapshot& snapshot)
{
    phases_->known.replace(snapshot);
    const auto exists = [&](std::string_view id) { return snapshot.agents.contains(id); };
    phases_->metrics.forget_unless(exists);
    phases_->calls.forget_unless(exists);
}

void traffic_handler::set_agent(const std::string& id, std::shared_ptr<const model::agent_entry> agent)
{
    const auto* known = phases_->known.find(id);
    const bool served = agent != nullptr && !agent->record.disabled;
    if (!served || (known != nullptr && known->entry->call_url != agent->call_url)) {
        phases_->calls.forget(id);
    }
    const auto* before = known != nullptr ? known->entry.get() : nullptr;
    for (const auto key : model::keys_that_leave(before, served ? agent.get() : nullptr)) {
        phases_->pool.drop_idle(key);
    }
    served ? phases_->metrics.remember(id) : phases_->metrics.forget(id);
    phases_->known.set_agent(id, std::move(agent));
}

void traffic_handler::set_card(const std::string& agent_id, std::shared_ptr<const model::published_card> card)
{
    const auto before = phases_->known.version();
    phases_->known.set_card(agent_id, std::move(card));
    if (phases_->known.version() != before) {
        phases_->relay.forget_redirects(agent_id);
    }
}

void traffic_handler::set_access(access::access_plans plans)
{
    phases_->guard.set_plans(std::move(plans));
}

void traffic_handler::set_session_ids(std::shared_ptr<const ::mcp::session_ids> ids)
{
    phases_->mcp.set_session_ids(std::move(ids));
}

void traffic_handler::set_push_addresses(std::shared_ptr<const model::push_addresses> addresses)
{
    phases_->known.set_push_addresses(std::move(addresses));
}

void traffic_handler::ask_about(const ::mcp::session_digest& id, bool ask)
{
    phases_->mcp.ask_about(id, ask);
}

void traffic_handler::set_rate_limits(std::shared_ptr<access::rate_limiter> limits)
{
    phases_->guard.set_rate_limits(std::move(limits));
}

void traffic_handler::set_trace_plan(const request::trace_plan& plan) noexcept
{
    phases_->traces.set_plan(plan);
}

void traffic_handler::hand_over(core::steady_time now)
{
    if (auto spans = phases_->traces.take(); !spans.empty()) {
        phases_->control.note_spans(std::move(spans));
    }
    if (auto calls = phases_->calls.take(now); !calls.empty()) {
        phases_->control.note_calls(std::move(calls));
    }
    auto notes = phases_->tally.take();
    if (!notes.empty()) {
        phases_->control.audit(std::move(notes));
    }
}

request::agent_relay& traffic_handler::relays() noexcept
{
    return phases_->relay;
}

telemetry::worker_metrics& traffic_handler::metrics() noexcept
{
    return phases_->metrics;
}

}  // namespace gateway::worker
