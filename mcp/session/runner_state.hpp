// What the files runner*.cpp share: the runner itself, which outlives its owner for what is posted. Internal to
// mcp.
#pragma once

#include "mcp/protocol/refused_message.hpp"
#include "mcp/session/runner.hpp"
#include "mcp/session/timer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcp {

// What a request of the gateway was for.
enum class purpose : std::uint8_t { handshake, ping, list, listen, look };

constexpr event_kind event_of(stream_news what) noexcept
{
    switch (what) {
        case stream_news::stands:
            return event_kind::stream_up;
        case stream_news::none:
            return event_kind::stream_none;
        case stream_news::gone:
            break;
    }
    return event_kind::stream_down;
}

class runner::running : public std::enable_shared_from_this<running> {
public:
    running(
        net::loop& on,
        runner_settings settings,
        transport_factory make,
        runner_observer& observer,
        const core::logger& log,
        std::string name
    );
    void happened(session_event event);
    void tell(event_kind kind);
    void abandon();
    void set_walk(core::duration interval);
    const session& state() const noexcept { return session_; }
    const std::shared_ptr<const server_lists>& latest() const noexcept { return latest_; }
    const runner_counts& counts() const noexcept { return counts_; }
    std::optional<core::steady_time> ready_since() const noexcept { return ready_since_; }
    std::optional<core::steady_time> next_attempt() const noexcept
    {
        const bool waits = session_.state() == session_state::backoff || session_.state() == session_state::failed;
        const auto& backoff = timers_[static_cast<std::size_t>(timer_name::backoff)];
        return waits && backoff ? std::optional{backoff->expiry()} : std::nullopt;
    }
    const std::string& detail() const noexcept { return detail_; }
    bool needs_operator() const noexcept { return needs_operator_; }
    bool fell_back() const noexcept { return fell_back_; }
    std::size_t queued() const noexcept { return link_ == nullptr ? 0 : link_->wire->queued(); }
    void look(std::function<void(const look_result&)> then);
    void end_look(const look_result& found);

private:
    // One connection, or the probe of one. What it is told may end it: it goes on only with what it has at hand.
    class link final : public transport_observer {
    public:
        link(running& owner, bool probe, std::uint64_t number)
            : owner_{owner},
              probe_{probe},
              number_{number}
        {
        }

        void connected() override
        {
            connected_ = true;
            probe_ ? owner_.ask_for_era(*this) : owner_.tell_of(event_kind::connected, number_);
        }
        void received(std::string_view text) override { owner_.take(*this, text); }
        void refused(std::string_view beginning, std::size_t limit) override
        {
            owner_.take_too_long(*this, beginning, limit);
        }
        void failed(std::uint64_t request, core::error why, std::optional<era> says) override
        {
            owner_.take_failure(*this, request, why, says);
        }
        void session_lost() override { owner_.tell_of_session(event_kind::session_lost); }
        void stream_changed(stream_news what) override { owner_.tell_of_session(event_of(what)); }
        void lost(core::error why) override { owner_.take_loss(*this, why); }
        void closed() override { owner_.take_end(*this); }

        bool probe() const noexcept { return probe_; }

        // It is the session's from now on.
        void keep()
        {
            probe_ = false;
            wire->set_trial(false);
        }
        bool was_connected() const noexcept { return connected_; }
        std::uint64_t number() const noexcept { return number_; }

        std::unique_ptr<transport> wire;
        std::uint64_t question = 0;  // of a probe; 0: it was not asked
        core::steady_time asked_at{};
        std::string discovered;  // the result of `server/discover` in the modern era
        bool spoke_nonsense = false;
        bool spoke_too_long = false;
        bool refused_ours = false;  // what was no request

    private:
        running& owner_;
        bool probe_;
        std::uint64_t number_;
        bool connected_ = false;
    };

    // What waits for an answer.
    struct asked {
        purpose what;
        std::optional<timer> deadline;
    };

    // What a server said that is no message, or no answer that can be taken.
    struct refused_text {
        std::vector<addressee> whom;  // not empty
        core::error why;
        std::size_t size;
        std::optional<std::size_t> limit;  // it was over this one
        bool first;                        // of its kind on this connection
    };

    // What is ended in order, and until when.
    struct leaving {
        std::unique_ptr<link> which;
        timer deadline;
    };

    // A walk of which nothing is kept.
    struct side_walk {
        discovery_walk walk;
        std::vector<std::function<void(const look_result&)>> waiting;
    };

