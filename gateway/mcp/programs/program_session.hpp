// One client's session with a program of its own (MCP 2025-11-25, basic/lifecycle and basic/transports "stdio"): `initialize` goes
// up as the client sent it. If the program ends, another one takes its place behind the same session. On the thread of one
// loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/programs/program.hpp"
#include "gateway/mcp/programs/program_calls.hpp"
#include "gateway/mcp/table/restored_state.hpp"
#include "gateway/mcp/table/session_table.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/calls/exchange_book.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::mcp::programs {

// Serves a client in another way whose request is left without an answer because the program has refused `initialize`: that is
// the client's own `initialize`, or the only call of the session. False: it does not, and nothing has gone to `reader`.
using other_way = std::function<bool(
    const table::session_name& session,
    std::string_view refusal,
    const ::mcp::client_message& request,
    const std::shared_ptr<table::text_queue>& reader
)>;

// A call of a client without a session, and the terms of the session that it gets.
struct single_call {
    ::mcp::client_message request;
    std::string_view version;            // of the legacy era
    std::string_view capabilities = {};  // that its session declares; raw JSON object; empty: none
    std::string_view client = {
    };  // raw, the name that the server sees; unless it has a name and a version, that is Cardea's
    std::string_view level = {};  // raw, of the log messages that it wants; empty: the server's own
    other_way other = {};         // it may be empty
};

// The request that a client would begin such a session with.
::mcp::kept_message initialize_of(const single_call& call);

// The state that the server is told between `initialize` and the call.
table::restored_state state_of(const single_call& call);

// Requests of one session that wait for its next program. That a reader has left cancels nothing.
class held_requests {
public:
    static constexpr std::size_t most = 64;
    static constexpr std::size_t most_bytes = 16 * 1024 * 1024;  // of all; the only one may be longer

    struct held {
        ::mcp::kept_message message;
        std::weak_ptr<table::text_queue> reader;
    };

    // Fails with overloaded.
    core::result<> push(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader);

    // The request of a client's `notifications/cancelled` is over. False: it is not here.
    bool cancel(const ::mcp::client_message& notification);

    // All of them, in order, which leave.
    std::list<held> take();
    void fail(const core::error& why);

    // Those leave whose readers are served in the other way.
    void hand_over(const other_way& to, const table::session_name& session, std::string_view refusal);

    bool empty() const noexcept { return all_.empty(); }

private:
    std::list<held> all_;
    std::size_t bytes_ = 0;
};

class program_sessions;

class program_session final : public table::caller_session, private program_observer {
public:
    static constexpr std::size_t most_calls = 64;
    static constexpr std::size_t most_own_calls = 8;  // beside them, that tell the next program what it has to know
    static constexpr std::size_t most_initialize = 8 * 1024;  // bytes of a client's `initialize`, which is kept

    // A program that has not lived so long is not replaced before the client says something.
    static constexpr core::duration least_life{10'000};

    // So long the stream of what a server says unasked is waited for.
    static constexpr core::duration longest_stream_opening{1'000};

    // `initialize` is a client's, or one that the gateway made: then the session ends with its only call, before which the
    // program is told what is in `once`. `other` may be empty.
    program_session(
        program_sessions& owner,
        table::session_name name,
        const ::mcp::client_message& initialize,
        const std::optional<table::restored_state>& once,
        other_way other
    );
    ~program_session() override;

    // The answer to the client's `initialize`, and what comes before it. The session is over if that is an error or does not
    // come, and if nobody waits for it any more.
    std::shared_ptr<table::text_queue> open();

    // Fails with overloaded (64 calls are in flight, 1,000 resources are subscribed to, too much waits for the next program, or the
    // program does not read), body_too_large and upstream_reset. What comes fails with upstream_reset (the program ended during
    // the call), upstream_timeout, upstream_protocol and message_too_large (the answer was malformed or too long), with what the
    // next program failed to start with (session_crashed, session_misconfigured, upstream_protocol), with session_limit (it was
    // held for timeouts.initialize), and with the error that end() got.
    core::result<std::shared_ptr<table::text_queue>> request(const ::mcp::client_message& request) override;

    // Fails with overloaded and body_too_large.
    core::result<> tell(const ::mcp::client_message& message) override;

    std::shared_ptr<table::text_queue> listen() override { return unasked_.listen(); }
    void sweep(core::steady_time now) override;
    bool busy() const override { return !held_.empty() || (calls_ != nullptr && calls_->any()); }
    bool listened_to() const noexcept override { return unasked_.listened_to(); }
    bool subscribes() const noexcept override { return state_.subscribes(); }

private:
    // `opens`: the answer to the client's own `initialize` has not come; `opens_again`: to that of the gateway; `lost`: there is no
    // program.
    enum class stage : unsigned char { opens, opens_again, open, lost, over };

    void listening() override;
    void said(std::string_view text) override { came_each(::mcp::messages_in(text, version_)); }
    void said_long(const ::mcp::read_text& what) override { came_each(what.parts(version_)); }
    void said_too_much(std::string_view beginning, std::size_t limit) override;
    void failed(::mcp::call_number call, core::error why) override;
    void ended(core::error why) override;
    void close(const core::error& error) override;

    void begin_program(stage opening, const std::shared_ptr<table::text_queue>& reader);
    void end_if_left(table::text_queue& reader);
    bool begin_another();
    core::result<> put(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader);
    template <class Messages>
    void came_each(const Messages& messages);
    void came(std::optional<::mcp::delivery> told);
    void come_unasked(std::string text, bool question);
    void opened(const ::mcp::delivery& told);
    void
    not_opened(const ::mcp::delivery& told, const core::error& why, const std::shared_ptr<table::text_queue>& reader);
    bool begin_listening();
    void restore(std::string_view result);
    void restore_more();
    void lose(const core::error& why);
    void end_if_done();

    program_sessions& owner_;
    ::mcp::kept_message initialize_;
    bool once_;
    other_way other_;
    stage stage_ = stage::lost;
    core::steady_time program_began_;
    bool waited_ = false;                       // the program has, for a client, and may have ended meanwhile
    std::weak_ptr<table::text_queue> opening_;  // of the answer to the client's `initialize`
    std::unique_ptr<program_calls> calls_;      // of the program; null: there is none
    std::int64_t first_question_ = 0;           // of the next program; 0: it is the first one
    held_requests held_;                        // until the session is open again
    table::server_notifications unasked_;
    std::string version_;  // that was agreed on; empty: none yet
    table::restored_state state_;
    std::optional<core::steady_time> stream_asked_;     // when; nullopt: nothing waits for the stream
    std::optional<table::restored_state::place> told_;  // how far the program was told of it; nullopt: it knows
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::programs
