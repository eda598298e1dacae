// The input that servers ask for during a call. A server of the modern era answers `resultType: "input_required"` (MCP 2026-07-28,
// basic/patterns/mrtr), which becomes requests to a client of the legacy era; the requests of a server of the legacy era become such an
// answer for a client of the modern era. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/calls/client_capabilities.hpp"
#include "mcp/protocol/message.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

inline constexpr std::size_t most_input_rounds = 16;             // of one call
inline constexpr std::size_t most_input_requests = 16;           // in one round
inline constexpr std::size_t longest_request_state = 64 * 1024;  // bytes of its text

struct input_request {
    std::string key;  // in `inputRequests` and `inputResponses`
    std::string method;
    std::string_view params;  // raw; empty: none
};

struct asked_input {
    std::vector<input_request> requests;
    std::string_view state;  // raw string; empty: none
};

// Reads the answer to a call, which has been checked as a message; views into it. Nothing: it asks for nothing. Fails with upstream_protocol: neither
// requests nor state, over a limit, a request without a method, or params that are no object.
core::result<std::optional<asked_input>> read_asked_input(std::string_view answer);

// Whether a client that has declared this answers such a request.
bool may_be_asked(const client_capabilities& declared, const input_request& request);

// The request to the client.
std::string question_text(std::uint64_t id, const input_request& request);

class input_questions {
public:
    static constexpr std::size_t most_at_once = 16;  // of one round; those beyond wait for the next
    static constexpr std::size_t most_rounds = 16;

    // One that may_be_asked() (asked_input.hpp). The views are copied.
    void add(const message& question);

    // The server does not want to know any more; `id`: its raw id.
    void withdraw(std::string_view id);

    bool empty() const noexcept { return all_.empty(); }

    // False: the client has been asked most_rounds times.
    bool may_ask() const noexcept { return rounds_ < most_rounds; }

    // The answer to the client's request; one more round. may_ask() is true, and `state` plain.
    std::string ask(std::string_view raw_id, std::string_view state);

    // The server gets these messages; what they answer is no longer open. `responses`: raw `inputResponses`. What has no answer
    // there stays open.
    std::vector<std::string> take_answers(std::string_view responses);

    // Errors as the answers to all of them.
    std::vector<std::string> refuse();

private:
    struct open_question {
        std::string key;  // of `inputRequests`; never the same twice
        std::string id;   // the server's, raw
        std::string method;
        std::string params;  // raw; empty: none
    };

    std::vector<open_question> all_;
    std::size_t last_ = 0;
    std::size_t rounds_ = 0;
};

// The answer, or the notification of progress, as the request gets it that the call was taken up with: with its raw id or
// token. Both texts are checked messages.
std::string with_id(std::string answer, std::string_view raw_id);
std::string with_progress_token(std::string notification, std::string_view raw_token);

}  // namespace mcp
