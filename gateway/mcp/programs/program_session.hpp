// One client's session with a program of its own (MCP 2025-11-25, basic/lifecycle and basic/transports "stdio"): `initialize` goes
// up as the client sent it. If the program ends, another one takes its place behind the same session. On the thread of one
// loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/programs/held_requests.hpp"
#include "gateway/mcp/programs/program.hpp"
#include "gateway/mcp/programs/program_calls.hpp"
#include "gateway/mcp/programs/single_call.hpp"
#include "gateway/mcp/table/caller_session.hpp"
#include "gateway/mcp/table/restored_state.hpp"
#include "gateway/mcp/table/session_table.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/mcp/table/unasked_messages.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/calls/exchange_book.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::mcp::programs {

class program_session;

// The table that such sessions are in, which has their programs.
class session_owner : public table::session_table {
public:
    virtual std::unique_ptr<program> take_program(const program_session& of) = 0;

    // It may be in a call of its own.
    virtual void retire(std::unique_ptr<program> used, std::string_view agent_id, std::string_view principal) = 0;
    virtual void recovered(const program_session& session) = 0;

    // A program of it has answered `initialize`.
    virtual void opened(const program_session& session) = 0;

    const std::shared_ptr<::mcp::question_tally>& tally() const noexcept { return services().asked; }
    const core::logger& log() const noexcept { return services().log; }

protected:
    explicit session_owner(table::program_services services)
        : table::session_table{std::move(services)}
    {
    }
};

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
    // program is told what is in `once`.
    program_session(
        session_owner& owner,
        table::session_name name,
        const ::mcp::client_message& initialize,
        const std::optional<table::restored_state>& once
    );
    ~program_session() override;

    // The answer to the client's `initialize`, and what comes before it. The session is over if that is an error or does not
    // come, and if nobody waits for it any more.
    std::shared_ptr<table::text_queue> open();

    // As single_call::modern_only, of a session for one call.
    void set_modern_only(decltype(single_call::modern_only) to) { modern_only_ = std::move(to); }

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
    void hand_over(std::string_view refusal);
    bool begin_listening();
    void restore(std::string_view result);
    void restore_more();
    void lose(const core::error& why);
    void end_if_done();

    session_owner& owner_;
    ::mcp::kept_message initialize_;
    bool once_;
    decltype(single_call::modern_only) modern_only_;
    stage stage_ = stage::lost;
    core::steady_time program_began_;
    bool waited_ = false;                       // the program has, for a client, and may have ended meanwhile
    std::weak_ptr<table::text_queue> opening_;  // of the answer to the client's `initialize`
    std::unique_ptr<program_calls> calls_;      // of the program; null: there is none
    std::int64_t first_question_ = 0;           // of the next program; 0: it is the first one
    held_requests held_;                        // until the session is open again
    table::unasked_messages unasked_;
    std::string version_;  // that was agreed on; empty: none yet
    table::restored_state state_;
    std::optional<core::steady_time> stream_asked_;     // when; nullopt: nothing waits for the stream
    std::optional<table::restored_state::place> told_;  // how far the program was told of it; nullopt: it knows
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::programs
