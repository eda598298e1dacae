// The sessions of one agent over HTTP that this process has to know: which are over, the server's new id of one,
// what it has to be told again, and the attempt to begin it again. Pure but for `mark`; one thread.
#pragma once

#include "core/clock.hpp"
#include "gateway/mcp/http/session_recovery.hpp"
#include "gateway/mcp/table/restored_state.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/protocol/message.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace gateway::mcp::http {

struct known_session {
    ::mcp::session_digest id;
    core::steady_time began;
    core::steady_time used;
    std::optional<::mcp::upstream_session> upstream{};  // nullopt: the one in the client's id
    bool over = false;
    ::mcp::list_set changed{};  // since it began again, of which its client has not been told
    table::restored_state state{};
    recovery_turns::attempt under_way{};  // null: nothing is
};

class known_sessions {
public:
    // Over that the one goes that was used least lately, and that is not begun again. Those that are over do not take the places
    // of the others, since a client may end as many as it likes.
    static constexpr std::size_t most = 10'000;
    static constexpr std::size_t most_over = 10'000;
    static constexpr std::size_t most_bytes = 16 * 1024 * 1024;               // of what they have to be told again
    static constexpr core::duration longest_idle = std::chrono::minutes{30};  // of one whose server's id is kept here
    static constexpr core::duration longest_life = std::chrono::hours{24};

    // Told of a session that callers have to ask about from now on, or not any more.
    using mark_function = std::function<void(const ::mcp::session_digest& id, bool ask)>;

    // `mark` outlives it.
    explicit known_sessions(const mark_function& mark)
        : mark_{mark}
    {
    }
    known_sessions(const known_sessions&) = delete;
    known_sessions& operator=(const known_sessions&) = delete;

    // Which is used now. Null: nothing is known of it.
    known_session* look(const ::mcp::session_digest& id, core::steady_time now);

    // Finds one that need not be known. Good until the next call.
    known_session& touch(const ::mcp::session_digest& id, core::steady_time now);

    // The server's id and cookies of it.
    void keep(known_session& of, ::mcp::upstream_session upstream);

    // The client has ended it.
    void end(known_session& known);

    // The server took this request (restored_state::note()).
    void note(known_session& of, const ::mcp::client_message& request);

    // Drops what is old, from the least recent on, and at most so many. Returns how many went.
    std::size_t sweep(core::steady_time now, std::size_t most_gone);

    // Drops them, old or not.
    std::size_t clear(std::size_t most_gone);

    std::size_t size() const noexcept { return by_id_.size(); }
    std::size_t bytes() const noexcept { return bytes_; }

private:
    using shelf = std::list<known_session>;  // the one used last is first

    static bool is_due(const known_session& each, core::steady_time now) noexcept;
    static bool is_marked(const known_session& each) noexcept { return each.over || each.upstream; }
    shelf& shelf_of(const known_session& each) noexcept { return each.over ? over_ : all_; }
    shelf::iterator drop(shelf::iterator which);
    bool outlives(shelf::iterator due, core::steady_time now);
    void make_room(shelf& in, std::size_t room_for);
    void recount(const known_session& changed, std::size_t before);
    void clear_state(known_session& of);
    void bound_states();

    const mark_function& mark_;
    shelf all_;
    shelf over_;
    std::map<::mcp::session_digest, shelf::iterator> by_id_;
    std::set<std::pair<std::size_t, ::mcp::session_digest>> by_size_;  // of those with a state, by its bytes
    std::size_t bytes_ = 0;                                            // of all states
};

}  // namespace gateway::mcp::http
