#include "net/upstream/http2_upstream.hpp"

#include "net/upstream/http2_origin.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace net {
namespace {

using core::errc;
using reason = http2::error_code;

constexpr std::size_t kept_scratch = 4096;
constexpr auto most_unwritten = 2 * http2::session::most_unsent;

// A write failed for another reason than that the agent is gone: then its end can be read, behind what it has said.
bool failed_otherwise(error_code write) noexcept
{
    return write && write != asio::error::broken_pipe && write != asio::error::connection_reset;
}

http2::session_settings session_settings_for(const pool_settings& from, const upstream_target& target)
{
    http2::session_settings out;
    out.as = http2::role::client;
    out.secure = target.tls != nullptr;
    out.resets = from.http2_resets;
    out.control = from.http2_control;
    out.head = {.bytes = from.head_limit, .fields = 256, .target = 0, .value = from.head_limit};
    out.stream_window = http2_upstream::stream_window;
    return out;
}

}  // namespace

http2_upstream::http2_upstream(std::shared_ptr<http2_origin> origin, std::shared_ptr<const upstream_target> target)
    : origin_{std::move(origin)},
      target_{std::move(target)},
      loop_{origin_->owner()},
      base_{loop_, target_, origin_->settings().head_limit}
{
    const auto& settings = origin_->settings();
    base_.life() = connection_life{settings.life, loop_.now(), settings.random()};
    base_.life().rest(loop_.now(), std::nullopt);  // the time of the attempt counts from here
    base_.side().set_first_room(large_block);
}

http2_upstream::~http2_upstream() = default;

// The connection is made before anybody waits for it: what fails at once is heard of in a turn of its own.
void http2_upstream::begin()
{
    base_.connect(changed_);
    net::start(drive(shared_from_this()), [](const std::exception_ptr& bug) {
        if (bug) {
            std::rethrow_exception(bug);
        }
    });
    if (!base_.connecting()) {
        schedule();
    }
}

routine<> http2_upstream::drive(std::shared_ptr<http2_upstream> self)
{
    while (!self->over_) {
        co_await self->changed_.wait();
        self->running_ = true;
        self->turn();
        self->running_ = false;
    }
}

void http2_upstream::on_ready(std::uint32_t /*events*/)
{
    changed_.set();
}

void http2_upstream::schedule()
{
    if (!over_) {
        loop_.ready().wake(*this);
    }
}

// All that has come is read before anybody is woken; what they have to say goes out together, when all of them have been.
void http2_upstream::turn()
{
    if (over_) {
        return;
    }
    if (!session_) {
        if (base_.connecting()) {
            return;
        }
        if (const auto& why = base_.failure()) {
            return give_up(*why);
        }
        open();
    }
    take_in();
    look_at_end();
    flush();
    if (!over_) {
        origin_->give_streams(*this);
        if (settled_ && !std::exchange(given_, true)) {
            rest_if_idle();  // nobody waits any more
        }
        if (given_ && idle() && (retired_ || origin_->closed())) {
            close();
        }
    }
    const auto origin = origin_;
    origin->tell();
}

void http2_upstream::open()
{
    http2::session_user& self = *this;
    session_.emplace(session_settings_for(origin_->settings(), *target_), self);
    if (auto* const counters = origin_->settings().counters) {
        ++counters->connections;
    }
    base_.life().work();
}

void http2_upstream::take_in()
{
    auto& side = base_.side();
    const auto bytes = side.received();
    if (!bytes.empty() && !session_->done()) {
        active_ = true;
        bytes_in_ += bytes.size();
        session_->feed(bytes, loop_.now());
        settled_ = settled_ || (session_->settled() && !failed_);
    }
    side.consume(bytes.size());
}

void http2_upstream::look_at_end()
{
    auto& side = base_.side();
    if (failed_) {
        const auto why = core::upstream_error(errc::upstream_protocol, "the agent broke the rules of HTTP/2");
        if (!given_) {
            return give_up(core::upstream_error(errc::upstream_protocol, "the agent does not speak HTTP/2"));
        }
        while (!sides_.empty()) {
            auto& each = sides_.front();
            stream_ended(each);
            each.break_off(why);
        }
        close();
    } else if (side.ended() || failed_otherwise(side.write_error()) || session_->done()) {
        if (!given_) {
            return give_up(core::upstream_error(errc::upstream_refused, "the agent ended the connection before a call")
            );
        }
        lose(side.ended() ? side.read_error() : error_code{asio::error::connection_reset});
    }
}

void http2_upstream::flush()
{
    auto& side = base_.side();
    if (over_) {
        return;
    }
    if (!side.writing()) {
        session_->produce(0);
        sending_.clear();
        sending_.swap(session_->output());
        pieces content;
        content.add(sending_);
        side.write(content);
        if (!side.writing()) {
            if (sending_.size() >= http2::session::most_unsent) {
                schedule();  // there may be more
            }
            sending_.clear();
        }
    }
    if (session_->output().size() + sending_.size() < most_unwritten) {
        side.arm();
    }
}

// Makes frames of all that must not wait for the socket: HEADERS, and as much of a body as may be sent.
void http2_upstream::produce()
{
    active_ = true;
    session_->produce(sending_.size());
    schedule();
}

