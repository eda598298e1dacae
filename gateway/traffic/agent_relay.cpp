#include "gateway/traffic/agent_relay.hpp"

#include "gateway/model/control_services.hpp"
#include "gateway/model/sent_credentials.hpp"
#include "gateway/traffic/card_edit.hpp"
#include "gateway/traffic/request_context.hpp"
#include "gateway/traffic/responder.hpp"
#include "gateway/traffic/task_guard.hpp"
#include "net/loop/ask.hpp"
#include "net/upstream/via.hpp"

#include <utility>

namespace gateway::traffic {

using core::errc;

agent_relay::agent_relay(
    model::control_services& control,
    net::upstream_pool& pool,
    const config::settings& settings,
    telemetry::worker_metrics& metrics
)
    : control_{control},
      caller_tokens_{control},
      pool_{pool},
      settings_{settings},
      metrics_{metrics}
{
}

// What the relay has to know of the request, besides the call.
void agent_relay::complete(request_context& request) const
{
    auto& call = *request.call;  // NOLINT(*-optional-access): only what is relayed comes here
    call.from_proxy = request.from_proxy;
    call.credentials = request.access ? &request.access->reader() : nullptr;
    call.tasks = shown_tasks(request, control_.tasks());
}

// What speaks against sending the request to the agent at all.
std::optional<core::error> agent_relay::objection(const request_context& request) const
{
    if (request.call->streaming && !has_room()) {  // NOLINT(*-optional-access): only what is relayed comes here
        // What the agent would begin could not be passed on.
        return core::gateway_error(errc::overloaded, "streams");
    }
    // Once is no loop: an agent may be another one of this gateway.
    constexpr std::size_t most_passes = 1;
    const auto way = net::way_of(request.caller.head().fields);
    if (way.passes > most_passes) {
        return core::gateway_error(errc::loop_detected);
    }
    if (way.length > settings_.limits.header_value) {
        return core::caller_error(errc::header_too_large, "Via");
    }
    return std::nullopt;
}

// Waits for a token of the agent's OAuth server. False: there is none.
net::routine<bool> agent_relay::find_token(request_context& request)
{
    auto& call = *request.call;  // NOLINT(*-optional-access): only what is relayed comes here
    auto asked = control_.agent_with_token(call.agent->record.id, core::secret{});
    auto entry = co_await net::ask(control_.executor(), request.caller.owner().get_executor(), std::move(asked));
    const bool same = entry != nullptr && entry->record == call.agent->record;
    if (same) {
        request.head = head_with_token(call.head, *entry);
        call.head = request.head;
        call.agent = std::move(entry);
    }
    co_return same;
}

// Puts a token for the caller into the head. False: there is none, and the request is answered.
net::routine<bool> agent_relay::find_caller_token(request_context& request)
{
    const auto known = caller_tokens_.find(request);
    std::optional<core::error> failure;
    if (!known) {
        failure = known.error();
    } else if (!*known) {
        auto asked = co_await caller_tokens_.ask(request);
        if (!asked) {
            failure = std::move(asked).error();
        }
    }
    if (failure) {
        co_await respond_call_error(request, std::move(*failure));
    }
    co_return !failure;
}

net::routine<> agent_relay::pass(request_context& request)
{
    if (auto refusal = objection(request)) {
        co_await respond_call_error(request, std::move(*refusal));
        co_return;
    }
    auto& call = *request.call;  // NOLINT(*-optional-access): only what is relayed comes here
    if (model::exchanges_tokens(call.agent->record)) {
        const bool found = co_await find_caller_token(request);
        if (!found) {
            co_return;
        }
    }
    if (call.agent->awaits_token) {
        const bool found = co_await find_token(request);
        if (!found) {
            co_await respond_call_error(request, core::upstream_error(errc::upstream_credentials, "no token"));
            co_return;
        }
    }
    complete(request);
    const relay_settings settings{
        .timeouts = settings_.timeouts,
        .limits = settings_.limits,
        .observer = *this,
        .control = control_
    };
    std::optional<card_edit> card;
    if (call.card) {
        const auto here = request.caller.owner().get_executor();
        card.emplace(control_, here, model::answered_card{call.agent, {}, *call.card, call.caller});
        call.edit = &*card;
    }
    relay passing{request.caller, pool_, settings, std::move(call)};
    auto outcome = co_await passing.run();
    auto& record = request.record;
    record.status = outcome.status;
    record.stream = outcome.stream;
    if (outcome.first_byte) {
        record.upstream_first_byte = *outcome.first_byte - request.caller.started();
        record.first_byte = *record.upstream_first_byte;
    }
    if (outcome.replaced) {
        co_await request.repair->end_session();  // NOLINT(*-optional-access): only a DELETE of a session is replaced
        model::answer done;
        co_await respond(request, std::move(done));
        co_return;
    }
    if (!outcome.failure) {
        co_return;
    }
    if (outcome.told) {
        note_failure(request, std::move(*outcome.failure));
        co_return;
    }
    if (outcome.answered || outcome.failure->code == errc::caller_gone) {
        request.caller.cut();
        note_failure(request, std::move(*outcome.failure));
        co_return;
    }
    co_await respond_call_error(request, std::move(*outcome.failure));
}

bool agent_relay::keep_place()
{
    if (!has_room()) {
        return false;
    }
    ++kept_places_;
    return true;
}

bool agent_relay::stream_began(open_stream& stream)
{
    if (!has_room()) {
        return false;
    }
    ++open_streams_;
    metrics_.stream_started(stream.agent().record.id);
    if (ending_streams_) {
        stream.end_stream();
    } else {
        streams_.push_back(stream);
    }
    return true;
}

void agent_relay::task_changed(const model::agent_entry& agent, a2a::task_state state)
{
    metrics_.count_task_state(agent.record.id, state);
}

void agent_relay::end_streams()
{
    ending_streams_ = true;
    // Ending one resumes its coroutine, which unlinks it; what goes on meanwhile may unlink others.
    while (!streams_.empty()) {
        auto& first = streams_.front();
        streams_.pop_front();
        first.end_stream();
    }
}

}  // namespace gateway::traffic
