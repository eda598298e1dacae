// The session of one agent with its MCP server: what the server lists becomes the agent's card, and those who wait for that
// are told. On the control loop's thread.
#pragma once

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/redaction.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/model/pin_judges.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/sessions/passed_lists.hpp"
#include "gateway/sessions/session_facts.hpp"
#include "mcp/protocol/stderr_log.hpp"
#include "mcp/session/session_runner.hpp"
#include "mcp/session/session_timers.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/redirect_error.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::sessions {

// Somebody who waits for a session, and no longer than a given time.
class session_waiter {
public:
    session_waiter(net::loop& on, core::duration longest)
        : timer_{on.get_executor(), longest}
    {
    }

    // Counts once.
    void tell(core::result<> how)
    {
        if (!told_) {
            told_ = std::move(how);
            timer_.cancel();  // whoever waits goes on after this call
        }
    }

    // Nothing: it was not told in time.
    static net::task<std::optional<core::result<>>> wait(std::shared_ptr<session_waiter> self)
    {
        net::error_code ignored;
        if (!self->told_) {
            co_await self->timer_.async_wait(net::asio::redirect_error(net::use_task, ignored));
        }
        co_return self->told_;
    }

private:
    ::mcp::timer timer_;
    std::optional<core::result<>> told_;
};

// Services that all sessions use; they outlive them.
struct session_services {
    net::loop& control;
    cards::card_plane& cards;
    const core::logger& log;
    // Called when an agent's lists have changed; may be empty, and may change.
    const std::function<void(const std::string& id, const std::shared_ptr<const ::mcp::server_lists>& lists)>& listed;

    // The server of an agent speaks HTTP+SSE, though its record has streamable HTTP, or does not any more. It may set the agent.
    const std::function<void(const std::string& id, bool fell_back)>& fell_back;

    // Says which lists reach callers; may be empty.
    const model::list_judge& judge;
};

// Words of the server that operators are shown.
struct server_words {
    std::shared_ptr<core::redaction> secrets;  // of the agent, and shared with whoever tells what it says
    std::shared_ptr<const ::mcp::stderr_lines> complaints{};  // what its programs wrote to stderr; null: not known
};

class agent_session final : private ::mcp::runner_observer {
public:
    // `ended` is called once, from within the session, when its runner has stopped: the session is destroyed after that call.
    agent_session(
        session_services services,
        std::shared_ptr<const model::agent_entry> agent,
        ::mcp::runner_settings settings,
        ::mcp::transport_factory connect,
        server_words words,
        std::function<void(const agent_session& session)> ended
    );

    ::mcp::session_runner& runner() noexcept { return *runner_; }
    const core::agent& record() const noexcept { return agent_->record; }
    const std::shared_ptr<const model::agent_entry>& entry() const noexcept { return agent_; }
    session_facts facts() const;

    // The last lines that its programs wrote to stderr, oldest first; empty: nothing, or it has none.
    std::vector<std::string> complaints() const;
    bool speaks_modern() const noexcept { return runner_->spoken() == ::mcp::era::modern; }

    // The lists that callers get. Null: none were walked yet, or nobody has judged them.
    const std::shared_ptr<const ::mcp::server_lists>& lists() const noexcept
    {
        return is_pinned() ? approved_ : runner_->latest();
    }

    // Why it has no card; nothing: it has one.
    std::optional<core::error> trouble() const;

    // Another record of the agent, for which this session stays, or another token. `usual_walk`: mcp.walk.
    void set_agent(std::shared_ptr<const model::agent_entry> agent, core::duration usual_walk);
    void set_walk(core::duration usual_walk);

    // If these lists are of the same server, they are its card until it serves, or for vouched_for. Before it begins.
    void vouch(passed_lists lists);
    static constexpr core::duration vouched_for = std::chrono::seconds{60};

    // Nothing: it does not serve now.
    std::optional<passed_lists> lists_to_pass() const;

    // Makes a card of the lists again, once the session is ready.
    void render_again();

    // Has the lists walked now; one that has not begun begins. The waiter is told when the card says what they say, or why it
    // does not.
    std::shared_ptr<session_waiter> refresh();

    // Waits for the era that the server speaks: the waiter is told as soon as a handshake has shown it, or why none has. It waits
    // for timeouts.initialize.
    std::shared_ptr<session_waiter> find_era();

    // Ends in order and says nothing more of the agent, which may have another session already. Those who wait are told `why`.
    // `silently`: the server hears nothing of it.
    void leave(core::error why, bool silently = false);

private:
    using waiters = std::vector<std::shared_ptr<session_waiter>>;

    void session_changed(::mcp::session_state state, ::mcp::session_reason why) override;
    void listed(std::shared_ptr<const ::mcp::server_lists> lists) override;
    void walked(const core::result<::mcp::walk_outcome>& outcome) override;
    void end_vouching();
    bool is_pinned() const noexcept { return agent_->pins != nullptr && services_.judge; }
    void judge();
    net::task<> judge_lists(std::weak_ptr<bool> alive);
    void render();
    void render_approved();
    void card_made(bool success);
    void tell(const core::result<>& outcome);
    static void tell_all(waiters& waiting, const core::result<>& outcome);

    session_services services_;
    std::shared_ptr<const model::agent_entry> agent_;
    std::function<void(const agent_session& session)> ended_;
    server_words words_;
    bool leaving_ = false;
    bool served_ = false;
    bool vouched_ = false;    // by lists of another process, so that no trouble of this one concerns the card
    bool owes_card_ = false;  // what is listed makes none, or may make another one
    bool rendered_ = false;   // in the walk that is just ending
    bool judging_ = false;    // lists are being compared
    bool judge_again_ = false;
    std::shared_ptr<const ::mcp::server_lists> approved_;  // of a pinned agent; null: not judged yet
    std::array<std::uint64_t, ::mcp::session_reasons> losses_{};
    std::optional<session_failure> failure_;  // the latest
    unsigned rendering_ = 0;                  // cards that are being made of what it lists
    waiters waiting_;
    waiters waiting_for_card_;
    waiters waiting_for_era_;
    ::mcp::timer vouching_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
    std::shared_ptr<::mcp::session_runner> runner_;
};

}  // namespace gateway::sessions
