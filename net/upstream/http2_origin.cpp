#include "net/upstream/http2_origin.hpp"

#include <algorithm>
#include <utility>

namespace net {
namespace {

constexpr std::size_t most_spare = 256;
constexpr core::duration longest_attempt{1'000};

}  // namespace

bool http2_origin::usable(http2_upstream& which, const upstream_target& target, core::steady_time now)
{
    if (which.room() == 0 || !which.wire().suits(target)) {
        return false;
    }
    if (which.idle()) {
        // Its end may have come along with the call that wants it.
        which.wire().side().look();
        if (which.room() == 0 || which.wire().side().ended() || !trust_.holds(which.wire().life().idle_for(now))) {
            return false;
        }
    }
    return which.wire().usable(now);
}

// The first: so later ones become idle when there is less to do, and end.
http2_upstream* http2_origin::find(const upstream_target& target, core::steady_time now)
{
    // By number: to look at one may end it.
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        const auto each = connections_[i];
        if (usable(*each, target, now)) {
            return each.get();
        }
    }
    return nullptr;
}

agent_lease http2_origin::take(const upstream_target& target)
{
    auto* const found = waiting_.empty() ? find(target, loop_.now()) : nullptr;
    if (found == nullptr) {
        return nullptr;
    }
    auto made = make(found->target());
    place(static_cast<http2_side&>(*made), *found);
    return made;
}

agent_lease http2_origin::make(std::shared_ptr<const upstream_target> target, std::uint64_t whose)
{
    std::unique_ptr<http2_side> made;
    if (spare_.empty()) {
        made = std::make_unique<http2_side>(*this);
    } else {
        made = std::move(spare_.back());
        spare_.pop_back();
    }
    made->begin(shared_from_this(), std::move(target));
    made->whose = whose;
    return made;
}

void http2_origin::give_back(std::unique_ptr<http2_side> side)
{
    const auto held = shared_from_this();
    side->finish();
    if (spare_.size() < most_spare && !closed_) {
        spare_.push_back(std::move(side));
    }
}

void http2_origin::place(http2_side& side, http2_upstream& on)
{
    used_ = loop_.now();
    on.attach(side);
}

void http2_origin::join(http2_side& side)
{
    auto* const found = waiting_.empty() ? find(side.target(), loop_.now()) : nullptr;
    if (found != nullptr) {
        return place(side, *found);
    }
    line_up(side);
    begin_attempts();
}

// The n-th call that waits of one caller is next to the n-th of every other.
void http2_origin::line_up(http2_side& side) noexcept
{
    const auto last = waiting_.rend();
    const auto own = std::find_if(waiting_.rbegin(), last, [&](const auto& each) { return each.whose == side.whose; });
    side.turn = own == last ? turn_ : own->turn + 1;
    const auto before = std::find_if(waiting_.rbegin(), last, [&](const auto& each) { return each.turn <= side.turn; });
    waiting_.insert(before.base(), side);
}

// Each of those that wait has at most one connection made for it. One that is idle meanwhile is not trusted any more, or not for them.
void http2_origin::begin_attempts()
{
    for (auto& side : waiting_) {
        if (side.attempt != nullptr) {
            continue;
        }
        if (open() >= settings_.http2_connections && !end_idle()) {
            return;
        }
        if (side.attempt == nullptr) {  // the end of another one may have begun it
            auto& made = connections_.emplace_back(std::make_shared<http2_upstream>(shared_from_this(), side.wanted()));
            made->owner = &side;
            side.attempt = made.get();
            made->begin();
        }
    }
}

// So many more may still have streams though they take no more calls.
std::size_t http2_origin::open() const noexcept
{
    const auto retired = static_cast<std::size_t>(
        std::count_if(connections_.begin(), connections_.end(), [](const auto& each) { return each->retired(); })
    );
    return connections_.size() - std::min(retired, settings_.http2_connections);
}

// False: none was. One whose agent allows no stream stays: another one would be allowed no more.
bool http2_origin::end_idle() noexcept
{
    const auto found = std::find_if(connections_.begin(), connections_.end(), [](const auto& each) {
        return each->settled() && each->idle() && !each->retired() && each->room() > 0;
    });
    if (found == connections_.end()) {
        return false;
    }
    const auto idle = *found;
    idle->close();
    return true;
}

// The connection that is being made for it goes to another one that has none, or ends.
void http2_origin::pass_on(http2_side& side) noexcept
{
    auto* const attempt = std::exchange(side.attempt, nullptr);
    if (attempt == nullptr) {
        return;
    }
    const auto next = std::find_if(waiting_.begin(), waiting_.end(), [&](const http2_side& each) {
        return each.attempt == nullptr && &each != &side;
    });
    if (next == waiting_.end()) {
        attempt->owner = nullptr;
        return attempt->close();
    }
    attempt->owner = &*next;
    next->attempt = attempt;
}

// The connection that is being made for a call which is given up soon serves the next one: else each of many would cost a connection. One
// that has taken long has had its time.
void http2_origin::leave(http2_side& side) noexcept
{
    static_cast<http2_place_hook&>(side).unlink();
    if (side.attempt != nullptr && side.attempt->wire().life().idle_for(loop_.now()) < longest_attempt) {
        pass_on(side);
    } else if (auto* const attempt = std::exchange(side.attempt, nullptr)) {
        attempt->owner = nullptr;
        attempt->close();
    }
    begin_attempts();
}

bool http2_origin::full() const noexcept
{
    return std::any_of(connections_.begin(), connections_.end(), [](const auto& each) { return each->settled(); });
}

void http2_origin::give_streams(http2_upstream& of)
{
    const auto held = of.shared_from_this();
    if (auto* const owner = of.settled() ? std::exchange(of.owner, nullptr) : nullptr) {
        owner->attempt = nullptr;
    }
    for (auto at = waiting_.begin(); at != waiting_.end() && of.room() > 0;) {
        auto& side = *at;
        ++at;
        if (!of.wire().suits(side.target()) || !of.wire().usable(loop_.now())) {
            continue;
        }
        static_cast<http2_place_hook&>(side).unlink();
        turn_ = std::max(turn_, side.turn + 1);  // whoever comes again has had this one
        place(side, of);
        pass_on(side);  // which may end idle connections: `of` is none any more
        note_change(side);
    }
    if (!waiting_.empty()) {
        begin_attempts();
    }
}

void http2_origin::failed(http2_upstream& which, core::error why)
{
    if (auto* const owner = std::exchange(which.owner, nullptr)) {
        owner->attempt = nullptr;
        static_cast<http2_place_hook&>(*owner).unlink();
        owner->fail(std::move(why));
    }
}

void http2_origin::ended(http2_upstream& which, bool by_agent) noexcept
{
    if (by_agent && which.settled() && which.idle()) {
        trust_.record_ended(which.wire().life().idle_for(loop_.now()));
    }
    const auto found =
        std::find_if(connections_.begin(), connections_.end(), [&](const auto& each) { return each.get() == &which; });
    if (found != connections_.end()) {
        connections_.erase(found);
    }
    if (!waiting_.empty()) {
        begin_attempts();
    }
}

void http2_origin::note_change(http2_side& side) noexcept
{
    if (!static_cast<http2_change_hook&>(side).is_linked()) {
        changed_.push_back(side);
        loop_.ready().wake(*this);
    }
}

void http2_origin::on_ready(std::uint32_t /*events*/)
{
    const auto held = shared_from_this();
    tell();
}

void http2_origin::tell()
{
    changed_list now;
    now.swap(changed_);
    while (!now.empty()) {
        auto& side = now.front();
        now.pop_front();
        side.notify();
    }
}

void http2_origin::end(http2_upstream& which)
{
    if (which.idle()) {
        which.close();
    } else {
        which.retire();
    }
}

void http2_origin::drop_idle()
{
    for (std::size_t i = connections_.size(); i-- > 0;) {
        if (const auto each = connections_[i]; each->settled()) {
            end(*each);
        }
    }
}

void http2_origin::close()
{
    closed_ = true;
    spare_.clear();
    drop_idle();
}

void http2_origin::sweep(core::steady_time now)
{
    if (!spare_.empty()) {
        spare_.pop_back();  // fewer calls need fewer
    }
    for (std::size_t i = connections_.size(); i-- > 0;) {
        const auto each = connections_[i];
        if (!each->settled()) {
            continue;
        }
        each->rest();
        const bool usable = each->wire().usable(now);
        if (each->idle()) {
            trust_.record_kept(each->wire().life().idle_for(now));
        }
        if (!usable) {
            end(*each);
        }
    }
}

std::size_t http2_origin::idle() const noexcept
{
    return static_cast<std::size_t>(std::count_if(connections_.begin(), connections_.end(), [](const auto& each) {
        return each->settled() && each->idle();
    }));
}

}  // namespace net
