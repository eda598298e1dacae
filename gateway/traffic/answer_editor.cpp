#include "gateway/traffic/answer_editor.hpp"

#include "gateway/model/control_services.hpp"
#include "net/loop/ask.hpp"

#include <algorithm>
#include <utility>

namespace gateway::traffic {
namespace {

using core::errc;
using net::http1::framing;

core::error too_large(std::uint64_t limit)
{
    return core::upstream_error(errc::card_too_large, "the answer is longer than " + std::to_string(limit) + " bytes");
}

}  // namespace

answer_editor::answer_editor(
    net::server_connection& caller,
    agent_exchange& agent,
    exchange_wait& wait,
    answer_writer& writer,
    const relay_settings& settings
)
    : caller_{caller},
      agent_{agent},
      wait_{wait},
      writer_{writer},
      settings_{settings},
      body_{agent.head().body, agent.head().content_length},
      // A card in an event is as long as one elsewhere.
      events_{std::min(settings.limits.sse_event, settings.card_answer)},
      share_{caller.bodies()}
{
}

net::routine<core::result<>> answer_editor::edit_whole()
{
    const auto& head = agent_.head();
    if (head.body == framing::length && head.content_length > settings_.card_answer) {
        co_return too_large(settings_.card_answer);
    }
    std::string as_it_came;
    std::string edited;
    writer_.write_fields(as_it_came, head, body_care::passes);
    writer_.write_fields(edited, head, body_care::edited);
    agent_.consume_head();
    const bool bodiless = body_.done();  // to HEAD
    const auto whole_by = caller_.owner().now() + agent_.call().agent->head_timeout;
    while (!body_.done()) {
        auto came = co_await read(std::min(whole_by, caller_.owner().now() + settings_.timeouts.upstream_idle));
        if (!came) {
            co_return std::move(came).error();
        }
        if (!*came) {
            co_return interrupted(woken::late, "body");
        }
        if (text_.size() + body_.announced() > settings_.card_answer) {
            co_return too_large(settings_.card_answer);
        }
        if (!share_.set(text_.size())) {
            co_return core::gateway_error(errc::overloaded, "bodies");
        }
    }
    agent_.give_back();
    caller_.clock().stop();
    if (bodiless) {
        co_return co_await send_whole(std::move(edited), std::move(text_));
    }
    auto answer = co_await edit(std::move(text_));
    if (!answer) {
        co_return std::move(answer).error();
    }
    auto fields = std::move(answer->edited ? edited : as_it_came);
    co_return co_await send_whole(std::move(fields), std::move(answer->text));
}

net::routine<core::result<>> answer_editor::send_whole(std::string head, std::string body)
{
    caller_.scratch() = std::move(head);
    writer_.add_head(body.empty() ? std::nullopt : std::optional<std::uint64_t>{body.size()});
    writer_.add(body);
    co_return co_await caller_.send(writer_.take());
}

net::routine<core::result<model::edited_answer>> answer_editor::edit(std::string text)
{
    const auto& call = agent_.call();
    const auto& position = *call.card;  // NOLINT(bugprone-unchecked-optional-access): such calls alone are edited
    model::answered_card card{call.agent, std::move(text), position, call.caller};
    auto& control = settings_.control;
    auto question = control.edit(std::move(card));
    co_return co_await net::ask(control.card_executor(), caller_.owner().get_executor(), std::move(question));
}

// Adds the received part of the body to `text_`.
void answer_editor::take_received()
{
    const auto received = agent_.side().received();
    std::size_t used = 0;
    while (used < received.size() && !body_.done()) {
        auto piece = body_.take(received.substr(used));
        if (!piece) {
            broken_ = std::move(piece).error();
            return;
        }
        used += piece->used;
        text_ += piece->data;
    }
    agent_.side().consume(used);
}

// Waits until more of the body is in `text_`, or the body is done, or a chunk is announced, which may be too large. False:
// nothing came in time.
net::routine<core::result<bool>> answer_editor::read(core::steady_time until)
{
    auto& side = agent_.side();
    const auto before = text_.size();
    for (;;) {
        if (broken_) {
            co_return std::move(*broken_);
        }
        if (!side.received().empty()) {
            take_received();
            if (text_.size() > before || body_.done() || body_.announced() > 0) {
                co_return true;
            }
            continue;
        }
        if (side.ended()) {
            auto ended = body_.end(side.read_error());
            if (!ended) {
                co_return std::move(ended).error();
            }
            co_return true;
        }
        side.arm();
        const auto how = co_await wait_.until(until);
        if (how == woken::late) {
            co_return false;
        }
        if (how != woken::by_event) {
            co_return interrupted(how, "body");
        }
    }
}

// The caller's answer begins when the first event that says something has been edited, so that until then a failure can
// still be told; from then on each event goes out when it has come.
net::routine<core::result<>> answer_editor::edit_events()
{
    writer_.write_fields(caller_.scratch(), agent_.head(), body_care::edited);
    agent_.consume_head();
    auto silent_until = caller_.owner().now() + agent_.call().agent->head_timeout;
    while (!body_.done()) {
        const auto comment_due = writer_.begun() ? writer_.comment_due() : net::never;
        auto came = co_await read(std::min(silent_until, comment_due));
        if (!came) {
            co_return std::move(came).error();
        }
        core::result<> done;
        if (*came) {
            done = co_await edit_received();
            if (writer_.begun()) {
                silent_until = caller_.owner().now() + settings_.timeouts.upstream_idle;
            }
        } else if (comment_due < silent_until) {
            writer_.add_comment();
            done = co_await caller_.send(writer_.take());
            writer_.wrote();
        } else {
            done = interrupted(woken::late, "body");
        }
        if (!done) {
            co_return done;
        }
    }
    auto sent = co_await send_events(std::move(edited_), true);
    if (sent) {
        agent_.give_back();
    }
    co_return sent;
}

// Edits the events that have come whole, and at the end what is left of one. Sends them, or keeps them in `edited_`; what
// was edited before a failure goes out first.
net::routine<core::result<>> answer_editor::edit_received()
{
    events_.feed(text_);
    text_.clear();
    if (!share_.set(events_.held() + edited_.size())) {
        co_return core::gateway_error(errc::overloaded, "bodies");
    }
    bool says_something = writer_.begun();
    core::result<> done;
    while (done) {
        auto event = events_.next();
        if (!event && body_.done()) {
            event = events_.take_rest();
        }
        if (!event) {
            break;
        }
        if (auto data = net::sse_data(*event)) {
            auto answer = co_await edit(std::move(*data));
            if (!answer) {
                done = std::move(answer).error();
                continue;
            }
            says_something = true;
            if (answer->edited) {
                event = net::with_sse_data(*event, answer->text);
            }
        }
        edited_ += *event;
    }
    if (done && (events_.too_large() || (!says_something && edited_.size() > settings_.limits.sse_event))) {
        done = core::upstream_error(errc::event_too_large);
    }
    const bool goes_out = !body_.done() || !done;  // else with the last chunk
    if (says_something && !edited_.empty() && goes_out) {
        auto text = std::exchange(edited_, {});
        auto sent = co_await send_events(std::move(text), false);
        done = done ? std::move(sent) : std::move(done);
    }
    co_return done;
}

// With the head in front of it, if that has not gone out. `last`: and the end of the body behind it.
net::routine<core::result<>> answer_editor::send_events(std::string text, bool last)
{
    const bool begins = !writer_.begun();
    if (begins) {
        writer_.add_head(std::nullopt);
    }
    const auto head_size = writer_.pending();
    const bool fits = writer_.add(text);
    if (!fits && begins && writer_.pending() == head_size) {
        co_return core::upstream_error(errc::event_too_large);
    }
    if (fits && last) {
        writer_.add_end();
    }
    auto sent = co_await caller_.send(writer_.take());
    writer_.wrote();
    if (sent && !fits) {
        co_return core::upstream_error(errc::event_too_large);
    }
    co_return sent;
}

}  // namespace gateway::traffic
