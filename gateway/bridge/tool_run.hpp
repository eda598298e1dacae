// One call of a tool of an A2A agent, from the request of MCP to its answer: the call of A2A is sent once, then followed, and what happens
// meanwhile is told to the client. On the control loop.
#pragma once

#include "core/clock.hpp"
#include "gateway/bridge/agent_step.hpp"
#include "gateway/threads/side_thread.hpp"
#include "mcp/bridge/agent_reply.hpp"
#include "mcp/bridge/agent_tools.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/server/caller_exchange.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::bridge {

// A request for a tool, read. Texts are raw JSON and empty if absent, but for `tool`.
struct tool_request {
    std::string id;
    std::string tool;
    std::string arguments;
    std::string progress_token;
    std::string state;         // `requestState`
    std::string responses;     // `inputResponses`
    bool takes_tasks = false;  // the client declares the extension
    bool takes_forms = false;  // it answers questions
};

struct tool_terms {
    agent_step::target at;
    std::shared_ptr<const ::mcp::agent_tools> tools;  // not null
    threads::side_thread& long_texts;                 // outlives the run
    core::duration patience{};                        // until a client that does not take tasks gets one that goes on
    std::function<void(std::string request)> tell_later;  // sends a call of A2A whose answer nobody waits for
};

// RFC 3339, UTC.
std::string now_text();

// An id for a message to an agent: a UUID of random bits (RFC 9562, version 4).
std::string new_message_id();

class tool_run {
public:
    static constexpr core::duration heartbeat = std::chrono::seconds{15};
    static constexpr core::duration first_poll = std::chrono::milliseconds{200};
    static constexpr core::duration longest_poll = std::chrono::seconds{2};
    static constexpr unsigned most_failures = 3;  // of questions for the task, one after the other

    // `caller` outlives it.
    tool_run(net::caller_exchange& caller, tool_terms terms, tool_request request);

    // Answers the request. The caller that leaves ends the task, if there is one.
    net::routine<> run();

private:
    // The step under way, or the next one.
    enum class stage : std::uint8_t { call, subscription, polling };
    // How the client is answered.
    enum class ending : std::uint8_t { none, refusal, result, question, task };

    void begin();
    void begin_again(const ::mcp::asked_state& asked);
    void send_order();
    void send(std::string request);
    core::steady_time next_due() const;
    net::routine<> take_texts();
    core::result<> take(const std::string& text);
    void decide();
    void follow();
    void fail(std::string words);
    void fail_for(core::errc why);
    void refuse(std::string_view words);
    std::string send_tool_name() const;
    std::string answer() const;
    bool changes_nothing() const noexcept { return order_.act != ::mcp::agent_act::send; }
    net::routine<core::result<>> tell_progress();
    net::routine<> finish();
    void abandon();

    net::caller_exchange& caller_;
    tool_terms terms_;
    tool_request request_;
    event_answer events_;
    ::mcp::agent_order order_;
    ::mcp::agent_reply reply_;
    std::unique_ptr<agent_step> step_;  // null: none is under way
    ending ending_ = ending::none;      // of the call; none: not known yet
    std::string error_;                 // whole answer, of a refusal
    net::budget_share share_;           // for the reply, then for the answer too
    core::steady_time waits_until_;
    core::steady_time poll_at_ = core::steady_time::max();
    core::steady_time beat_at_;
    core::duration pause_ = first_poll;
    stage stage_ = stage::call;
    bool refused_ = false;  // the step under way, which follows the task, was answered with an error
    unsigned failures_ = 0;
    std::uint64_t progress_ = 0;
};

}  // namespace gateway::bridge
