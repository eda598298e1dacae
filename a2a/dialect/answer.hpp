// Answers and events: what an agent sends, in the caller's dialect. Pure; any thread.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "a2a/dialect/event.hpp"
#include "a2a/dialect/request.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace a2a {

// The answer to a unary call.
struct agent_answer {
    unsigned status = 200;  // of HTTP
    std::string_view body;  // may be empty, and may be anything
};

struct answer_options {
    std::string_view id;  // of the caller's JSON-RPC request, raw; empty: null
    error_profile profile = error_profile::v1_0_1;
    translation_limits limits;
};

// Facts about the answer that was written for the caller.
struct translated_answer {
    unsigned status = 200;  // of HTTP
    bool is_error = false;  // the agent's
    std::size_t lost = 0;   // members that were dropped
    event_facts facts;      // of what sending a message answered, of a task, of an event
    std::string next_page;  // raw token of a page that the caller's dialect has no word for; empty: there is none
};

// Appends the answer to `out`; nothing if it fails. Fails with invalid_agent_response for what is no answer to the call
// or cannot be said, with task_not_found for the first push configuration of a task that has none, and with unsupported_operation for
// the task that a subscription of 1.0 at an agent of 0.3 begins with, if that has ended. An error of the agent's is no failure. An extended card is copied: a2a/card/extended_card.hpp shapes cards.
translation<translated_answer>
translate_answer(const exchange& how, const agent_answer& in, const answer_options& options, std::string& out);

// One event of a stream, without its SSE framing: JSON-RPC carries a whole response in each. As translate_answer();
// `status` is always 200.
translation<translated_answer>
translate_event(const exchange& how, std::string_view data, const answer_options& options, std::string& out);

// Appends the error answer to what was not translated, as `caller` writes errors, and returns its HTTP status.
unsigned append_refusal(std::string& out, dialect caller, const answer_options& options, const refusal& why);

}  // namespace a2a
