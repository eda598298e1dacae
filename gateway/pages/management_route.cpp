#include "gateway/access/policy.hpp"
#include "gateway/pages/page_routes.hpp"
#include "gateway/responses/content_type.hpp"
#include "net/loop/ask.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace gateway::pages {

using core::errc;

namespace {

// Some callers close their half as soon as they have asked.
constexpr core::duration half_close_grace{250};

struct outcome {
    std::exception_ptr failure;
    model::rpc_answer answer;
    bool ready = false;
};

// Parts that lie outside of an answer's own text.
struct kept_parts {
    std::shared_ptr<const model::card_bytes> card;
    core::memory_share memory;
};

// A caller without a credential sees no more than a principal without the scope, also where nobody needs one.
model::rpc_rights rights_of(const request::request_context& request)
{
    model::rpc_rights rights;
    const auto* caller = request.principal();
    if (caller != nullptr) {
        rights.who = caller->provider + ' ' + caller->id;
        rights.self = {caller->provider, caller->id};
    }
    const bool reads = access::has_scope(caller, core::scope_read);
    rights.may_write = reads && access::has_scope(caller, core::scope_write);
    if (!reads) {
        rights.shows = [plan = request.sender.access, owner = request.sender.owner](const core::agent& agent) {
            return plan == nullptr || plan->may_discover(agent, owner ? owner->get() : nullptr);
        };
    }
    return rights;
}

}  // namespace

net::routine<model::rpc_answer> ask_for(
    net::caller_exchange& caller,
    net::executor control,
    net::task<model::rpc_answer> question,
    std::stop_source leaving
)
{
    const auto here = net::asio::make_work_guard(caller.owner().get_executor());
    outcome asked;
    auto& wake = caller.clock().wake();
    net::asio::co_spawn(control, std::move(question), [&](const std::exception_ptr& failure, model::rpc_answer answer) {
        asked.failure = failure;
        asked.answer = std::move(answer);
        net::asio::post(here.get_executor(), [&] {
            asked.ready = true;
            wake.set();
        });
    });
    bool left = false;
    while (!asked.ready) {
        caller.watch_caller();
        if (caller.caller_left() && !std::exchange(left, true)) {
            caller.clock().start(half_close_grace);
        }
        if (caller.aborted() || caller.was_reset() || (left && caller.clock().expired())) {
            leaving.request_stop();
        }
        co_await caller.clock().wait();
    }
    caller.clock().stop();
    if (asked.failure) {
        std::rethrow_exception(asked.failure);
    }
    co_return std::move(asked.answer);
}

responses::answer answer_of(model::rpc_answer done)
{
    if (done.refused) {
        return responses::error_answer(*done.refused, {});
    }
    responses::answer answer;
    answer.body = std::move(done.body);
    answer.status = answer.body.empty() ? 204 : 200;
    answer.fields = "Cache-Control: no-store\r\n";
    if (done.card != nullptr) {
        answer.rest = done.card->body;
        answer.end = model::card_end;
    }
    answer.kept = std::make_shared<const kept_parts>(std::move(done.card), std::move(done.memory));
    return answer;
}

net::routine<> management_route::serve(request::request_context& request)
{
    if (!responses::takes_json(request.caller.head())) {
        co_await request::respond_error(request, core::caller_error(errc::unsupported_media_type));
        co_return;
    }
    const auto most = model::management_body(settings_.limits, control_.largest_card());
    auto body = co_await request.caller.read_body(std::min(most, settings_.limits.rpc_body));
    if (!body) {
        co_await request::respond_error(request, std::move(body).error());
        co_return;
    }
    std::stop_source leaving;
    auto asked = control_.manage(std::string(*body), rights_of(request), leaving.get_token());
    auto done = co_await ask_for(request.caller, control_.executor, std::move(asked), std::move(leaving));
    request.record.management_method = done.method;
    if (done.denied) {
        request.record.denied = model::denial::forbidden;
    }
    const auto refused = done.refused;
    auto answer = answer_of(std::move(done));
    if (!refused) {
        co_await request::respond(request, std::move(answer));
        co_return;
    }
    auto failure = *refused == errc::caller_gone ? core::caller_error(*refused)
                                                 : core::gateway_error(*refused, "limits.rpc_memory");
    co_await request::respond_error(request, std::move(failure), std::move(answer));
}

net::routine<> management_route::serve_registration(request::request_context& request)
{
    if (!responses::takes_json(request.caller.head())) {
        co_await request::respond_error(request, core::caller_error(errc::unsupported_media_type));
        co_return;
    }
    const auto most = model::management_body(settings_.limits, control_.largest_card());
    auto body = co_await request.caller.read_body(std::min(most, settings_.limits.rpc_body));
    if (!body) {
        co_await request::respond_error(request, std::move(body).error());
        co_return;
    }
    const auto* caller = request.principal();
    model::registrant by{
        .who = "agent/register " + caller->provider + ' ' + caller->id,
        .owns_as = model::registered_by(*caller)
    };
    auto asked = control_.enroll(std::string(*body), std::move(by));
    const auto here = request.caller.owner().get_executor();
    auto done = co_await net::ask(control_.executor, here, std::move(asked));
    if (!done.refused) {
        co_await request::respond(request, std::move(done.reply));
        co_return;
    }
    co_await request::respond_error(request, std::move(*done.refused), std::move(done.reply));
}

}  // namespace gateway::pages
