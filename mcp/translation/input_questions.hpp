// Puts the questions of a server of the legacy era during a call to a client of the modern era: in an answer that says
// `input_required`, to which the client comes back with what it was asked for (MCP 2026-07-28, basic/patterns/mrtr; 2025-11-25,
// client/elicitation, client/sampling, client/roots). Pure; one thread.
#pragma once

#include "mcp/protocol/message.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

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