std::size_t http2_upstream::room() const noexcept
{
    if (!settled_ || retired_ || over_ || base_.send_error()) {
        return 0;
    }
    // An agent that takes nothing gets no more heads, also those of calls that are given up.
    if (session_->output().size() + sending_.size() >= most_unwritten) {
        return 0;
    }
    const auto allowed = session_->room_for_requests();
    return std::min(allowed - std::min(allowed, reserved_), most_streams - std::min(most_streams, streams_));
}

void http2_upstream::attach(http2_side& side)
{
    const bool reused = std::exchange(carried_, true);
    base_.note_use(loop_.now());
    base_.life().work();
    ++streams_;
    ++reserved_;
    sides_.push_back(side);
    side.place(shared_from_this(), reused);
}

std::optional<http2_upstream::begun> http2_upstream::request(http2_side& side, const agent_request& what)
{
    --reserved_;
    head_.clear();
    for (const auto& each : what.head) {
        head_.append(static_cast<const char*>(each.data()), each.size());
    }
    // At most so many: of what is being written a part is counted already.
    const auto before = base_.side().bytes_out() + session_->output().size();
    const auto id = session_->request(head_, side, what.last && what.body.empty());
    if (!id) {
        static_cast<http2_place_hook&>(side).unlink();
        --streams_;
        return std::nullopt;
    }
    count_stream(1);
    return begun{*id, before};
}

// `id`: of its stream; 0: it has none yet.
void http2_upstream::leave(http2_side& side, std::int32_t id) noexcept
{
    static_cast<http2_place_hook&>(side).unlink();
    --streams_;
    if (id == 0) {
        --reserved_;
    } else {
        count_stream(-1);
        session_->reset(id, reason::cancel);
    }
    rest_if_idle();
    if (idle() && (retired_ || origin_->closed()) && !running_) {
        close();
    } else {
        schedule();
    }
}

void http2_upstream::stream_ended(http2_side& side) noexcept
{
    static_cast<http2_place_hook&>(side).unlink();
    --streams_;
    side.id() == 0 ? void(--reserved_) : count_stream(-1);
    rest_if_idle();
}

void http2_upstream::rest_if_idle() noexcept
{
    if (idle()) {
        base_.life().rest(loop_.now(), std::nullopt);
    }
}

void http2_upstream::credit(std::int32_t id, std::size_t bytes) noexcept
{
    if (bytes > 0 && !over_) {
        session_->consume(id, bytes);
    }
}

void http2_upstream::on_goaway(std::int32_t /*last*/, reason /*code*/)
{
    retired_ = true;
}

void http2_upstream::retire() noexcept
{
    retired_ = true;
    schedule();
}

// Not made. Whom it was made for hears why.
void http2_upstream::give_up(core::error why)
{
    const auto held = shared_from_this();
    origin_->failed(*this, std::move(why));
    close();
}

void http2_upstream::lose(error_code why)
{
    while (!sides_.empty()) {
        auto& side = sides_.front();
        stream_ended(side);
        side.lose(why, base_.ended_before(side.sent_at()));
    }
    close();
}

void http2_upstream::close() noexcept
{
    if (std::exchange(over_, true)) {
        return;
    }
    const auto held = shared_from_this();
    retired_ = true;
    if (auto* const waits = std::exchange(owner, nullptr)) {
        waits->attempt = nullptr;
    }
    if (session_) {
        if (auto* const counters = origin_->settings().counters) {
            --counters->connections;
        }
        if (!session_->done()) {
            session_->end();
            session_->produce(0);
        }
        if (!base_.side().writing() && !base_.side().closed()) {
            pieces content;
            content.add(session_->output());
            base_.side().write(content);
        }
    }
    const bool by_agent = base_.side().ended();
    base_.close();
    origin_->ended(*this, by_agent);
    if (!running_) {
        changed_.set();  // drive() ends
    }
}

void http2_upstream::rest()
{
    if (std::exchange(active_, false) || base_.side().writing()) {
        return;
    }
    for (auto* const text : {&sending_, &head_, &session_->output()}) {
        if (text->capacity() > kept_scratch && (text != &session_->output() || text->empty())) {
            std::string{}.swap(*text);
        }
    }
}

void http2_upstream::count_stream(int more) noexcept
{
    if (auto* const counters = origin_->settings().counters) {
        counters->streams += static_cast<std::uint64_t>(static_cast<std::int64_t>(more));
    }
}

void http2_upstream::count_reset(http2::by whom, reason code) noexcept
{
    if (auto* const counters = origin_->settings().counters) {
        ++http2::counters::of(counters->resets, whom, code);
    }
}

void http2_upstream::count_goaway(http2::by whom, reason code) noexcept
{
    if (auto* const counters = origin_->settings().counters) {
        ++http2::counters::of(counters->goaways, whom, code);
    }
    failed_ = failed_ || (whom == http2::by::us && code != reason::no_error);
}

void http2_upstream::count_refused(http2::limit which) noexcept
{
    if (auto* const counters = origin_->settings().counters) {
        ++counters->refused[static_cast<std::size_t>(which)];
    }
}

}  // namespace net
