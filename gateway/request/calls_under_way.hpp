// The requests of one worker that an agent is to answer, from their admission to their account, and how a containment ends them: what has no
// head of an answer yet gets 403, a stream of events ends between two events, any other body is cut. One thread.
#pragma once

#include "gateway/model/containments.hpp"
#include "gateway/request/request_context.hpp"

#include <boost/intrusive/list.hpp>

#include <chrono>
#include <memory>
#include <string_view>

namespace gateway::request {

// The containment that a request of this caller meets: of the principal, else of the agent; empty: it is about none, or not yet.
met_containment met_by(const model::containments_pointer& now, const core::principal* caller, std::string_view agent);

class calls_under_way {
public:
    // An agent has so long to end an event that it has begun.
    static constexpr std::chrono::milliseconds event_grace{50};

    // Streams end in turns of this length, so that other callers do not wait for them.
    static constexpr std::chrono::microseconds turn{2000};

    calls_under_way() = default;
    calls_under_way(const calls_under_way&) = delete;
    calls_under_way& operator=(const calls_under_way&) = delete;

    // The request is listed until it is destroyed.
    void add(request_context& request) noexcept { open_.push_back(request); }

    // Marks those that `now`, which is not null, forbids, and ends them, in turns behind this call.
    model::cut_counts cut(const model::containments_pointer& now);

    // Counts what cut() would end.
    model::cut_counts count(const model::containments& then) const;

private:
    using hook = boost::intrusive::member_hook<
        request_context,
        boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>,
        &request_context::listed>;
    using request_list = boost::intrusive::list<request_context, hook, boost::intrusive::constant_time_size<false>>;

    struct clock;

    void take_turns();
    void end_some();
    void watch_events();

    request_list open_;
    request_list ending_;           // marked, and not told yet
    request_list waiting_;          // told: some still end an event
    request_list late_;             // these have had their time
    std::shared_ptr<clock> clock_;  // null: nothing was cut yet
};

}  // namespace gateway::request
