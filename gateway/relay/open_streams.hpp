// The answers of one worker that are streams of events and under way: their limits, and how a shutdown ends them. One thread.
#pragma once

#include "a2a/dialect/enums.hpp"
#include "config/settings.hpp"
#include "core/place_shares.hpp"
#include "gateway/model/snapshot.hpp"

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace gateway::relay {

// `open_streams` may keep it in its list for as long as it lives.
class open_stream
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    virtual ~open_stream() = default;

    // Says in a comment between two events that the gateway is about to end. May resume the stream's coroutine.
    virtual void announce_end() = 0;

    // The gateway accepts nobody any more. A stream that is part of no call, such as that of what an MCP server says unasked, ends in
    // order, with its last event whole: its client asks for it again elsewhere. Any other one goes on. May resume the stream's
    // coroutine.
    virtual void end_listening() = 0;

    // The stream ends once the caller has taken what came of it or takes nothing more.
    virtual void end_stream() = 0;

    // An operator contains the agent or the caller: the agent's connection ends now, the exchange soon, and whoever runs it tells the caller
    // (gateway/request/calls_under_way.hpp). False: an event is under way, and it ends behind that; not with `at_once`. May resume the
    // exchange's coroutine, and so destroy it.
    virtual bool contain(bool at_once) = 0;
    virtual const model::agent_entry& agent() const noexcept = 0;

    // The owner of the stream; 0: a caller without a credential.
    virtual core::caller_mark whose() const noexcept = 0;

    // For `open_streams`: what it is of its principal's share of streams, until it is destroyed.
    core::place_share& share() noexcept { return of_principal_; }

private:
    core::place_share of_principal_;
};

class open_streams {
public:
    // Counts streams that begin, and the states that the tasks of agents come to.
    struct counters {
        std::function<void(const model::agent_entry& agent)> began;
        std::function<void(const model::agent_entry& agent, ::a2a::task_state state)> task_changed;
    };

    // `limits` outlive the object.
    open_streams(const config::limit_settings& limits, counters counts)
        : limits_{limits},
          counts_{std::move(counts)}
    {
    }

    // Whether an answer to this caller may be a stream.
    bool takes_another(core::caller_mark whose) const noexcept { return has_room() && share_of(whose).has_value(); }

    // Keeps a place for an answer that may turn out to be a stream, so that one is not refused after the server has acted; given
    // up before the stream begins, or when there is none. False: limits.streams is reached, or half of it by the principal, and
    // nothing is to be given up.
    bool keep_place(open_stream& stream);
    void give_place_up(open_stream& stream);

    // A stream whose server may leave it without an answer: it is ended too.
    void add(open_stream& stream) { streams_.push_back(stream); }

    // False: it is one too many, and is not passed on.
    bool begin(open_stream& stream);
    void end() noexcept { --open_; }  // of one that began

    // The answer has shown a task of this agent in a state that it was not in before.
    void task_changed(const model::agent_entry& agent, ::a2a::task_state state) { counts_.task_changed(agent, state); }

    // Tells those who read the streams that the gateway is about to end.
    void announce_end() { tell(&open_stream::announce_end); }

    // The gateway accepts nobody any more: streams that are part of no call end in order, and so do those that begin from now on.
    void end_listening();
    bool ends_listening() const noexcept { return ending_listening_; }

    // Cuts the streams, and those that begin from now on.
    void end_all();

private:
    using stream_list = boost::intrusive::list<open_stream, boost::intrusive::constant_time_size<false>>;

    void tell(void (open_stream::*what)());
    bool has_room() const noexcept { return open_ + kept_places_ < limits_.streams; }
    std::optional<core::place_share> share_of(core::caller_mark whose) const noexcept;

    const config::limit_settings& limits_;
    counters counts_;
    std::uint64_t open_ = 0;
    std::uint64_t kept_places_ = 0;
    bool ending_listening_ = false;
    bool ending_all_ = false;
    stream_list streams_;
};

}  // namespace gateway::relay
