// A task of A2A that is one call of a tool of an MCP server: the inner call, the questions in it, and who hears how it goes. Its parts of
// JSON are made by mcp/bridge/a2a_task.hpp. On the control loop.
#pragma once

#include "a2a/dialect/enums.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/threads/side_thread.hpp"
#include "mcp/bridge/a2a_task.hpp"
#include "mcp/bridge/tool_call.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/signal.hpp"
#include "net/sse/sse_events.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::bridge {

class task_table;

// An answer under way that waits for what becomes of a task.
struct task_listener {
    net::signal& wake;                                        // of the routine that waits
    bool takes_events = false;                                // else only the state matters
    std::deque<std::shared_ptr<const std::string>> events{};  // `StreamResponse`, not sent yet
};

class called_task final : public std::enable_shared_from_this<called_task>,
                          private net::timed,
                          private net::exchange_observer {
public:
    static constexpr core::duration progress_interval{100};  // between two updates about progress
    static constexpr core::duration question_patience = std::chrono::minutes{5};
    static constexpr core::duration longest_farewell =
        std::chrono::seconds{5};                                       // of a server that goes on behind its result
    static constexpr core::duration kept_for = std::chrono::hours{1};  // after its end
    static constexpr std::size_t most_events = 64;  // that wait for one listener; progress is left out beyond

    // Everything outlives the task.
    struct means {
        net::loop& control;
        model::inner_calls& calls;
        threads::side_thread& long_texts;
        const core::logger& log;
        task_table& table;
    };

    struct identity {
        std::string id;
        std::string context;
        std::string agent;
        std::string owner;  // owner_of() its caller
    };

    called_task(
        const means& with,
        identity who,
        ::mcp::tool_call call,
        model::inner_caller_pointer caller,
        std::uint64_t largest_message
    );
    ~called_task() override;
    called_task(const called_task&) = delete;
    called_task& operator=(const called_task&) = delete;

    // Once the table has it.
    void begin();

    // The next message of the task, which waits for one. Fails with invalid_params: it does not answer the question.
    ::a2a::translation<> answer(const ::mcp::a2a_message& said, model::inner_caller_pointer caller);

    // Not after its end.
    void cancel();
    void fail(std::string_view why, std::string_view words);

    const identity& who() const noexcept { return who_; }
    ::a2a::task_state state() const noexcept { return state_; }
    bool has_ended() const noexcept { return ::a2a::has_ended(state_); }
    // Nothing more comes before the caller does something.
    bool is_settled() const noexcept { return ::a2a::is_final(state_); }
    core::wall_time changed() const noexcept { return changed_; }
    std::uint64_t order() const noexcept { return order_; }  // of its latest change, among those of all tasks
    ::mcp::a2a_task_view view() const noexcept;
    std::size_t bytes() const noexcept;
    // Once it has ended: when it is forgotten.
    using net::timed::due;

    void join(task_listener& listener) { listeners_.push_back(&listener); }
    void leave(task_listener& listener) { std::erase(listeners_, &listener); }

private:
    void send(const ::mcp::given_input& input);
    void headed(const net::exchange_head& head) override;
    void took(std::string_view piece) override;
    void ended(core::result<> how) override;
    void on_due() override;
    void take_text(std::string text);
    void read_elsewhere(std::string text);
    void act(::mcp::call_event event);
    void note_progress(std::string words);
    void tell_progress();
    void ask(::mcp::call_event event);
    bool put_question();
    void finish(::mcp::tool_outcome outcome);
    void end(::a2a::task_state state, std::string parts, std::string_view why);
    bool set_state(::a2a::task_state state, std::string parts);
    void tell(std::string (*event)(const ::mcp::a2a_task_view& task));
    bool is_running() const noexcept { return !answered_ && !has_ended(); }

    means with_;
    identity who_;
    std::uint64_t largest_;
    ::a2a::task_state state_ = ::a2a::task_state::working;
    core::wall_time changed_;
    std::uint64_t order_ = 0;
    std::uint64_t messages_ = 0;
    std::string timestamp_;
    std::string message_id_;
    std::string parts_;
    std::string artifact_;
    std::vector<task_listener*> listeners_;

    // Until its end.
    ::mcp::tool_call call_{};
    model::inner_caller_pointer caller_;
    std::vector<::mcp::call_event::question> questions_;  // the first has been asked
    std::string responses_;                               // to those before, raw members with commas behind
    std::string server_state_;                            // raw `requestState`
    std::size_t rounds_ = 0;
    std::string progress_;  // not told yet
    core::steady_time told_{};

    // Of the inner call.
    net::sse_reader events_;
    std::string body_;
    unsigned status_ = 0;
    bool streams_ = false;
    bool answered_ = false;    // the last answer, or a question, has come
    std::size_t reading_ = 0;  // bytes of answers that are read elsewhere
    std::unique_ptr<net::exchange> exchange_;
};

// The state as A2A 0.3 spells it.
std::string_view name_of(::a2a::task_state state) noexcept;

// Whose tasks a caller's are; the same for its later requests.
std::string owner_of(const model::inner_caller& caller);

}  // namespace gateway::bridge
