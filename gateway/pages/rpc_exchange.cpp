#include "gateway/pages/rpc_exchange.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace gateway::pages {
namespace {

// Some callers close their half as soon as they have asked.
constexpr core::duration half_close_grace{250};

struct outcome {
    std::exception_ptr failure;
    model::rpc_answer answer;
    bool ready = false;
};

// What lies outside of an answer's own text.
struct kept_parts {
    std::shared_ptr<const model::card_bytes> card;
    core::memory_share memory;
};

}  // namespace

net::routine<model::rpc_answer> ask_for(
    net::server_connection& caller,
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

}  // namespace gateway::pages
