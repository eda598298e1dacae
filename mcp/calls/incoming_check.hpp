// Whether what a client posts may go any further: the header fields of MCP against the body (MCP 2025-03-26 to 2025-11-25,
// basic/transports; 2026-07-28, basic/transports/streamable-http and basic/versioning; SEP-2243). Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/protocol/version.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcp {

// A field that may stand once in a header.
struct head_field {
    std::string_view value;  // without the white space around it
    unsigned count = 0;

    void add(std::string_view text) noexcept
    {
        value = text;
        ++count;
    }
};

// The form in which a client takes an answer; `either`: the server chooses.
enum class answer_form : std::uint8_t { either, json, events };

// Which of the two types that answers have a client takes. Without a field `Accept`: both (RFC 9110 section 12.5.1).
class accepted_types {
public:
    // One more field `Accept`. `*/*`, `application/*` and `text/*` count, what has `q=0` does not, and the most specific range decides.
    void add(std::string_view value) noexcept;

    bool json() const noexcept { return json_.taken; }
    bool events() const noexcept { return events_.taken; }
    bool any() const noexcept { return json() || events(); }

    // With any().
    answer_form form() const noexcept
    {
        return json() && events() ? answer_form::either : json() ? answer_form::json : answer_form::events;
    }

private:
    struct type {
        bool taken = true;
        std::uint8_t specific = 0;  // how much the range says that decided; 0: none did
    };

    static void apply(type& to, std::uint8_t specific, bool taken) noexcept;

    bool stated_ = false;
    type json_;
    type events_;
};

// The head of a request to an MCP endpoint.
struct head_fields {
    head_field version;  // MCP-Protocol-Version
    head_field method;   // Mcp-Method
    head_field name;     // Mcp-Name
    head_field session;  // Mcp-Session-Id
    head_field event;    // Last-Event-ID
    accepted_types accept;
};

// The error that the client gets. The status is core::http_status(code), the JSON-RPC error code core::jsonrpc_code(code).
struct refusal {
    core::errc code = core::errc::bad_request;
    std::string data;       // members of the error's `data` as a raw JSON object; empty: none
    std::string_view why;   // a constant, for the log
    std::string said = {};  // the sentence of the error; empty: the one that its code has
};

// Modern: the version in `_meta`, or a version field from 2026-07-28 on. An answer has no `_meta`, and `initialize` is of the
// legacy era whatever its `_meta` says.
era era_of_post(const head_fields& head, const incoming_body& body);

// The legacy version of a request: its field, or else that of its session, or else 2025-03-26.
std::string_view legacy_version(const head_fields& head, std::string_view session_version) noexcept;

// Nothing: it may go on. `body` as read_incoming() has read it from `text`; `session_version`: of the session that the request
// is part of, empty: of none. In the order of checks:
// - either era: not_acceptable (Accept excludes JSON and events, or is about a stream and excludes events); parse_error and invalid_request as read_incoming() found;
//   invalid_request (`initialize` is a notification); version_unsupported with the legacy versions (`initialize` with a version field
//   of the modern era)
// - modern: invalid_request (an answer); invalid_params (`_meta` lacks version or capabilities); header_mismatch (a
//   field is missing, doubled, not decodable or not as in the body; Mcp-Name of a task may be missing, since widely used clients
//   leave it out); version_unsupported with `supported` and `requested`;
//   method_not_found (an unknown method, or one of the legacy era)
// - legacy: bad_request (an unknown version; a version or session id doubled)
// A legacy request without the `name` or `uri` that its method needs passes: target_of() finds none.
std::optional<refusal> check_post(const head_fields& head, const incoming_body& body, std::string_view text);

// Checks GET and DELETE, which have no body: bad_request (a field doubled, an unknown version), not_acceptable (a GET that
// does not take events).
std::optional<refusal> check_get(const head_fields& head);
std::optional<refusal> check_delete(const head_fields& head);

// -32022: `version` was asked for, and what is spoken are the versions of this era.
refusal unsupported(std::string_view version, era spoken);

// The value of a field that repeats one of the body: plain, or as `=?base64?...?=`. Nothing: neither.
std::optional<std::string> header_text(std::string_view value);

// The value for such a field: encoded if it has to be.
std::string header_value(std::string_view text);

}  // namespace mcp
