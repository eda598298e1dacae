#include "gateway/worker/traffic_handler.hpp"

#include "core/log.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/relay/forwarded.hpp"
#include "gateway/relay/forwarding.hpp"
#include "gateway/request/agent_origins.hpp"
#include "gateway/request/calls_under_way.hpp"
#include "gateway/request/cross_origin.hpp"
#include "gateway/request/router.hpp"
#include "gateway/request/tracer.hpp"
#include "gateway/responses/host_policy.hpp"
#include "gateway/telemetry/access_log.hpp"
#include "gateway/telemetry/audit_tally.hpp"
#include "gateway/telemetry/call_tally.hpp"
#include "gateway/worker/routes.hpp"

#include <chrono>
#include <random>
#include <utility>

namespace gateway::worker {

using core::errc;
using request::request_context;

namespace {

// Writes that a session of a caller with an MCP server began or ended with this request.
void write_session(const core::logger& log, const model::request_record& record)
{
    if (record.session_begun) {
        log.write(
            core::log_level::debug,
            "mcp_client_session",
            {{"agent", record.agent}, {"session", record.session}, {"state", "begun"}}
        );
    }
    if (record.session_ended) {
        log.write(
            core::log_level::debug,
            "mcp_client_session",
            {{"agent", record.agent},
             {"session", record.session},
             {"state", "ended"},
             {"reason", model::name(*record.session_ended)}}
        );
    }
}

// Writes that a chain has too many calls, which one request a minute finds.
void write_chain(const core::logger& log, const request_context& request)
{
    if (!request.chains.reports()) {
        return;
    }
    const auto& record = request.record;
    std::string trace;
    core::append_hex(trace, record.trace.trace);
    log.write(
        core::log_level::warn,
        "chain_limited",
        {{"agent", record.agent},
         {"principal", record.principal},
         {"provider", record.provider},
         {"trace_id", trace},
         {"detail", record.detail}}
    );
}

}  // namespace

// Behind a pointer, so that who includes the handler does not see all routes.
struct traffic_handler::parts {
    parts(model::control_services& control, net::upstream_pool& of_pool, const config::settings& settings)
        : pool{of_pool},
          routes{control, of_pool, settings},
          hosts{settings, settings.listen},
          proxies{settings.trusted_proxies},
          tally{settings.audit != "off"},
          origins{settings, routes.known},
          pages{control, settings, routes.known}
    {
    }

