// Ids that name the member which they come from: of questions that members ask clients of a bundle, and of events. Two members may both
// ask a question with id 0. They are not sealed: whoever answers is checked by the session in it. Pure; any thread.
#pragma once

#include "mcp/calls/incoming.hpp"
#include "mcp/calls/text_edits.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

struct question_origin {
    std::string member;   // any text without NUL that tells members apart: the id of the agent
    std::string session;  // any text without NUL: the sealed session at the member; empty: known by other means
    std::string id;       // raw, as the member has spelled it

    friend bool operator==(const question_origin&, const question_origin&) = default;
};

// The id for the client: a raw JSON string of visible ASCII, always the same for the same origin.
std::string raw_id_of(const question_origin& origin);

// Inverse of it. Nothing: it is none of raw_id_of(), whatever is wrong.
std::optional<question_origin> origin_of(std::string_view raw);

// A member's message with ids that name the member: of a request its id, and the progressToken in its `_meta`; of
// notifications/cancelled, which ends a question, its `requestId`. All other bytes stay. Nothing: it has none of these.
std::optional<std::string> with_origin(std::string_view message, std::string_view member, std::string_view session);

// A client's message to the member that it is for.
struct returned_message {
    question_origin origin;
    text_edit edit;  // makes it the member's: its place lies in the body
};

// The answer to a question, or progress of one (`notifications/progress`), read from `body`. Nothing: it is about no question of a member.
std::optional<returned_message> returned_to(const incoming& message, std::string_view body);

struct event_origin {
    std::string member;
    std::string event;  // its id at the member

    friend bool operator==(const event_origin&, const event_origin&) = default;
};

// The id of an event for the client: visible ASCII.
std::string event_id_of(const event_origin& origin);

// Inverse of it. Nothing: it is none of event_id_of(), or the id at the member has other characters than ASCII ones that are seen.
std::optional<event_origin> origin_of_event(std::string_view id);

}  // namespace mcp
