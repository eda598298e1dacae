#include "net/server/http2_connection.hpp"

#include "net/loop/thrown.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <random>
#include <utility>

namespace net {
namespace {

using reason = http2::error_code;

constexpr core::duration final_goaway_after{1000};
constexpr std::size_t started_at_once = 32;  // requests, so that none holds the loop with many small ones
constexpr int writes_at_once = 4;
constexpr std::size_t kept_when_idle = 4096;
constexpr auto most_unread = 2 * http2::session::most_unsent;

http2::session_settings settings_of(const http2_parts& parts)
{
    const auto& from = parts.settings;
    http2::session_settings out;
    out.as = http2::role::server;
    out.secure = parts.secure;
    out.streams = from.http2_streams;
    out.resets = from.http2_resets;
    out.control = from.http2_control;
    out.head = from.head;
    return out;
}

// The streams of one connection may hold half of all bodies, or this if that is more: a caller that takes nothing of its answers leaves
// room for others. Less would refuse clients and proxies that send everything over one connection.
constexpr std::uint64_t least_part = 64 * 1024 * 1024;

std::uint64_t part_of(const shared_budget* whole) noexcept
{
    return whole == nullptr ? 0 : std::max(whole->most() / 2, least_part);
}

// So that connections of one age do not end at one time.
core::steady_time end_of_age(core::steady_time begun, core::duration age)
{
    if (age == core::duration{}) {
        return never;
    }
    thread_local std::minstd_rand random{std::random_device{}()};
    std::uniform_int_distribution<core::duration::rep> less{0, age.count() / 5};
    return begun + age - core::duration{less(random)};
}

}  // namespace

http2_connection::http2_connection(const http2_parts& parts)
    : parts_{parts},
      bodies_{part_of(parts.settings.bodies), parts.settings.bodies},
      session_{settings_of(parts), *this},
      begun_{parts.owner.now()},
      idle_since_{begun_},
      old_at_{end_of_age(begun_, parts.settings.http2_age)}
{
    if (auto* const counters = parts_.settings.http2_counters) {
        ++counters->connections;
    }
}

http2_connection::~http2_connection()
{
    if (auto* const counters = parts_.settings.http2_counters) {
        --counters->connections;
    }
}

routine<> http2_connection::run()
{
    while (!is_over()) {
        turn();
        if (!is_over()) {
            parts_.clock.start_until(due());
            if (may_read()) {
                parts_.caller.arm();
            }
            co_await parts_.clock.wait();
            look_at_clock();
        }
    }
    over_ = true;
    for (const auto& exchange : exchanges_) {
        exchange->lose();
        touch(*exchange);
    }
    while (!exchanges_.empty()) {
        turn();
        if (!exchanges_.empty()) {
            parts_.clock.stop();
            co_await parts_.clock.wait();
        }
    }
}

// Frames that have come are read before any exchange is woken, so that the answers of all go out together.
void http2_connection::turn()
{
    running_ = true;
    if (!over_) {
        take_in();
    }
    bool more = true;
    while (more) {
        start_some();
        wake_touched();
        more = !over_ && flush() && !touched_.empty();
    }
    running_ = false;
    if (!touched_.empty() || started_ < starting_.size()) {
        schedule();
    }
}

bool http2_connection::is_over() const noexcept
{
    const auto& caller = parts_.caller;
    if (caller.closed() || caller.write_error() || (caller.ended() && caller.received().empty())) {
        return true;
    }
    const bool no_work = failed_ || exchanges_.empty();
    return session_.done() && no_work && session_.output().empty() && !caller.writing();
}

// A caller that takes no answers to its frames gets no more of them read, nor one whose requests wait to be begun.
bool http2_connection::may_read() const noexcept
{
    return !session_.done() && starting_.empty() && session_.output().size() + sending_.size() < most_unread;
}

void http2_connection::take_in()
{
    auto& caller = parts_.caller;
    const auto bytes = caller.received();
    if (!bytes.empty() && may_read()) {
        session_.feed(bytes, parts_.owner.now());
        caller.consume(bytes.size());
    } else if (session_.done()) {
        caller.discard();
    }
}

http2::stream_user* http2_connection::on_request(std::int32_t id, http2::received_head head)
{
    auto& made = exchanges_.emplace_back(std::make_unique<http2_exchange>(*this, id, head));
    starting_.push_back(made.get());
    count_streams(1);
    return made.get();
}

void http2_connection::start_some()
{
    if (!starting_.empty() && std::exchange(drains_after_request_, false)) {
        drain();
    }
    for (std::size_t i = 0; i < started_at_once && started_ < starting_.size();) {
        auto* const exchange = starting_[started_++];
        if (exchange->caller_left()) {  // before anything was done for it
            ended(exchange, nullptr);
            continue;
        }
        ++i;
        start(exchange->serve(), [this, exchange](const std::exception_ptr& bug) { ended(exchange, bug); });
    }
    if (started_ == starting_.size()) {
        starting_.clear();
        started_ = 0;
    }
}

void http2_connection::ended(http2_exchange* exchange, const std::exception_ptr& bug)
{
    report_thrown(bug, [this](std::string_view text) { parts_.handler.failed(text); });
    exchange->end();
    session_.end_work();
    count_streams(-1);
    const auto found =
        std::find_if(exchanges_.begin(), exchanges_.end(), [&](const auto& each) { return each.get() == exchange; });
    std::swap(*found, exchanges_.back());
    exchanges_.pop_back();
    if (exchanges_.empty()) {
        idle_since_ = parts_.owner.now();
        // Nothing that is left would be an answer: a caller that takes nothing holds no gateway up.
        if (announced_ && parts_.caller.writing()) {
            stalled_at_ = std::min(stalled_at_, idle_since_ + last_write_grace);
        }
    }
    schedule();
}

void http2_connection::touch(http2_exchange& exchange) noexcept
{
    auto& hook = static_cast<touched_hook&>(exchange);
    if (!hook.is_linked()) {
        touched_.push_back(exchange);
    }
}

// One that has not been started hears of it then.
void http2_connection::wake_touched()
{
    while (!touched_.empty()) {
        auto& exchange = touched_.front();
        touched_.pop_front();
        exchange.wake();
    }
}

void http2_connection::schedule()
{
    if (!running_) {
        parts_.owner.ready().wake(*this);
    }
}

void http2_connection::on_ready(std::uint32_t /*events*/)
{
    parts_.clock.wake().set();
}

void http2_connection::produce()
{
    if (over_) {
        return;
    }
    session_.produce(sending_.size());
    schedule();
}

// True: something was written, and there may be more.
bool http2_connection::flush()
{
    auto& caller = parts_.caller;
    bool written = false;
    int writes = 0;
    for (; writes < writes_at_once && !caller.writing(); ++writes) {
        sending_.clear();
        session_.produce(0);
        if (session_.output().empty() || caller.closed() || caller.write_error()) {
            stalled_at_ = never;
            return written;
        }
        sending_.swap(session_.output());
        pieces content;
        content.add(sending_);
        caller.write(content);
        written = true;
        written_ = true;
    }
    if (caller.writing()) {
        if (stalled_at_ == never || caller.bytes_out() != bytes_out_) {
            const bool hurries = announced_ && exchanges_.empty();
            stalled_at_ = parts_.owner.now() + (hurries ? last_write_grace : parts_.settings.write_timeout);
            bytes_out_ = caller.bytes_out();
        }
        return false;
    }
    stalled_at_ = never;
    if (writes == writes_at_once) {
        parts_.owner.ready().wake(*this);  // the loop has other work, too
        return false;
    }
    return written;
}

void http2_connection::rest()
{
    if (std::exchange(written_, false)) {
        return;
    }
    for (auto* const text : {&sending_, &session_.output()}) {
        if (text->empty() && text->capacity() > kept_when_idle) {
            std::string{}.swap(*text);
        }
    }
}

core::steady_time http2_connection::due() const noexcept
{
    const auto linger_until = lingering_.empty() ? never : lingering_.front().until;
    auto due = std::min({final_at_, stalled_at_, announced_ ? never : old_at_, linger_until});
    if (!session_.settled()) {
        due = std::min(due, begun_ + parts_.settings.header_timeout);
    }
    if (const auto since = session_.head_since()) {
        due = std::min(due, *since + parts_.settings.header_timeout);
    }
    if (exchanges_.empty()) {
        const auto idle_until = idle_since_ + parts_.settings.idle_timeout;
        due = std::min(due, ended_idle_ ? idle_until + parts_.settings.header_timeout : idle_until);
    }
    return due;
}

void http2_connection::look_at_clock()
{
    if (!parts_.clock.expired()) {
        return;
    }
    const auto now = parts_.owner.now();
    if (stalled_at_ <= now) {
        if (parts_.caller.bytes_out() != bytes_out_) {
            bytes_out_ = parts_.caller.bytes_out();
            stalled_at_ = now + parts_.settings.write_timeout;
        } else {
            parts_.caller.close(/*hard=*/true);
        }
    }
    end_lingering(now);
    if (final_at_ <= now) {
        final_at_ = never;
        session_.end();
    }
    if (!announced_ && old_at_ <= now) {
        drain();
    }
    if (!session_.settled() && begun_ + parts_.settings.header_timeout <= now) {
        session_.fail(reason::settings_timeout);
    }
    if (const auto since = session_.head_since(); since && *since + parts_.settings.header_timeout <= now) {
        session_.fail(reason::enhance_your_calm, "a head that does not end");
    }
    if (const auto idle_until = idle_since_ + parts_.settings.idle_timeout; exchanges_.empty() && idle_until <= now) {
        if (!std::exchange(ended_idle_, true)) {
            session_.end();
        } else if (idle_until + parts_.settings.header_timeout <= now) {
            parts_.caller.close(/*hard=*/true);
        }
    }
}

void http2_connection::linger(std::int32_t stream)
{
    lingering_.push_back({stream, parts_.owner.now() + parts_.settings.linger_pause});
}

// RFC 9113 section 8.1.
void http2_connection::end_lingering(core::steady_time now)
{
    for (; !lingering_.empty() && lingering_.front().until <= now; lingering_.pop_front()) {
        if (session_.is_open(lingering_.front().id)) {
            session_.reset(lingering_.front().id, reason::no_error);
        }
    }
}

void http2_connection::drain()
{
    if (!std::exchange(announced_, true)) {
        session_.announce_end();
        final_at_ = parts_.owner.now() + final_goaway_after;
        schedule();
    }
}

void http2_connection::abort()
{
    if (!running_ && !over_) {
        flush();  // answers that are whole: the loop may have no other turn
    }
    for (const auto& exchange : exchanges_) {
        exchange->abort();
    }
}

void http2_connection::count_streams(int more) noexcept
{
    if (auto* const open = parts_.settings.streams) {
        open->fetch_add(static_cast<std::size_t>(more), std::memory_order_relaxed);
    }
    if (auto* const counters = parts_.settings.http2_counters) {
        counters->streams += static_cast<std::uint64_t>(more);
    }
}

void http2_connection::count_reset(http2::by whom, reason code) noexcept
{
    if (auto* const counters = parts_.settings.http2_counters) {
        ++http2::counters::of(counters->resets, whom, code);
    }
}

void http2_connection::count_goaway(http2::by whom, reason code) noexcept
{
    if (auto* const counters = parts_.settings.http2_counters) {
        ++http2::counters::of(counters->goaways, whom, code);
    }
    if (whom == http2::by::us && code != reason::no_error) {
        failed_ = true;
        if (code == reason::enhance_your_calm && exceeded_) {
            parts_.handler.on_abuse(parts_.peer, *exceeded_);
        }
    }
}

void http2_connection::count_refused(http2::limit which) noexcept
{
    exceeded_ = which;
    if (auto* const counters = parts_.settings.http2_counters) {
        ++counters->refused[static_cast<std::size_t>(which)];
    }
}

}  // namespace net
