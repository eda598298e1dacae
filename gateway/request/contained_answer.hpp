// The 403 of a request that has met a containment, and the end of a stream that has, in the words of its caller. Pure.
#pragma once

#include "core/error.hpp"
#include "gateway/responses/answer.hpp"

#include <string>
#include <string_view>

namespace gateway::request {

struct error_terms;
struct met_containment;
struct request_context;

// The failure that is noted then. Of a request that has met one, as in all of these.
core::error contained_failure(const request_context& request);

// JSON-RPC if the id is known or its format has no other errors, else as the format of the request is. It says the notice, or the sentence of
// the code, and with `until` the end of the containment, if there is one. No field invites to come again, or to log in: the session of an MCP
// client outlives it.
responses::answer contained_answer(const request_context& request);
responses::answer contained_answer(
    const error_terms& errors,
    const met_containment& met,
    std::string_view agent
);  // empty: none is named

// The last event of a stream, with its empty line, which says the same. `listens`: a comment, in a stream of what a server says unasked.
std::string contained_event(const request_context& request, bool listens);

}  // namespace gateway::request
