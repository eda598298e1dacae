#include "gateway/bridge/agent_step.hpp"

#include "gateway/responses/answer.hpp"
#include "net/http1/head_writer.hpp"

#include <chrono>
#include <utility>

namespace gateway::bridge {
namespace {

// How long an agent may take is decided where the inner call is served.
constexpr core::duration no_limit_here = std::chrono::hours{2};

model::inner_request inner_request_of(const agent_step::target& at, std::string body)
{
    model::inner_request out;
    out.caller = at.caller;
    out.target = "/agents/" + at.agent;
    out.fields = {
        {"Content-Type", "application/json"},
        {"Accept", "application/json, text/event-stream"},
        {"A2A-Version", "1.0"}
    };
    out.body = std::make_shared<const std::string>(std::move(body));
    out.head_timeout = no_limit_here;
    out.max_size = agent_step::most_held;
    return out;
}

std::string head_of_events(net::caller_exchange& caller)
{
    std::string text;
    responses::begin_head(text, caller, 200);
    net::http1::head_writer out{text};
    out.field("Content-Type", "text/event-stream");
    out.field("Cache-Control", "no-cache, no-transform");
    caller.complete_head(text, net::answer_length::open());
    return text;
}

}  // namespace

agent_step::agent_step(const target& at, std::string request, std::function<void()> wake)
    : wake_{std::move(wake)},
      share_{at.bodies},
      exchange_{at.calls.start(inner_request_of(at, std::move(request)), *this)}
{
}

std::optional<std::string> agent_step::take()
{
    if (texts_.empty()) {
        return std::nullopt;
    }
    auto text = std::move(texts_.front());
    texts_.pop_front();
    held_ -= text.size();
    share_.set(body_.size() + events_.held() + held_);
    return text;
}

void agent_step::headed(const net::exchange_head& head)
{
    streams_ = head.has_type("text/event-stream");
}

void agent_step::took(std::string_view piece)
{
    const auto before = texts_.size();
    if (streams_) {
        events_.feed(piece);
        while (const auto event = events_.next()) {
            if (auto data = net::sse_data(*event); data && !data->empty()) {
                hold(std::move(*data));
            }
        }
    } else {
        body_ += piece;
    }
    if (events_.too_large() || held_ > most_held) {
        return give_up(core::errc::event_too_large);
    }
    if (!share_.set(body_.size() + events_.held() + held_)) {
        return give_up(core::errc::overloaded);
    }
    if (texts_.size() > before) {
        wake();
    }
}

void agent_step::ended(core::result<> how)
{
    if (!how) {
        failure_ = std::move(how).error();
    } else if (!streams_ && !body_.empty()) {
        hold(std::move(body_));
    }
    over_ = true;
    wake();
}

// The function called may destroy this.
void agent_step::wake()
{
    const auto told = wake_;
    told();
}

void agent_step::hold(std::string text)
{
    held_ += text.size();
    texts_.push_back(std::move(text));
}

void agent_step::give_up(core::errc why)
{
    failure_ = core::error{
        why,
        why == core::errc::overloaded ? core::side::gateway : core::side::upstream,
        "an agent says more than its caller takes"
    };
    over_ = true;
    exchange_.reset();
    wake();
}

net::routine<core::result<>> event_answer::send(std::string message, bool last)
{
    return write("event: message\ndata: " + std::move(message) + "\n\n", last);
}

net::routine<core::result<>> event_answer::send_comment()
{
    return write(": keep-alive\n\n", false);
}

net::routine<core::result<>> event_answer::send_end()
{
    return write({}, true);
}

net::routine<core::result<>> event_answer::write(std::string event, bool last)
{
    const auto head = std::exchange(begun_, true) ? std::string{} : head_of_events(caller_);
    net::answer_part all{.head = head, .last = last};
    all.body.add(event);
    co_return co_await caller_.send(all);
}

}  // namespace gateway::bridge
