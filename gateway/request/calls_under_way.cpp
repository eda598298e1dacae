#include "gateway/request/calls_under_way.hpp"

#include "gateway/model/snapshot.hpp"
#include "gateway/relay/open_streams.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace gateway::request {
namespace {

met_containment met_of(const model::containments_pointer& now, const request_context& request)
{
    return met_by(
        now,
        request.principal(),
        request.agent ? std::string_view{request.agent->record.id} : std::string_view{}
    );
}

// May destroy it.
void end(request_context& request, bool at_once)
{
    if (request.passing != nullptr) {
        request.passing->contain(at_once);
    } else {
        request.caller.interrupt();
    }
}

// Adds the request, which meets a containment.
void add_to(model::cut_counts& counts, const request_context& request)
{
    if (!request.caller.answered()) {
        ++counts.calls;
    } else if (request.passing != nullptr) {
        ++counts.streams;
    }
}

}  // namespace

met_containment met_by(const model::containments_pointer& now, const core::principal* caller, std::string_view agent)
{
    if (now == nullptr) {
        return {};
    }
    if (const auto* terms = now->find_principal(caller)) {
        return {now, terms, core::errc::principal_contained};
    }
    const auto* terms = agent.empty() ? nullptr : now->find_agent(agent);
    return terms == nullptr ? met_containment{} : met_containment{now, terms, core::errc::agent_contained};
}

struct calls_under_way::clock {
    explicit clock(net::executor on)
        : timer{on}
    {
    }

    net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>
        timer;
    bool turning = false;  // a turn is due
    bool waiting = false;  // the timer runs
};

// Calls that wait for a head come before streams, of which there may be many.
model::cut_counts calls_under_way::cut(const model::containments_pointer& now)
{
    model::cut_counts counts;
    for (auto at = open_.begin(); at != open_.end();) {
        auto& request = *at++;
        auto met = request.contained ? met_containment{} : met_of(now, request);
        if (!met) {
            continue;
        }
        request.contained = std::move(met);
        add_to(counts, request);
        if (clock_ == nullptr) {
            clock_ = std::make_shared<clock>(request.caller.owner().get_executor());
        }
        open_.erase(request_list::s_iterator_to(request));
        ending_.insert(request.caller.answered() ? ending_.end() : ending_.begin(), request);
    }
    if (!ending_.empty()) {
        take_turns();
        watch_events();
    }
    return counts;
}

model::cut_counts calls_under_way::count(const model::containments& then) const
{
    const model::containments_pointer all{model::containments_pointer{}, &then};
    model::cut_counts counts;
    for (const auto& request : open_) {
        if (!request.contained && met_of(all, request)) {
            add_to(counts, request);
        }
    }
    return counts;
}

void calls_under_way::take_turns()
{
    if (std::exchange(clock_->turning, true)) {
        return;
    }
    net::asio::post(clock_->timer.get_executor(), [this, alive = std::weak_ptr{clock_}] {
        if (const auto kept = alive.lock()) {
            kept->turning = false;
            end_some();
        }
    });
}

// A request is in a list before it is ended: it leaves that by itself when it is destroyed.
void calls_under_way::end_some()
{
    const auto until = std::chrono::steady_clock::now() + turn;
    while (std::chrono::steady_clock::now() < until) {
        if (!late_.empty()) {
            auto& request = late_.front();
            late_.pop_front();
            open_.push_back(request);
            end(request, /*at_once=*/true);
        } else if (!ending_.empty()) {
            auto& request = ending_.front();
            ending_.pop_front();
            waiting_.push_back(request);
            end(request, /*at_once=*/false);
        } else {
            return;
        }
    }
    take_turns();
}

void calls_under_way::watch_events()
{
    if (std::exchange(clock_->waiting, true)) {
        return;
    }
    clock_->timer.expires_after(event_grace);
    clock_->timer.async_wait([this, alive = std::weak_ptr{clock_}](net::error_code) {
        const auto kept = alive.lock();
        if (kept == nullptr) {
            return;
        }
        kept->waiting = false;
        late_.splice(late_.end(), waiting_);
        if (!late_.empty()) {
            take_turns();
        }
        if (!ending_.empty()) {
            watch_events();
        }
    });
}

}  // namespace gateway::request
