// The sessions of clients of the legacy era with bundles. An id says all that another process needs to go on with one; here are the
// sessions with its members, each of which begins with the first message for that member, and what a member has to be told again. On the
// thread of the control loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/place_shares.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/model/published_bundle.hpp"
#include "mcp/calls/session_id.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/types.hpp"
#include "net/loop/waiting_tasks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::bundles {

// A session with one member.
struct member_session {
    std::string agent;      // its id
    std::string id{};       // as /agents/<id>/mcp gave it; empty: the member has none
    std::string version{};  // that the member has agreed to
    bool begun = false;
    bool beginning = false;
    net::waiting_tasks waiting{};  // for its beginning
    core::result<> outcome{};      // of the latest attempt to begin it
    std::map<std::string, std::string, std::less<>> subscriptions{
    };  // by the URI at the member, that which the client has
};

class bundle_sessions final : private net::timed {
public:
    static constexpr std::size_t most = 10'000;
    static constexpr std::size_t most_over = 10'000;  // of which it is known that they are over
    static constexpr std::size_t most_posts = 256;    // notifications of one session on their way to its members
    static constexpr std::size_t most_posts_of_all = 2048;
    static constexpr std::size_t most_subscriptions = 1000;  // of one member's session
    static constexpr core::duration longest_idle = std::chrono::minutes{30};

    struct session {
        model::bundle_session in;
        core::steady_time used;
        std::string level{};                                                            // raw; empty: none was set
        std::map<std::string, std::shared_ptr<member_session>, std::less<>> members{};  // by agent
        std::shared_ptr<std::atomic<std::uint32_t>> calls =
            std::make_shared<std::atomic<std::uint32_t>>();  // in flight
        core::place_share place{};
        std::list<::mcp::session_digest>::iterator turn{};  // among those by use
        std::shared_ptr<std::size_t> posts =
            std::make_shared<std::size_t>();   // messages to members under way, which nobody waits for
        bool told_of_loss = false;             // of messages to members
        std::weak_ptr<const void> listener{};  // lives while the client listens

        // Null: none was called.
        std::shared_ptr<member_session> member(std::string_view agent) const
        {
            const auto found = members.find(agent);
            return found == members.end() ? nullptr : found->second;
        }

        bool is_idle() const
        {
            return calls->load() == 0 && listener.expired() &&
                   std::ranges::none_of(members, [](const auto& each) { return each.second->beginning; });
        }
    };

    // Told that a session with a member has begun, and with null that the whole session is over.
    using observer = std::function<void(const ::mcp::session_digest& id, const member_session* begun)>;

    // `over`: told that what is known of a session does not hold any more, and whether its client has ended it. References outlive this.
    bundle_sessions(
        net::loop& control,
        model::inner_calls& calls,
        const core::logger& log,
        std::function<void(const ::mcp::session_digest& id, bool ended)> over
    );

    void set_observer(observer told) { told_ = std::move(told); }

    // These work as the functions of model::bundle_services.
    net::task<core::result<model::member_place>> enter(model::member_call call);
    void tell(model::bundle_message message);

    // While this lives, the client listens to the session.
    void note_listener(const ::mcp::session_digest& id, std::weak_ptr<const void> listener);

    // Null: this process knows nothing of it.
    const session* find(const ::mcp::session_digest& id) const;

    // The client has ended it.
    bool is_over(const ::mcp::session_digest& id) const { return ended_.contains(id); }

    std::size_t size() const noexcept { return sessions_.size(); }

    // Forgets all sessions, and begins none any more.
    void stop();

private:
    using shared_body = std::shared_ptr<const std::string>;

    void on_due() override;

    core::result<session*> open(const model::bundle_session& in);
    net::task<core::result<>> begin(::mcp::session_digest id, std::shared_ptr<member_session> member);
    net::task<core::result<>> initialize(model::bundle_session in, std::shared_ptr<member_session> member);
    net::task<> tell_state(model::bundle_session in, std::shared_ptr<member_session> member, std::string level);
    void cancel(session& in, std::string_view request_id, std::string_view agent);
    void post(session& in, std::string text, std::string_view agent = {});  // to all members, or this one
    void post(session& in, const member_session& member, shared_body body);
    void send(model::inner_request request, std::vector<std::shared_ptr<std::size_t>> counted);
    void end_member(const model::bundle_session& in, const member_session& member);
    void end(const ::mcp::session_digest& id);
    bool drop_oldest();
    void drop(const ::mcp::session_digest& id);

    net::loop& loop_;
    model::inner_calls& calls_;
    const core::logger& log_;
    std::function<void(const ::mcp::session_digest& id, bool ended)> over_;
    observer told_;
    std::map<::mcp::session_digest, session> sessions_;
    std::list<::mcp::session_digest> by_use_;                               // the one that was used last at the end
    std::shared_ptr<std::size_t> posts_ = std::make_shared<std::size_t>();  // session::posts of all
    std::set<::mcp::session_digest> ended_;
    std::deque<::mcp::session_digest> ended_in_order_;
    bool stopped_ = false;
};

// An inner request of a client of the legacy era to a member. `body`: null: it has none.
model::inner_request
legacy_request(const model::bundle_session& in, const member_session& member, std::shared_ptr<const std::string> body);

// The path of an agent's MCP endpoint.
std::string member_target(std::string_view agent);

}  // namespace gateway::bundles
