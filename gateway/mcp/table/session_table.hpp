// The sessions of one kind that callers have in this process: each is found by a handle, an agent has at most so many, and they end
// by themselves when they are idle or old. On the thread of one loop, which must outlive what the sessions are made of.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/place_shares.hpp"
#include "gateway/mcp/table/agent_sessions.hpp"
#include "gateway/mcp/table/caller_session.hpp"
#include "gateway/mcp/table/ending_sessions.hpp"
#include "gateway/mcp/table/program_services.hpp"
#include "gateway/mcp/table/session_end.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/calls/client_message.hpp"
#include "net/loop/types.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::mcp::table {

// Whose session it is: all three must fit.
struct session_key {
    std::string_view handle;
    std::string_view agent_id;
    std::string_view principal;
};

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

    // As caller_session. Each fails with session_not_found, and as the kind of session does.
    core::result<std::shared_ptr<text_queue>> request(const session_key& key, const ::mcp::client_message& request);
    core::result<> tell(const session_key& key, const ::mcp::client_message& message);
    core::result<std::shared_ptr<text_queue>> listen(const session_key& key);
    core::result<> end(const session_key& key);

    bool has(const session_key& key) const { return find(key) != nullptr; }

    // The agent has changed, or is gone (null): sessions end that were made of another record, and those that are subscribed to a
    // resource if callers get others now. None of them is found any more. They end in turns
    // (ending_sessions).
    virtual void set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent);

    // What is late, idle or old ends. Called every second. Of more sessions than most_swept the others are looked at behind what
    // else is due on the loop.
    virtual void sweep(core::steady_time now);

    // Ends all of them in order, before it returns; no new one begins.
    virtual void stop();

    std::size_t size() const noexcept;
    std::size_t size(std::string_view agent_id) const;
    const session_counts& counts() const noexcept { return counts_; }

    // For its sessions. This one is over.
    void over(const caller_session& session, model::session_end why);
    core::steady_time now() const { return services_.clock(); }
    net::executor executor() const { return services_.loop.get_executor(); }

protected:
    // References outlive it.
    explicit session_table(program_services services)
        : services_{std::move(services)},
          ends_soon_{services_.loop.get_executor()}
    {
    }

    const program_services& services() const noexcept { return services_; }
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

    // Of the agent: those that are not found any more, and have not ended yet.
    std::size_t leaving(std::string_view agent_id) const { return ends_soon_.count(agent_id); }

    // Of every agent if `agent_id` is empty. What is done to one of them may end others.
    std::vector<caller_session*> all(std::string_view agent_id) const;

    // Of an agent, in the order of their handles, those behind this one; at most most_swept.
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

    void keep(std::unique_ptr<caller_session> begun);
    void end_each(const std::vector<caller_session*>& which, model::session_end why, const core::error& error);
    std::unique_ptr<caller_session> take(const caller_session& session);
    caller_session* find(const session_key& key) const;
    caller_session* use(const session_key& key) const;
    bool evict(const std::string& agent_id, std::string_view principal);
    void sweep_some();
    std::vector<caller_session*> some_behind(const sweep_place& place) const;
    static void judge(caller_session& session, core::steady_time now);

    program_services services_;
    ordered<agent_sessions> agents_;  // by id
    ending_sessions ends_soon_;
    session_counts counts_;
    bool stopped_ = false;
    std::optional<sweep_place> sweep_;  // that is under way
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::table
