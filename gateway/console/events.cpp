#include "gateway/console/events.hpp"

#include "net/http1/head_writer.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <charconv>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

namespace gateway::console {
namespace {

using core::errc;
using net::http1::method;

constexpr std::string_view begun = ": live\n\n";
constexpr std::string_view comment = ": still here\n\n";

// Calls `take(number, line)` for each line of the batch from the number `from` on.
template <class Take>
void for_each_line(const telemetry::live_log::batch& batch, std::uint64_t from, Take take)
{
    auto rest = batch.lines();
    for (auto number = batch.first; !rest.empty(); ++number) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(line.size() + 1);
        if (number >= from) {
            take(number, line);
        }
    }
}

std::optional<std::uint64_t> number_of(std::string_view text) noexcept
{
    std::uint64_t out = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
    return ec == std::errc{} && end == text.data() + text.size() ? std::optional{out} : std::nullopt;
}

}  // namespace

struct event_feed::viewer {
    net::caller_exchange& caller;
    event_filter wants;
    std::uint64_t from =
        std::numeric_limits<std::uint64_t>::max();  // the first line that is not in its beginning; before that, none
    std::string waiting{};                          // events that it gets next
    std::string in_flight{};                        // those before, until it has taken them all
    std::uint64_t lost = 0;                         // lines since
    bool idle = false;                              // it waits for more

    bool has_more() const noexcept { return !waiting.empty() || lost > 0; }

    void add(std::string_view event, std::size_t most)
    {
        if (lost > 0 || in_flight.size() + waiting.size() + event.size() > most) {
            ++lost;
        } else {
            waiting += event;
        }
    }
};

