// What a request to send a message says: the message, and how to send it (types.ts of 0.3.0 `MessageSendConfiguration`,
// a2a.proto of 0.3.0 and 1.0.1 `SendMessageConfiguration`). Internal to a2a/dialect/.
#pragma once

#include "a2a/dialect/request_fields.hpp"
#include "a2a/dialect/walk.hpp"

namespace a2a {

// Writes `message`, `configuration` and `metadata`. `no_history` becomes true if the caller asked for a history of
// length 0, and the target cannot.
//
// 0.3 says `blocking` and 1.0 the opposite, `returnImmediately`. Whoever says neither waits. 0.3 is always told,
// because its servers disagree on what silence means.
bool write_send_members(walk& w, object_writer& to, request_fields& fields, bool& no_history);

// Whether a history of this length asks for none at all. In ProtoJSON of 0.3 it means any length.
bool asks_no_history(std::string_view digits, body_shape shape) noexcept;

}  // namespace a2a
