#include "gateway/traffic/traffic_handler.hpp"

#include "a2a/method.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "gateway/traffic/path_pattern.hpp"
#include "net/loop/ask.hpp"

#include <chrono>
#include <utility>

namespace gateway::traffic {
namespace {

using core::errc;

a2a::method method_of(const core::jsonrpc_call& call)
{
    return call.method_escaped ? a2a::find_method(core::unescape_json(call.method)) : a2a::find_method(call.method);
}

// Numbers and brackets take long to read: a megabyte of them would hold a worker up for 10 ms.
constexpr std::size_t read_at_once = 256 * 1024;

std::chrono::nanoseconds since(core::steady_time start)
{
    return std::chrono::steady_clock::now() - start;
}

}  // namespace

traffic_handler::traffic_handler(
    model::control_services& control,
    net::upstream_pool& pool,
    const config::settings& settings,
    telemetry::access_log& lines,
    const core::logger& log
)
    : control_{control},
      pool_{pool},
      settings_{settings},
      proxies_{settings.trusted_proxies},
      lines_{lines},
      log_{log}
{
}

net::routine<> traffic_handler::handle(net::server_connection& caller)
{
    request_context request{caller, {}, nullptr, {}, {}, {}};
    request.record.http_method = net::http1::name(caller.head().verb);
    note_client(request);
    const auto to = find_destination(caller.head().target);
    request.record.where = to.where;
    if (hosts_ && !hosts_->answers(caller.head().authority)) {
        request.record.where = model::route::none;
        co_await refuse_target(request, errc::misdirected_request, /*ends_connection=*/true);
    } else if (ends_here(caller.head())) {
        request.record.where = model::route::none;
        auto what = model::options_answer();
        co_await answer_with(request, std::move(what));
    } else if (to.where == model::route::call && !relays_root(caller.head().verb, to.agent)) {
        co_await call(request, to);
    } else if (to.where == model::route::directory) {
        co_await show_directory(request, to);
    } else if (to.where == model::route::card) {
        co_await card(request, to);
    } else if (to.where == model::route::management) {
        co_await management(request);
    } else if (to.where == model::route::key_set) {
        co_await key_set(request);
    } else if (to.card_of_nobody) {
        co_await refuse_card_of_nobody(request);
    } else if (to.where == model::route::none) {
        co_await refuse_target(request, to.refusal, to.astray);
    } else if (to.extended != extended_path::none) {
        co_await extended_card(request, to);
    } else {
        request.record.where = model::route::relay;
        co_await relay_opaquely(request, to);
    }
    account(request);
}

net::routine<> traffic_handler::refuse(net::server_connection& caller, core::error why)
{
    request_context request{caller, {}, nullptr, {}, {}, {}};
    auto what = model::error_answer(why.code, {});
    co_await answer_error(request, std::move(why), std::move(what));
    account(request);
}

void traffic_handler::failed(std::string_view what) noexcept
{
    log_.write(core::log_level::error, "internal_error", {{"where", "request"}, {"what", what}});
}

void traffic_handler::on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept
{
    switch (how) {
        case net::handshake::complete:
            metrics_.count_handshake(telemetry::tls_handshake::complete);
            return;
        case net::handshake::resumed:
            metrics_.count_handshake(telemetry::tls_handshake::resumed);
            return;
        case net::handshake::failed:
            metrics_.count_handshake(telemetry::tls_handshake::failed);
            // Scanners make many of them: that they are counted is enough for most.
            log_.write(
                core::log_level::debug,
                "handshake_failed",
                {{"listener", "traffic"}, {"peer", peer}, {"reason", why}}
            );
            return;
    }
}

net::routine<> traffic_handler::call(request_context& request, destination to)
{
    const auto* known = find(to.agent);
    if (known != nullptr) {
        request.agent = known->entry;
        request.record.agent = request.agent->record.id;
    }
    const auto verb = request.caller.head().verb;
    if (verb == net::http1::method::get || verb == net::http1::method::head) {
        co_await describe_agent(request, to);
        co_return;
    }
    const auto objection = objection_to_post(request.caller.head());
    if (objection == errc::unsupported_media_type) {
        auto what = model::jsonrpc_error_answer(*objection, request.record.agent, /*id=*/{});
        co_await answer_error(request, core::caller_error(*objection), std::move(what));
        co_return;
    }
    if (objection) {
        co_await refuse_post(request, *objection, "GET, HEAD, POST");
        co_return;
    }
    auto body = request.caller.body_at_hand(settings_.limits.body);
    if (!body) {
        body = co_await request.caller.read_body(settings_.limits.body);
    }
    if (!body) {
        auto what = model::error_answer(body.error().code, request.record.agent);
        co_await answer_error(request, std::move(body).error(), std::move(what));
        co_return;
    }
    co_await pass_on(request, *body);
}

net::routine<core::scan_outcome> traffic_handler::read_long_call(request_context& request, std::string_view body)
{
    const auto here = request.caller.owner().get_executor();
    auto asked = control_.long_bodies().ask<core::scan_outcome>([body] { return core::scan_jsonrpc(body); });
    co_return co_await net::ask(here, here, std::move(asked));
}

net::routine<> traffic_handler::pass_on(request_context& request, std::string_view body)
{
    core::scan_outcome scanned;
    if (body.size() <= read_at_once) {
        scanned = core::scan_jsonrpc(body);
    } else {
        scanned = co_await read_long_call(request, body);
    }
    if (scanned.problem) {
        auto what = model::jsonrpc_error_answer(*scanned.problem, request.record.agent, scanned.call.id);
        auto why = core::caller_error(*scanned.problem, std::string(scanned.why));
        co_await answer_error(request, std::move(why), std::move(what));
        co_return;
    }
    const auto method = method_of(scanned.call);
    request.record.rpc_method = method;
    if (request.agent && request.agent->awaits_card) {
        co_await await_card(request);
    }
    if (!request.agent || !request.agent->upstream) {
        // Looked up again: the head may lie elsewhere since the body was read.
        const auto id = find_destination(request.caller.head().target).agent;
        auto why = request.agent ? core::gateway_error(errc::not_implemented, std::string{no_calls})
                                 : core::caller_error(errc::agent_not_found);
        auto what = request.agent ? model::no_calls_answer(id, scanned.call.id)
                                  : model::call_error(why.code, id, scanned.call.id);
        co_await answer_error(request, std::move(why), std::move(what));
        co_return;
    }
    const auto dialect = a2a::answered_card(method);
    if (dialect && !core::passes_extended_card(request.agent->record)) {
        auto what = model::call_error(errc::extended_card_not_configured, request.record.agent, scanned.call.id);
        co_await answer_error(request, core::caller_error(errc::extended_card_not_configured), std::move(what));
        co_return;
    }
    const bool streaming = a2a::streaming(method);
    if (streaming && open_streams_ >= settings_.limits.streams) {
        // Not even sent to the agent: what it would begin could not be passed on.
        auto what = model::call_error(errc::overloaded, request.record.agent, scanned.call.id);
        co_await answer_error(request, core::gateway_error(errc::overloaded, "streams"), std::move(what));
        co_return;
    }
    relay_call what{
        .agent = request.agent,
        .verb = net::http1::method::post,
        .head = request.agent->call_head,
        .body = body,
        .passed = false,
        .repeatable = a2a::safe_to_repeat(method),
        .streaming = streaming
    };
    if (dialect) {
        what.card = model::card_position{*dialect, /*in_result=*/true};
    }
    co_await relay_to_agent(request, std::move(what), scanned.call.id);
}

// A copy: a stream gives its request's head up long before the line about it is written.
void traffic_handler::note_client(request_context& request)
{
    if (!proxies_.empty() && proxies_.trusts(request.caller.peer())) {
        request.client = client_address(request.caller.peer(), request.caller.head().fields, proxies_);
        request.record.client = request.client;
    }
}

void traffic_handler::account(request_context& request)
{
    request.record.peer = request.caller.peer();
    request.record.bytes_in = request.caller.request_bytes();
    request.record.bytes_out = request.caller.answer_bytes();
    request.record.total = since(request.caller.started());
    metrics_.count(request.record);
    lines_.write(request.record, std::chrono::system_clock::now());
}

// A POST to the agent itself is a call. Anything else is none, but its `relay_paths` may let it through.
bool traffic_handler::relays_root(net::http1::method verb, std::string_view id)
{
    const auto* known = find(id);
    return verb != net::http1::method::post && known != nullptr && fits_any(known->entry->record.relay_paths, "/");
}

traffic_handler::known_agent* traffic_handler::find(std::string_view id)
{
    const auto found = agents_.find(id);
    return found == agents_.end() ? nullptr : &found->second;
}

void traffic_handler::set_snapshot(const std::shared_ptr<const model::snapshot>& now)
{
    std::erase_if(agents_, [&](const auto& each) { return !now->agents.contains(each.first); });
    for (const auto& [id, entry] : now->agents) {
        agents_[id].entry = entry;
    }
    key_set_ = now->key_set;
    public_base_ = now->public_base;
    forget_pages();
    metrics_.forget_unless([&](std::string_view id) { return now->agents.contains(id); });
}

void traffic_handler::set_agent(const std::string& id, std::shared_ptr<const model::agent_entry> agent)
{
    forget_pages();
    if (agent != nullptr) {
        agents_[id].entry = std::move(agent);
        metrics_.remember(id);
    } else {
        agents_.erase(id);
        metrics_.forget(id);
    }
}

void traffic_handler::set_card(const std::string& agent_id, std::shared_ptr<const model::published_card> card)
{
    if (auto* known = find(agent_id)) {
        const bool same = known->card && card && known->card->bytes == card->bytes;
        if (!same) {
            forget_pages();
        }
        known->card = std::move(card);
    }
}

}  // namespace gateway::traffic
