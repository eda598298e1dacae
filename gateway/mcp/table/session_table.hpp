// The sessions of one kind that callers have in this process: each is found by a handle, an agent has at most so many, and they end
// by themselves when they are idle or old. On the thread of one loop, which must outlive what the sessions are made of.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/place_shares.hpp"
#include "gateway/mcp/table/local_session_services.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/request_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "net/loop/types.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::mcp::table {

using model::session_end;
using model::session_ends;

class session_table;

// The owner of a session, and the handle that finds it.
struct session_name {
    std::shared_ptr<const model::agent_entry> agent;
    std::string handle;
    std::string principal;
};

// A caller's session that lives in this process, whatever serves it: the table's view of it.
class caller_session {
public:
    // The session begins now. The table must outlive all calls of it.
    caller_session(session_table& in, session_name name);
    virtual ~caller_session() = default;
    caller_session(const caller_session&) = delete;
    caller_session& operator=(const caller_session&) = delete;

    // The messages that answer a request; letting go of them cancels nothing, unless the session is for this call alone.
    virtual core::result<std::shared_ptr<text_queue>> request(const ::mcp::client_message& request) = 0;

    // A notification or an answer; one that is late is dropped.
    virtual core::result<> tell(const ::mcp::client_message& message) = 0;

    // The server's own messages; replaces the previous listener.
    virtual std::shared_ptr<text_queue> listen() = 0;

    // Ends it in order; what is in flight fails with `error`. The table lets go of it after the call. Does nothing if it is over.
    void end(model::session_end why, const core::error& error);

    // Ends what is late. Called every second.
    virtual void sweep(core::steady_time now) = 0;

    // A call is in flight.
    virtual bool busy() const = 0;
    virtual bool listened_to() const noexcept = 0;

    // To a resource, or a request for that is under way.
    virtual bool subscribes() const noexcept = 0;

    // Another record, which means the same for sessions; its times hold for calls in flight too.
    void set_agent(std::shared_ptr<const model::agent_entry> agent) noexcept { name_.agent = std::move(agent); }

    // The place of its principal's share, which is given back once the session is over or leaves.
    void hold(core::place_share share) noexcept { share_ = std::move(share); }

    // The session is not found any more, and ends soon, or by itself before that.
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

// Not to be guessed, and of no other process: 16 bytes of chance. Any thread.
std::string new_session_handle();

struct agent_sessions {
    static constexpr core::duration evictable = std::chrono::seconds{10};           // without a call and a stream
    static constexpr core::duration evictable_listener = std::chrono::seconds{60};  // without a message, with a stream

    // They count as full for this long after none of them could go: looking at each of them takes time.
    static constexpr core::duration longest_full{1000};

    // The session of this principal, empty: of all, that has been without a call and a stream for longest, but for at least `evictable`; if
    // there is none, the one that has only listened for longest, but for at least evictable_listener. Null: none may go.
    caller_session* next_to_go(std::string_view principal, core::steady_time now);

    std::shared_ptr<const model::agent_entry> agent{};
    std::map<std::string, std::unique_ptr<caller_session>, std::less<>> sessions{};  // by handle; never empty

    // None of this principal, empty: of all, may go before that time, unless a session ends.
    std::map<std::string, core::steady_time, std::less<>> full_until{};
};

// Sessions that are not found any more: each ends in turn, behind other work of the loop.
class ending_sessions {
public:
    static constexpr std::size_t most_at_once = 256;

    explicit ending_sessions(net::executor on)
        : on_{on}
    {
    }

    // Adds a session for begin(). It is here until it has ended.
    void add(std::unique_ptr<caller_session> session, model::session_end why, std::shared_ptr<const core::error> error);

    // Ends them: most_at_once now, unless some are ending already, and the others behind what else is due on the loop.
    void begin();

    // Ends all of them now.
    void end_all();

    // Takes out a session that is over. Null: it is not here.
    std::unique_ptr<caller_session> take(const caller_session& session);

    std::size_t count(std::string_view agent_id) const;

private:
    struct ending {
        std::unique_ptr<caller_session> session;
        model::session_end why;
        std::shared_ptr<const core::error> error;
    };

    void end_some(std::size_t most);

    net::executor on_;
    std::map<const caller_session*, ending> all_;
    bool under_way_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

// The key of a session: all three must fit.
struct session_key {
    std::string_view handle;
    std::string_view agent_id;
    std::string_view principal;
};

// Names of principals as sessions have them: provider and id, with a line end between.
using session_owners = std::set<std::string, std::less<>>;

struct session_counts {
    std::uint64_t begun = 0;
    std::array<std::uint64_t, model::session_ends> ended{};  // by session_end
    std::uint64_t recovered = 0;
};

class session_table {
public:
    static constexpr std::size_t usual_sessions = 10'000;  // of an agent without max_sessions that is no program
    static constexpr core::duration longest_idle = std::chrono::minutes{30};
    static constexpr core::duration longest_life = std::chrono::hours{24};

