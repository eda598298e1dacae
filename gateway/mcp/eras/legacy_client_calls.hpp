// The calls of one client of the legacy era on a server that speaks only the modern one: each goes up with the client's terms in
// it, and what the server wants to know first becomes requests to the client (MCP 2026-07-28, basic/patterns/mrtr). On the
// thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "mcp/calls/client_capabilities.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/translation/input_questions.hpp"
#include "mcp/translation/modern_messages.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/loop/types.hpp"

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

namespace gateway::mcp::eras {

// Puts a request of the modern era to the server, as modern_program::request().
using modern_upstream =
    std::function<core::result<std::shared_ptr<table::text_queue>>(const ::mcp::client_message& request)>;

class legacy_client_calls {
public:
    static constexpr std::size_t most_calls = 64;
    static constexpr std::size_t most_kept = 16 * 1024 * 1024;  // bytes of calls that may go up again, and their input
    static constexpr core::duration longest = std::chrono::hours{1};  // of one call with all its rounds

    struct services {
        std::function<core::steady_time()> clock;
        modern_upstream ask;
        bool once = false;  // a client that leaves cancels its call: it could not come back to it
        std::size_t max_message = 8 * 1024 * 1024;  // bytes of a call that goes up again, with what it is given
        net::shared_budget* kept = nullptr;         // bytes, of what is kept for all sessions; null: without limit
        std::function<void()> idle = {};            // told that the last call is over; may be empty
    };

    // `terms` outlive it.
    legacy_client_calls(services with, const ::mcp::client_terms& terms);
    legacy_client_calls(const legacy_client_calls&) = delete;
    legacy_client_calls& operator=(const legacy_client_calls&) = delete;

    // The messages of the call go to `reader`, which may leave: that cancels nothing. Fails with overloaded and as the server's side does:
    // nothing was sent.
    core::result<> begin(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader);

    // A client's `notifications/cancelled`.
    void cancel(const ::mcp::client_message& notification);

    // A client's answer to what it was asked; one that nobody waits for is dropped. The call fails with body_too_large if it would
    // be over max_message with all its answers, and with overloaded if no more may be kept.
    void take_answer(const ::mcp::client_message& answer);

    // A client that was asked and is silent for `silence` loses its call (upstream_timeout), and so does a call that takes longer
    // than any may, unless it stays open.
    void sweep(core::duration silence);

    // All of them.
    void fail(const core::error& why);

    bool any() const noexcept { return !calls_.empty(); }

private:
    struct question {
        std::uint64_t id;
        std::string key;
        std::string result;  // raw; empty: not answered yet
    };

    struct live_call {
        std::string id;                              // the client's, raw
        std::optional<::mcp::kept_message> request;  // nothing: it cannot go up again
        std::weak_ptr<table::text_queue> reader;
        std::shared_ptr<table::text_queue> upstream;  // null: the client is being asked
        core::steady_time began;
        core::steady_time heard;  // from the client, of what it is asked
        std::size_t rounds = 0;
        bool stays_open = false;  // it may take longer than any other
        std::vector<question> questions;
        std::string state;
        std::vector<std::pair<std::string, std::string>> fields;  // further ones of its header
        std::shared_ptr<const void> held;                         // by one of these
        std::size_t kept = 0;                                     // bytes of this that count in kept_
        std::size_t input = 0;                                    // those of questions, answers and state among them
    };
    using live_calls = std::map<std::uint64_t, live_call>;

    void keep(live_call& call, const ::mcp::client_message& request);
    core::result<> keep_input(live_call& call, std::size_t bytes);
    void forget_input(live_call& call);
    void watch(std::uint64_t number, table::text_queue& upstream);
    void look(std::uint64_t number);
    void left(std::uint64_t number, table::text_queue& reader);
    void take_result(live_calls::iterator call, std::string text);
    core::result<> ask_client(live_calls::iterator call, const ::mcp::asked_input& asked);
    core::result<> go_on(live_calls::iterator call);
    void fail(live_calls::iterator call, const core::error& why);
    void erase(live_calls::iterator call);

    services with_;
    const ::mcp::client_terms& terms_;
    live_calls calls_;
    net::budget_share share_;
    std::size_t kept_ = 0;
    std::uint64_t last_call_ = 0;
    std::uint64_t last_question_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::eras
