// A caller's session that lives in this process, whatever serves it: what the table knows that it is in (session_table.hpp). On the
// thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/place_shares.hpp"
#include "gateway/mcp/table/session_end.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "net/loop/types.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace gateway::mcp::table {

class session_table;

// Whose a session is, and what it is found by.
struct session_name {
    std::shared_ptr<const model::agent_entry> agent;
    std::string handle;
    std::string principal;
};

class caller_session {
public:
    // It begins now. The table must outlive all calls of it.
    caller_session(session_table& in, session_name name);
    virtual ~caller_session() = default;
    caller_session(const caller_session&) = delete;
    caller_session& operator=(const caller_session&) = delete;

    // What comes of a request; letting go of it cancels nothing, unless the session is for this call alone.
    virtual core::result<std::shared_ptr<text_queue>> request(const ::mcp::client_message& request) = 0;

    // A notification or an answer; one that is late is dropped.
    virtual core::result<> tell(const ::mcp::client_message& message) = 0;

    // What the server says unasked; replaces whoever listened.
    virtual std::shared_ptr<text_queue> listen() = 0;

    // Ends it in order; what is in flight fails with `error`. The table lets go of it after the call. Does nothing if it is over.
    void end(model::session_end why, const core::error& error);

    // What is late ends. Called every second.
    virtual void sweep(core::steady_time now) = 0;

    // A call is in flight.
    virtual bool busy() const = 0;
    virtual bool listened_to() const noexcept = 0;

    // To a resource, or a request for that is under way.
    virtual bool subscribes() const noexcept = 0;

    // Another record, which means the same for sessions; its times hold for calls in flight too.
    void set_agent(std::shared_ptr<const model::agent_entry> agent) noexcept { name_.agent = std::move(agent); }

    // What its place is of its principal's share, which is given back once the session is over or leaves.
    void hold(core::place_share share) noexcept { share_ = std::move(share); }

    // It is found no more, and ends soon, or by itself before that.
    void leave() noexcept
    {
        leaves_ = true;
        share_.give_back();
    }
    bool leaves() const noexcept { return leaves_; }

    void use(core::steady_time now) noexcept { last_use_ = now; }
    core::steady_time began() const noexcept { return began_; }
    core::steady_time last_use() const noexcept { return last_use_; }

    // A call or a stream of it is open at this time.
    void note_open(core::steady_time now) noexcept { last_open_ = now; }
    core::steady_time unused_since() const noexcept { return std::max(last_use_, last_open_); }
    bool is_over() const noexcept { return over_; }
    const model::agent_entry& agent() const noexcept { return *name_.agent; }
    const session_name& name() const noexcept { return name_; }

protected:
    core::steady_time now() const;
    net::executor executor() const;

private:
    // Once, by end().
    virtual void close(const core::error& error) = 0;

    session_table& in_;
    session_name name_;
    core::steady_time began_;
    core::steady_time last_use_;
    core::steady_time last_open_{};
    core::place_share share_;
    bool leaves_ = false;
    bool over_ = false;
};

}  // namespace gateway::mcp::table