    net::upstream_pool& pool;
    route_objects routes;
    responses::host_policy hosts;
    relay::proxy_trust proxies;
    telemetry::audit_tally tally;
    telemetry::call_tally calls{};
    request::tracer traces{[entropy = std::make_shared<std::random_device>()] { return (*entropy)(); }};
    request::agent_origins origins;
    request::cross_origin pages;
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
      parts_{new parts{control, pool, settings}}
{
    parts_->routes.guard.set_observers(parts_->routes.metrics, parts_->tally);
}

traffic_handler::~traffic_handler() = default;

// A request, from its head to its line in the log. Whatever happens to it, it is accounted for once.
net::routine<> traffic_handler::handle(net::caller_exchange& caller)
{
    auto& routes = parts_->routes;
    auto& guard = routes.guard;
    const auto& pages = parts_->pages;
    const telemetry::request_in_flight counted{routes.metrics};
    request_context request{caller};
    parts_->traces.begin(request);

    // Route: where it comes from and where it goes.
    find_sender(request);
    find_destination(request);
    const auto& route = route_of(request);
    request.way = &route;

    // Admit: what is refused whoever sent it, such as too much from one address, another host, a wrong method.
    const auto page = pages.note(request);
    auto refusal = admit(request, page);

    // Identify: whose request it is, and whether they may use the route, and how often.
    if (!refusal) {
        if (!guard.identify(request)) {
            co_await guard.ask(request);
        }
        if (auto denied = guard.admit(request)) {
            refusal.emplace(std::move(*denied));
        }
    }

    // Look and relay: the route answers, or prepares a call and passes it on to its agent.
    if (refusal) {
        co_await std::move(*refusal);
    } else {
        using enum request::identity;
        if (route.needs == of_agent || route.needs == of_bundle || route.needs == of_named) {
            routes.relays.calls().add(request);
        }
        if (route.is_document) {
            pages.publish(request);
        }
        co_await route.serve(routes, request);
    }

    // Account: one line of the access log, one set of counters, the spans of its trace.
    account(request);
}

net::routine<> traffic_handler::refuse(net::caller_exchange& caller, core::error failure)
{
    request_context request{caller};
    parts_->traces.begin(request, /*readable=*/false);
    // A request that cannot be read costs as much as one that can. What the gateway itself broke off has been counted.
    auto limited = failure.from == core::side::caller ? parts_->routes.guard.admit_address(request) : std::nullopt;
    if (!limited && failure.code == errc::header_too_large && caller.major_version() == 2) {
        parts_->routes.grpc.recognise(request);  // a stream has kept what tells a call by gRPC
    }
    auto answered = limited                   ? std::move(*limited)
                    : request.grpc != nullptr ? request::respond_call_error(request, std::move(failure))
                                              : request::respond_error(request, std::move(failure));
    co_await std::move(answered);
    account(request);
}

void traffic_handler::find_sender(request_context& request) const
{
    const auto& head = request.caller.head();
    const auto& peer = request.caller.peer();
    request.record.http_method = net::http1::name(head.verb);
    request.record.http = request.caller.major_version() == 2 ? "2" : head.minor_version == 1 ? "1.1" : "1.0";
    request.record.by_console = request.caller.sender() == model::console_sender().get();
    if (request.record.by_console) {
        request.caller.act_for(std::string{peer}, parts_->routes.known.public_base().starts_with("https:"));
    } else if (const auto* const within = static_cast<const model::inner_callers*>(request.caller.sender())) {
        const auto* const number = net::http1::find(head.fields, model::inner_callers::field_name);
        auto inner = number == nullptr ? nullptr : within->find(*number);
        if (inner == nullptr) {
            return;
        }
        request.sender.inner = inner;
        request.caller.act_for(inner->address, inner->secure);
        request.record.bridge = inner->bridge;
        request.record.bundle = inner->bundle;
        return;
    }
    request.sender.from_proxy = !parts_->proxies.empty() && parts_->proxies.trusts(peer);
    if (request.sender.from_proxy) {
        // A copy: a stream gives its request's head up long before the line about it is written.
        request.texts.client = relay::client_address(peer, head.fields, parts_->proxies);
        request.record.client = request.texts.client;
    }
    request.origin = parts_->origins.find(head.authority);
}

void traffic_handler::find_destination(request_context& request) const
{
    const auto& head = request.caller.head();
    if (relay::ends_here(head)) {
        return;
    }
    auto& routes = parts_->routes;
    if (routes.grpc.recognise(request)) {
        request.record.where = request.to.where;
        return;
    }
    request.to = request.origin ? request::find_destination_of(request.origin->id, head.target)
                                : request::find_destination(head.target);
    request.disabled = request.origin ? request.origin->disabled : routes.known.find_disabled(request.to.agent);
    if (request.to.where == model::route::registration && !routes.guard.takes_registrations()) {
        request.to.where = model::route::none;
    }
    const auto where = request.to.where;
    if (where != model::route::call && where != model::route::mcp && where != model::route::card) {
        routes.push.recognise(request);
        routes.rest.note_format(request);
    }
    request.record.where = request.to.where;
}

// The answer to a request that is refused whoever sent it; nullopt: it is admitted.
std::optional<net::routine<>> traffic_handler::admit(request_context& request, request::origin_verdict page) const
{
    auto& routes = parts_->routes;
    if (request.caller.sender() != nullptr && request.sender.inner == nullptr && !request.record.by_console) {
        return request::respond_error(request, core::caller_error(errc::caller_gone));  // nobody waits for it any more
    }
    request.sender.from_forbidden_page = page == request::origin_verdict::forbidden;
    if (auto limited = routes.guard.admit_address(request)) {
        return limited;
    }
    if (auto why = routes.relays.overload_objection(request)) {
        return request::respond_call_error(request, std::move(*why));
    }
    const auto& head = request.caller.head();
    if (request.sender.inner != nullptr) {
        return request::takes(*request.way, head.verb)
                   ? std::nullopt
                   : std::optional{request::refuse_method(request, request.way->methods)};
    }
    const bool ours = request.origin || request.record.by_console || parts_->hosts.answers(head.authority);
    // One connection of a proxy carries requests for all names.
    if (!ours || (!request.sender.from_proxy && request.caller.misdirected())) {
        request.record.where = model::route::none;
        request.caller.close_after_answer();
        return request::respond_error(request, core::caller_error(errc::misdirected_request));
    }
    if (auto answer = parts_->pages.answer_preflight(request, page, routes.guard.asks_callers())) {
        return answer;
    }
    if (!request::takes(*request.way, head.verb)) {
        return request::refuse_method(request, request.way->methods);
    }
    return std::nullopt;
}

// If its agent is still there. The request says nothing of how the agent is now unless it is called where this one went.
void traffic_handler::note_call(request_context& request) const
{
    const auto& agent = request.agent;
    if (!request.record.replica.empty()) {
        return;  // the call counts where its session is
    }
    if (const auto* known = agent ? parts_->routes.known.find(agent->record.id, request.lookup) : nullptr) {
        const bool current = known->entry->call_url == model::first_of(*agent).call_url;
        parts_->calls.note(request.record, {.agent = current, .caller = request.sender.inner == nullptr});
    }
}

void traffic_handler::account(request::request_context& request)
{
    request.record.peer = request.caller.peer();
    request.record.bytes_in = request.caller.request_bytes();
    request.record.bytes_out = request.caller.answer_bytes();
    request.record.total = std::chrono::steady_clock::now() - request.caller.started();
    if (request.grpc != nullptr) {
        request.record.grpc_status = request.grpc->status();
        request.record.status = request.record.grpc_status ? 200 : request.record.status;
        request.record.rounded += request.grpc->rounded();
        request.record.lost += request.grpc->lost();
    }
    parts_->routes.guard.note_denial(request);
    parts_->routes.metrics.count(request.record);
    parts_->tally.note(request.record);
    note_call(request);
    const auto now = std::chrono::system_clock::now();
    if (request.trace.recorded() && request.record.rpc_method) {
        note_name(request);
    }
    parts_->traces.account(request, now);
    if (request.disabled && request.record.code == errc::agent_not_found) {
        request.record.agent = request.disabled->record.id;
        request.record.detail = "the agent is disabled";
    }
    lines_.write(request.record, now);
    write_session(log_, request.record);
    write_chain(log_, request);
}

// The name in the card of a recorded call's agent, for its span.
void traffic_handler::note_name(request::request_context& request) const
{
    const auto* const known = parts_->routes.known.find(request.record.agent);
    if (known != nullptr && known->card != nullptr) {
        request.trace.set_agent_name(known->card->name);
    }
}

void traffic_handler::failed(std::string_view problem) noexcept
{
    log_.write(core::log_level::error, "internal_error", {{"where", "request"}, {"what", problem}});
}

void traffic_handler::on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept
{
    switch (how) {
        case net::handshake::complete:
            parts_->routes.metrics.count_handshake(telemetry::tls_handshake::complete);
            return;
        case net::handshake::resumed:
            parts_->routes.metrics.count_handshake(telemetry::tls_handshake::resumed);
            return;
        case net::handshake::failed:
            parts_->routes.metrics.count_handshake(telemetry::tls_handshake::failed);
            // Scanners make many of them: that they are counted is enough for most.
            log_.write(
                core::log_level::debug,
                "handshake_failed",
                {{"listener", "traffic"}, {"peer", peer}, {"reason", why}}
            );
            return;
    }
}

void traffic_handler::on_abuse(std::string_view peer, net::http2::limit which) noexcept
{
    log_.write(
        core::log_level::warn,
        "http2_abuse_detected",
        {{"listener", "traffic"}, {"peer", peer}, {"limit", net::http2::name(which)}}
    );
}

void traffic_handler::set_snapshot(const model::snapshot& snapshot)
{
    parts_->routes.known.replace(snapshot);
    const auto exists = [&](std::string_view id) { return snapshot.agents.contains(id); };
    parts_->routes.metrics.forget_unless(exists);
    parts_->calls.forget_unless(exists);
}

void traffic_handler::set_agent(const std::string& id, std::shared_ptr<const model::agent_entry> agent)
{
    const auto* known = parts_->routes.known.find(id);
    const bool served = agent != nullptr && !agent->record.disabled;
    if (!served || (known != nullptr && known->entry->call_url != agent->call_url)) {
        parts_->calls.forget(id);
    }
    const auto* before = known != nullptr ? known->entry.get() : nullptr;
    for (const auto key : model::keys_that_leave(before, served ? agent.get() : nullptr)) {
        parts_->pool.drop_idle(key);
    }
    served ? parts_->routes.metrics.remember(id) : parts_->routes.metrics.forget(id);
    parts_->routes.known.set_agent(id, std::move(agent));
}

void traffic_handler::set_card(const std::string& agent_id, std::shared_ptr<const model::published_card> card)
{
    const auto before = parts_->routes.known.version();
    parts_->routes.known.set_card(agent_id, std::move(card));
    if (parts_->routes.known.version() != before) {
        parts_->routes.relays.forget_redirects(agent_id);
    }
}

void traffic_handler::set_access(access::access_plans plans)
{
    parts_->routes.guard.set_plans(std::move(plans));
}

void traffic_handler::set_session_ids(std::shared_ptr<const ::mcp::session_ids> ids)
{
    parts_->routes.mcp.set_session_ids(ids);
    parts_->routes.bundle.set_session_ids(std::move(ids));
}

void traffic_handler::set_bundles(std::shared_ptr<const model::published_bundles> all)
{
    parts_->routes.bundle.set_bundles(std::move(all));
}

void traffic_handler::forget_bundle_session(const ::mcp::session_digest& id, bool ended)
{
    parts_->routes.bundle.forget(id, ended);
}

void traffic_handler::set_push_addresses(std::shared_ptr<const model::push_addresses> addresses)
{
    parts_->routes.known.set_push_addresses(std::move(addresses));
}

void traffic_handler::set_replicas(const model::replicas_pointer& now)
{
    parts_->routes.replicas.set_replicas(now);
}

void traffic_handler::ask_about(const ::mcp::session_digest& id, bool ask)
{
    parts_->routes.mcp.ask_about(id, ask);
}

model::cut_counts traffic_handler::set_containments(model::containments_pointer now)
{
    parts_->routes.known.set_containments(now);
    return now == nullptr ? model::cut_counts{} : parts_->routes.relays.calls().cut(now);
}

model::cut_counts traffic_handler::would_cut(const model::containments& then) const
{
    return parts_->routes.relays.calls().count(then);
}

void traffic_handler::set_rules(std::shared_ptr<const config::rule_places> rules)
{
    parts_->routes.guard.set_rules(std::move(rules));
}

void traffic_handler::set_rate_limits(std::shared_ptr<access::rate_limiter> limits)
{
    parts_->routes.guard.set_rate_limits(std::move(limits));
}

void traffic_handler::set_trace_plan(const request::trace_plan& plan) noexcept
{
    parts_->traces.set_plan(plan);
}

void traffic_handler::hand_over(core::steady_time now)
{
    if (auto spans = parts_->traces.take(); !spans.empty()) {
        parts_->routes.control.note_spans(std::move(spans));
    }
    if (auto calls = parts_->calls.take(now); !calls.empty()) {
        parts_->routes.control.note_calls(std::move(calls));
    }
    auto notes = parts_->tally.take();
    if (!notes.empty()) {
        parts_->routes.control.audit(std::move(notes));
    }
}

request::agent_relay& traffic_handler::relays() noexcept
{
    return parts_->routes.relays;
}

telemetry::worker_metrics& traffic_handler::metrics() noexcept
{
    return parts_->routes.metrics;
}

}  // namespace gateway::worker
