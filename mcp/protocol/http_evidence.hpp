// Facts that a server's answers reveal: its era, also that it is another one by now, and that it has forgotten a session.
// Pure; any thread.
#pragma once

#include "mcp/protocol/message.hpp"
#include "mcp/protocol/version.hpp"

#include <optional>
#include <string_view>

namespace mcp {

// Judges the answer to `server/discover` on a connection that carried nothing before (2026-07-28, basic/versioning): the
// modern era if it is a result that names a version of it or an error that only that era has; legacy if it is anything
// else, also a result or error that names versions of ours in the legacy era only.
era era_of_answer(const message& answer);

// Whether an answer to `initialize` is what a server says that does not speak the legacy era: an error of the modern one, or
// that it knows no such method (MCP 2026-07-28, basic/versioning).
bool says_modern_only(std::string_view answer);

// Judges it over HTTP; `answer` is null if the body was no message. Nothing: 401, 403, 408, 425, 429, 3xx and 5xx say nothing
// about the era.
std::optional<era> era_of_http_answer(unsigned status, const message* answer);

// Judges the answer to a request in a session that speaks `spoken`: the other era, if only a server of that one answers so. To the legacy
// era an error that only the modern one has; to the modern one an error that speaks of sessions, of `initialize` or of the protocol's
// version with another code than -32022. Nothing: a server of the same era may answer so.
std::optional<era> other_era(const message& answer, era spoken);

// Whether the answer to a request that named a session says that there is none: 404 but for an error about the method or
// its parameters, or 400 with an error that speaks of sessions, as widely used servers have it.
bool says_session_lost(unsigned status, const message* answer) noexcept;

}  // namespace mcp
