// Sees an answer pass and notes the tasks that it shows: whose they are, and the states that they come to; and lets the scan of a tool's
// result see it. It changes nothing of the answer and holds nothing back. One thread, that of the caller's loop.
#pragma once

#include "a2a/dialect/task_scan.hpp"
#include "gateway/relay/open_streams.hpp"
#include "gateway/relay/relay_call.hpp"
#include "net/http1/head.hpp"
#include "net/server/caller_exchange.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace gateway::relay {

class task_watch final : private ::a2a::task_sink {
public:
    // All outlive the watch.
    task_watch(net::caller_exchange& caller, const relay_settings& settings, const relay_call& call) noexcept
        : caller_{caller},
          settings_{settings},
          call_{call},
          tool_{call.hooks.tool}
    {
    }

    // The head of the agent's answer, and what becomes of its body. One that failed, or that comes in a content coding, shows nothing.
    void begin(const net::http1::response_head& head, body_care care);

    // The body of an answer that is edited has this length.
    void set_length(std::uint64_t length) noexcept { whole_ = events_ ? 0 : length; }

    // Whether the body is to be seen.
    bool reads() const noexcept { return reads_ || tool_ != nullptr; }

    // The next piece of the body. While it reads().
    void see(std::string_view piece);

    // A message of an answer whose body is no text, as JSON.
    void see_message(std::string_view json);

private:
    void on_task(std::string_view id, std::optional<::a2a::task_state> state) override;
    void on_context(std::string_view id) override;
    void on_result() override;

    net::caller_exchange& caller_;
    const relay_settings& settings_;
    const relay_call& call_;
    ::mcp::tool_scan* tool_;  // null: it is over, or there is none
    bool reads_ = false;
    bool events_ = false;
    bool claims_ = false;                     // the first success makes a context the caller's
    std::uint64_t whole_ = 0;                 // the size of a body; 0: nobody knows
    std::unique_ptr<::a2a::task_scan> scan_;  // once a piece has come that may show something; most streams do without
};

}  // namespace gateway::relay
