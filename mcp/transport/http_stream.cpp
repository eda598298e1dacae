#include "mcp/transport/http_stream.hpp"

#include "mcp/protocol/read_text.hpp"
#include "mcp/protocol/server_facts.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mcp {

http_stream::http_stream(http_wire& wire, http_post_owner& owner, transport_observer& observer, outgoing listen)
    : wire_{wire},
      owner_{owner},
      observer_{observer},
      listen_{std::move(listen)},
      events_{static_cast<std::size_t>(wire.settings.server.max_message)},
      pause_{wire.on.io()}
{
}

void http_stream::begin()
{
    course_ = {wire_.url()};
    start();
}

void http_stream::start()
{
    streams_ = false;
    body_.clear();
    named_session_ = gets() && !wire_.session_id.empty();
    auto request = gets() ? wire_.listen(events_.last_id())
                          : wire_.post(listen_, std::make_shared<const std::string>(listen_.text));
    request.url = course_.at;
    exchange_ = wire_.start(std::move(request), *this);
}

// Where a GET leads is its own: messages go to where they are taken.
bool http_stream::follow(const net::exchange_head& head)
{
    const bool leads = !gets() && course_.at == wire_.url();
    if (!course_.follow(head)) {
        return false;
    }
    if (leads) {
        wire_.moved_to = course_.at;
    }
    start();
    return true;
}

void http_stream::headed(const net::exchange_head& head)
{
    wire_.take_cookies(course_.at, head);
    if (follow(head)) {
        return;
    }
    status_ = head.status;
    streams_ = status_ == 200 && head.has_type("text/event-stream");
    if (streams_) {
        events_.begin();
        stands_since_ = std::chrono::steady_clock::now();
        if (std::exchange(gap_, false)) {
            told_.reset();
        }
        tell(stream_news::stands);
    }
}

void http_stream::took(std::string_view piece)
{
    if (!streams_) {
        body_ += piece;
        return;
    }
    const std::weak_ptr<bool> alive{alive_};
    events_.feed(piece);
    while (const auto event = events_.next()) {
        if (!event->type.empty() && event->type != "message") {
            continue;
        }
        failures_ = 0;
        if (event->data.size() > read_at_once) {  // read by whoever gets it (offloading_transport.hpp)
            observer_.received(event->data);
            if (alive.expired()) {
                return;
            }
            continue;
        }
        const auto read =
            read_message(event->data, {.bytes = static_cast<std::size_t>(wire_.settings.server.max_message)});
        const bool answer = read && (read->kind == message_kind::result || read->kind == message_kind::failure);
        if (answer && !gets() && read->answered() == listen_.id && read->kind == message_kind::failure) {
            return none_offered();
        }
        if (!answer) {  // answers come with what they answer; the one to a listening says that it is over
            observer_.received(event->data);
        }
        if (alive.expired()) {
            return;
        }
    }
    if (events_.too_large()) {
        exchange_.reset();
        ended(core::upstream_error(core::errc::message_too_large, "an event is over max_message"));
    }
}

void http_stream::ended(core::result<> how)
{
    if (!streams_) {
        return how ? judge() : retry();
    }
    const auto pause = wire_.settings.pause(events_.retry());
    const auto stood = std::chrono::steady_clock::now() - stands_since_;
    const bool proved = stood >= wire_.settings.steady_stream || (how && stood >= pause);
    failures_ = proved ? 0 : failures_;
    // A server, or what is before it, may end a stream in order and have it asked for again: with an id nothing is missed.
    const bool resumable = !events_.last_id().empty();
    if (!how || !gets() || failures_ > 0 || !(proved || resumable)) {
        return retry();
    }
    gap_ = !resumable;
    begin_after(pause);
}

void http_stream::judge()
{
    // One that is so long says nothing that we know.
    const auto read = read_message(body_, {.bytes = read_at_once});
    const message* const answer = read ? &*read : nullptr;
    if (named_session_ && says_session_lost(status_, answer)) {
        return owner_.forgotten();
    }
    // To a request to listen, any refusal that is not about the moment is one. A token that is refused may be followed by one that
    // is not.
    const bool for_now =
        status_ == 408 || status_ == 425 || status_ == 429 || (status_ == 401 && wire_.settings.tokens);
    const bool refused = answer != nullptr && answer->kind == message_kind::failure;
    const bool none =
        status_ == 405 || status_ == 404 || (!gets() && !for_now && status_ < 500 && (refused || status_ >= 400));
    none ? none_offered() : retry();
}

void http_stream::none_offered()
{
    exchange_.reset();
    tell(stream_news::none);
}

void http_stream::retry()
{
    if (!gets()) {
        exchange_.reset();
        return tell(stream_news::gone);
    }
    const auto longest = wire_.settings.longest_retry;
    auto delay = wire_.settings.pause(events_.retry());
    for (unsigned i = 0; i < failures_ && delay < longest; ++i) {
        delay = std::min(delay + delay / 2, longest);
    }
    ++failures_;
    gap_ = false;
    begin_after(delay);
    tell(stream_news::gone);
}

void http_stream::begin_after(core::duration delay)
{
    pause_.expires_after(delay);
    pause_.async_wait([this, alive = std::weak_ptr{alive_}](net::error_code cancelled) {
        if (!cancelled && !alive.expired()) {
            begin();
        }
    });
}

void http_stream::tell(stream_news news)
{
    if (std::exchange(told_, news) != news) {
        observer_.stream_changed(news);
    }
}

}  // namespace mcp