    static constexpr std::size_t most_swept = 256;  // sessions at once

    virtual ~session_table() = default;
    session_table(const session_table&) = delete;
    session_table& operator=(const session_table&) = delete;

    // Calls of caller_session. Each fails with session_not_found, and as the kind of session does.
    core::result<std::shared_ptr<text_queue>> request(const session_key& key, const ::mcp::client_message& request);
    core::result<> tell(const session_key& key, const ::mcp::client_message& message);
    core::result<std::shared_ptr<text_queue>> listen(const session_key& key);
    core::result<> end(const session_key& key);

    bool has(const session_key& key) const { return find(key) != nullptr; }

    // The agent has changed, or is gone (null): sessions end that were made of another record, and those that are subscribed to a
    // resource if callers get others now. None of them is found any more. They end in turns
    // (ending_sessions).
    virtual void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // Ends what is late, idle or old. Called every second. Of more sessions than most_swept the others are looked at after what
    // else is due on the loop.
    virtual void sweep(core::steady_time now);

    // Ends all of them in order, before it returns; no new one begins.
    virtual void stop();

    // Ends those of these owners, as set_agent() does.
    void end_of(const session_owners& owners);
    std::size_t size_of(const session_owners& owners) const;

    std::size_t size() const noexcept;
    std::size_t size(std::string_view agent_id) const;
    const session_counts& counts() const noexcept { return counts_; }

    // For its sessions. This one is over.
    void over(const caller_session& session, model::session_end why);
    core::steady_time now() const { return services_.clock(); }
    net::executor executor() const { return services_.loop.get_executor(); }

protected:
    // References outlive it.
    explicit session_table(local_session_services services)
        : services_{std::move(services)},
          ends_soon_{services_.loop.get_executor()}
    {
    }

    const local_session_services& services() const noexcept { return services_; }
    bool stopped() const noexcept { return stopped_; }

    // For one more session with this record of the agent. If it has `most`, or the principal half of them, the one ends that has been
    // without a call and a stream for longest (agent_sessions::next_to_go()); of the principal's own if it is that one's share. `principal` is empty if callers are not told apart. Fails with session_limit
    // and draining.
    core::result<core::place_share>
    make_room(const std::shared_ptr<const model::agent_entry>& agent, std::string_view principal, std::size_t most);

    // `share`: of make_room().
    template <class Session>
    Session& add(std::unique_ptr<Session> begun, core::place_share share)
    {
        auto& added = *begun;
        added.hold(std::move(share));
        keep(std::move(begun));
        return added;
    }

    // All of an agent, as set_agent() ends them.
    void end_all(std::string_view agent_id, model::session_end why, const core::error& error);

    // The agent's sessions that are not found any more, and have not ended yet.
    std::size_t leaving(std::string_view agent_id) const { return ends_soon_.count(agent_id); }

    // The sessions of the agent, or of every agent if `agent_id` is empty. A call of one may end others.
    std::vector<caller_session*> all(std::string_view agent_id) const;

    // An agent's sessions after this handle, in the order of their handles; at most most_swept.
    std::vector<caller_session*> some(std::string_view agent_id, std::string_view behind) const;

    // Runs behind what else is due on the loop, unless the table is gone by then.
    void later(std::function<void()> then);

    // A session is served again after a loss, or all sessions of the agent are.
    void count_recovery(const std::string& agent_id);

private:
    template <class Value>
    using ordered = std::map<std::string, Value, std::less<>>;

    struct sweep_place {
        core::steady_time now;
        std::string agent;
        std::string handle;  // the session behind it is the next one
    };

    std::vector<caller_session*> owned_by(const session_owners& owners) const;
    void keep(std::unique_ptr<caller_session> begun);
    void end_each(const std::vector<caller_session*>& which, model::session_end why, const core::error& error);
    std::unique_ptr<caller_session> take(const caller_session& session);
    caller_session* find(const session_key& key) const;
    caller_session* use(const session_key& key) const;
    bool evict(const std::string& agent_id, std::string_view principal);
    void sweep_some();
    std::vector<caller_session*> some_behind(const sweep_place& place) const;
    static void judge(caller_session& session, core::steady_time now);

    local_session_services services_;
    ordered<agent_sessions> agents_;  // by id
    ending_sessions ends_soon_;
    session_counts counts_;
    bool stopped_ = false;
    std::optional<sweep_place> sweep_;  // that is under way
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::table
