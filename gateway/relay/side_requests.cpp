#include "gateway/relay/side_requests.hpp"

#include "gateway/relay/answer_body.hpp"
#include "gateway/relay/redirects.hpp"

#include <algorithm>
#include <utility>

namespace gateway::relay {
namespace {

using core::errc;

// The whole body of the answer that `other` has the head of.
net::routine<core::result<std::string>>
read_whole(agent_exchange& other, exchange_wait& wait, std::uint64_t limit, core::steady_time until)
{
    auto& side = other.side();
    side.consume_head();
    std::string body;
    while (!side.body_done()) {
        const auto piece = side.take();
        if (!piece) {
            co_return piece.error();
        }
        body += *piece;
        side.release();
        if (body.size() + side.announced() > limit) {
            co_return core::upstream_error(errc::answer_untranslatable, "a further answer is over the limit");
        }
        if (!piece->empty() || side.ready()) {
            continue;
        }
        side.arm();
        const auto how = co_await wait.until(until);
        if (how != woken::by_event) {
            co_return interrupted(how, "body");
        }
    }
    co_return body;
}

}  // namespace

net::routine<core::result<side_answer>> side_requests::ask(
    net::http1::method verb,
    std::string_view head,
    std::string_view body,
    std::uint64_t limit,
    std::shared_ptr<side_codec> codec
)
{
    if (!main_.request_done()) {
        // The rest of it is in the buffer that this request needs.
        co_return core::upstream_error(
            errc::answer_untranslatable,
            "the answer came before the whole request was sent"
        );
    }
    const auto& main = main_.call();
    relay_call call;
    call.agent = main.agent;
    call.request = main.request;
    call.times = main.times;
    call.caller = main.caller;
    call.deadline = main.deadline;
    call.token = main.token;
    call.traits = main.traits;
    call.request.verb = verb;
    call.request.head = head;
    call.request.body = body;
    call.hooks.codec = std::move(codec);
    call.traits.repeatable = true;
    agent_exchange other{caller_, main_.pool(), wait_, main_.settings(), call};
    redirects way;
    auto begun = co_await other.begin();
    while (begun && way.follow(call, other)) {
        begun = co_await other.begin();
    }
    if (!begun) {
        co_return std::move(begun).error();
    }
    if (!has_identity_coding(other.head()) || is_event_stream(other.head())) {
        co_return core::upstream_error(errc::answer_untranslatable, "a further answer is not plain JSON");
    }
    side_answer answer{other.head().status, {}};
    const auto until = caller_.owner().now() + head_time(call);
    auto whole = co_await read_whole(other, wait_, limit, until);
    if (!whole) {
        co_return std::move(whole).error();
    }
    other.give_back();
    answer.body = std::move(*whole);
    co_return answer;
}

}  // namespace gateway::relay
