// One call passed on to an agent and its answer passed back, bytes untouched, framing made again in both directions,
// events as they come. Back-pressure is the loop itself: the agent is read again when the caller has taken what came.
#pragma once

#include "core/error.hpp"
#include "gateway/traffic/agent_exchange.hpp"
#include "gateway/traffic/answer_writer.hpp"
#include "gateway/traffic/body_reader.hpp"
#include "gateway/traffic/exchange_wait.hpp"
#include "gateway/traffic/relay_call.hpp"
#include "net/server/server_connection.hpp"
#include "net/upstream/upstream.hpp"

#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <string>

namespace gateway::traffic {

class relay;

// Told when an answer turns out to be a stream of events, so that a shutdown can end it.
class stream_observer {
public:
    virtual ~stream_observer() = default;
    // False: it is one too many, and is not passed on.
    virtual bool stream_began(relay& stream) = 0;
    virtual void stream_ended() = 0;  // one that began
};

// One exchange; made per call, on the loop of its caller. The observer may keep it in a list for as long as it lives.
class relay : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
public:
    // References outlive the relay.
    relay(net::server_connection& caller, net::upstream_pool& pool, relay_settings settings, relay_call call);
    ~relay();

    net::routine<relay_outcome> run();

    // An answer that is a stream of events is cut, once the caller has taken what came of it or takes nothing more.
    void end_stream() { wait_.end(); }
    const model::agent_entry& agent() const noexcept { return *call_.agent; }

private:
    bool may_renew_token() const noexcept;
    net::routine<bool> renew_token();
    net::routine<core::result<>> pass_answer();
    net::routine<core::result<>> pass_body();
    net::routine<core::result<>> edit_answer(answer_edit& edit);
    bool expect_events();
    core::result<std::size_t> add_body();

    net::server_connection& caller_;
    relay_settings settings_;
    relay_call call_;
    std::string renewed_head_;  // what call_.head points into once the agent has refused a token
    relay_outcome outcome_;
    exchange_wait wait_;
    agent_exchange agent_;
    body_reader body_;
    answer_writer writer_;
    bool announced_ = false;  // to the observer
};

}  // namespace gateway::traffic