    // A server's own words, as many as the log takes, without what it was given to keep.
    std::string shown(std::string_view words) const
    {
        constexpr std::size_t longest = 700;
        return settings_.secrets.apply(words, longest);
    }

    void tell_of(event_kind kind, std::uint64_t connection);
    void tell_of_session(event_kind kind);
    void retire(std::unique_ptr<link> which);
    void end_in_order(std::unique_ptr<link> which, bool end_session);
    void has_left(const link* which);
    void carry_out(const session_action& what);
    void open(std::unique_ptr<link>& into, bool probe);
    void open_in_turn(link& which);
    void arm_owed();
    void give_turn_back();
    void count_connection(bool another);
    void keep_probe(bool end_session);
    void drop_connection();
    void close(bool end_session);
    void arm(timer_name which, core::duration after);
    void disarm(timer_name which);
    void report(const session_action& what);
    void describe(const session_action& what, bool trouble);
    void say(session_reason about, std::string words);
    std::uint64_t begin(purpose what);
    void ask(purpose what, const list_question& question);
    void give_up(std::uint64_t id, const std::string& method);
    void send(outgoing what);
    void forget_requests();
    void drop_probe();
    void ask_for_era(link& which);
    void tell_era(const link& which, std::optional<era> verdict, bool stands);
    void shake_hands(const session_action& what);
    void open_stream();
    void begin_walk(bool changed_only);
    server_lists base_of_walk(bool changed_only) const;
    void ask_next();
    discovery_walk walk_of(list_set wanted) const;
    void end_walk();
    void note_left_out(left_out_items what) const;
    void note_walk_trouble(session_reason about, std::string_view why);
    void walk_failed(const core::error& why);
    void cancel_walk();
    void cancel(std::uint64_t id);
    void cancel_requests(purpose what);
    void cancel_ping();
    void tell_walked(const core::result<walk_outcome>& how);
    void ask_next_look();
    void publish();
    void take(link& from, std::string_view text);
    void take_one(link& from, std::string_view text);
    void take_too_long(link& from, std::string_view beginning, std::size_t limit);
    std::optional<std::uint64_t> request_of(const link& from, const addressee& whom) const;
    void refuse(link& from, const refused_text& what);
    void take_answer(std::optional<std::uint64_t> id, const message& answer);
    void take_handshake(std::string_view result);
    void refuse_handshake(std::string why);
    void note_not_taken(link& from, const core::error& why);
    void take_failure(link& from, std::uint64_t request, const core::error& why, std::optional<era> says);
    void take_late_start();
    void take_loss(link& from, const core::error& why);
    void take_end(link& from);
    net::loop& loop_;
    runner_settings settings_;
    transport_factory make_;
    runner_observer* observer_;
    const core::logger& log_;
    std::string name_;
    session session_;
    std::deque<session_event> waiting_;
    bool busy_ = false;
    std::mt19937_64 random_{std::random_device{}()};
    std::array<std::optional<timer>, timer_names> timers_;
    std::array<std::uint64_t, timer_names> armings_{};
    std::unique_ptr<link> probe_;
    std::unique_ptr<link> link_;
    std::unique_ptr<link> closing_;
    std::list<leaving> leaving_;               // what another connection has taken the place of
    std::unique_ptr<start_turns::turn> turn_;  // of turn_of_
    const link* turn_of_ = nullptr;
    std::array<std::optional<core::duration>, timer_names> after_turn_;  // what is armed once it has come
    std::optional<session_action> last_report_;                          // until they have gone
    dialect dialect_;
    server_facts facts_;
    in_flight requests_;
    std::map<std::uint64_t, asked> asked_;
    std::uint64_t last_ping_ = 0;
    change_tracker tracker_;
    std::optional<discovery_walk> walk_;
    std::optional<side_walk> look_;
    bool complete_ = true;  // the latest walk
    server_lists base_;
    server_lists found_;
    std::shared_ptr<const server_lists> latest_;
    std::optional<core::steady_time> ready_since_;
    core::steady_time handshake_began_{};
    std::array<std::string, session_reasons> words_;  // of each trouble that there is or is about to be
    std::string detail_;                              // of the one that is shown
    session_reason shown_ = session_reason::none;
    bool needs_operator_ = false;
    std::string refused_;     // what `initialize` beside a probe failed with
    bool fell_back_ = false;  // the connection of the latest handshake
    runner_counts counts_;
    std::uint64_t counted_ = 0;  // the connection of it that was counted last
};

}  // namespace mcp