// Among the viewers for as long as this.
class event_feed::place {
public:
    place(event_feed& of, viewer& who)
        : of_{of},
          at_{of.viewers_.insert(of.viewers_.end(), &who)}
    {
        if (of_.viewers_.size() == 1) {
            of_.next_ = of_.log_.range().next;
            of_.log_.keep_for_reader(of_.next_);
            if (of_.make_lines_) {
                of_.make_lines_(&of_.log_.viewers());
            }
            of_.listen();
        }
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place()
    {
        of_.viewers_.erase(at_);
        if (of_.viewers_.empty()) {
            of_.gathering_.cancel();
            of_.log_.await(0, nullptr);
            of_.log_.keep_for_reader(std::nullopt);
            if (of_.make_lines_) {
                of_.make_lines_(nullptr);
            }
        }
    }

private:
    event_feed& of_;
    std::list<viewer*>::iterator at_;
};

event_feed::event_feed(net::loop& control, telemetry::live_log& log, line_switch make_lines, event_limits limits)
    : control_{control},
      log_{log},
      make_lines_{std::move(make_lines)},
      limits_{limits},
      gathering_{control.get_executor()}
{
}

event_feed::~event_feed()
{
    log_.await(0, nullptr);
}

net::routine<> event_feed::serve(net::caller_exchange& caller)
{
    const auto& head = caller.head();
    const auto query = head.target.find('?');
    auto filter = event_filter::parse(query == std::string_view::npos ? "" : head.target.substr(query + 1));
    std::optional<responses::answer> refusal;
    if (head.verb != method::get && head.verb != method::head) {
        refusal = responses::method_not_allowed("GET, HEAD");
    } else if (!filter) {
        refusal = responses::explained_answer(filter.error().code, filter.error().detail);
    } else if (stopped_ || viewers_.size() >= limits_.viewers) {
        refusal = responses::error_answer(stopped_ ? errc::draining : errc::overloaded, {});
    }
    if (refusal) {
        co_await responses::send_answer(caller, std::move(*refusal));
        co_return;
    }
    viewer who{.caller = caller, .wants = std::move(*filter)};
    const auto* const last_id = net::http1::find(head.fields, "Last-Event-ID");
    const std::string resumed{last_id == nullptr ? "" : *last_id};
    auto& text = caller.scratch();
    responses::begin_head(text, caller, 200);
    net::http1::head_writer out{text};
    out.field("Content-Type", "text/event-stream");
    out.field("Cache-Control", "no-store");
    out.field("X-Content-Type-Options", "nosniff");
    out.field("X-Accel-Buffering", "no");
    caller.complete_head(text, net::answer_length::open());
    const bool reads = head.verb == method::get;
    const place among{*this, who};
    const net::answer_part first{.head = text, .last = !reads};
    const auto sent = co_await caller.send(first);
    if (!sent || !reads) {
        co_return;
    }
    caller.release_request();  // it may stay for days
    const auto beginning = begin(who, resumed);
    if (co_await send(who, beginning)) {
        co_await follow(who);
    }
}

// The viewer gets these of the lines that were there before it.
std::string event_feed::begin(viewer& who, std::string_view last_id)
{
    const auto range = log_.range();
    who.from = range.next;
    const auto last = number_of(last_id);
    const bool resumes = last && *last < range.next;
    if (!resumes && who.wants.last == 0) {
        return std::string{begun};
    }
    const auto from = resumes ? *last + 1 : range.kept;
    const auto most = resumes ? most_last_lines : who.wants.last;
    std::deque<std::string> events;
    for (const auto& batch : log_.since(from, std::string::npos)) {
        for_each_line(batch, from, [&](std::uint64_t number, std::string_view line) {
            if (number < who.from && who.wants.takes(line)) {
                append_event(events.emplace_back(), number, line);
                if (events.size() > most) {
                    events.pop_front();
                }
            }
        });
    }
    std::string out;
    if (resumes && *last >= range.of_process && from < range.kept) {
        out = event_of_lost(range.kept - from);
    }
    for (const auto& each : events) {
        out += each;
    }
    return out.append(begun);
}

// False: the viewer is gone. `text` outlives this.
net::routine<bool> event_feed::send(viewer& who, std::string_view text)
{
    net::answer_part piece;
    piece.body.add(text);
    const auto sent = co_await who.caller.send(piece);
    co_return sent.has_value();
}

net::routine<> event_feed::follow(viewer& who)
{
    auto& caller = who.caller;
    auto& clock = caller.clock();
    bool here = true;
    while (here && (!stopped_ || who.has_more())) {
        if (who.has_more()) {
            std::swap(who.waiting, who.in_flight);
            if (who.lost > 0) {
                who.in_flight += event_of_lost(std::exchange(who.lost, 0));
            }
            here = co_await send(who, who.in_flight);
            who.in_flight.clear();
            continue;
        }
        caller.watch_caller();
        if (caller.caller_left() || caller.aborted()) {
            co_return;
        }
        who.idle = true;
        clock.start(limits_.comment);
        co_await clock.wait();
        who.idle = false;
        if (clock.expired() && !caller.aborted() && !stopped_) {
            here = co_await send(who, comment);
        }
        clock.stop();
    }
    if (here) {
        const net::answer_part end{.last = true};
        co_await caller.send(end);
    }
}

// Tells the viewers of what has come, and waits for more.
void event_feed::tell()
{
    if (viewers_.empty()) {
        return;
    }
    for (const auto& batch : log_.since(next_, limits_.turn)) {
        const auto missed = batch.first > next_ ? batch.first - next_ : 0;
        for (auto* const each : viewers_) {
            each->lost += each->from <= next_ ? missed : 0;
        }
        for_each_line(batch, next_, [&](std::uint64_t number, std::string_view line) {
            event_.clear();
            append_event(event_, number, line);
            for (auto* const each : viewers_) {
                if (number >= each->from && each->wants.takes(line)) {
                    each->add(event_, limits_.behind);
                }
            }
        });
        next_ = batch.first + batch.count;
    }
    for (auto at = viewers_.begin(); at != viewers_.end();) {
        auto& who = **at++;  // a viewer that has left ends within this, and no other
        if (who.idle && who.has_more()) {
            who.caller.clock().wake().set();
        }
    }
    if (viewers_.empty()) {
        return;
    }
    log_.keep_for_reader(next_);
    if (log_.range().next > next_) {
        tell_soon();  // not all fitted into this turn
    } else {
        gather();
    }
}

// A line after a quiet time is told at once, and those after it together.
void event_feed::gather()
{
    gathering_.expires_after(limits_.pause);
    gathering_.async_wait([this, here = std::weak_ptr{here_}](net::error_code cancelled) {
        if (cancelled || here.expired()) {
            return;
        }
        if (log_.range().next > next_) {
            tell();
        } else {
            listen();
        }
    });
}

void event_feed::listen()
{
    log_.await(next_, [this] { tell_soon(); });
}

// Any thread.
void event_feed::tell_soon()
{
    net::asio::post(control_.get_executor(), [this, here = std::weak_ptr{here_}] {
        if (!here.expired()) {
            tell();
        }
    });
}

void event_feed::stop()
{
    stopped_ = true;
    tell();
    for (auto at = viewers_.begin(); at != viewers_.end();) {
        auto& who = **at++;
        if (who.idle) {
            who.caller.clock().wake().set();
        }
    }
}

}  // namespace gateway::console
