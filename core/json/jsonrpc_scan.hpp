// A bounded look at a JSON-RPC 2.0 body that passes through untouched: one pass over the bytes, no document, no copy.
// The whole body is checked as JSON (core/json/json_cursor.hpp), so that nothing goes on that two readers could read
// differently; four members of the top-level object are picked out. scan_answer() finds the result of an answer (section 5). Pure; any
// thread.
#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace core {

struct scan_limits {
    unsigned depth = 64;  // of nested containers; more than 64 counts as 64

    // Some JSON readers (Go's encoding/json) take `Method` for `method`. What is meant for others is therefore refused
    // if it has a member that differs from a routed one in case only; our own methods go by the standard, which
    // ignores it.
    bool refuse_case_twins = true;
};

// Views into the body.
struct jsonrpc_call {
    std::string_view method;      // raw text between the quotes
    bool method_escaped = false;  // `method` has escapes: its name is unescape_json(method), as for `message\/send`
    std::string_view id;          // raw JSON text: `"a"`, `17`, `null`; empty: a notification
    std::string_view params;      // raw JSON text of an object or array; empty: absent
};

// The result of a scan. With a problem, only `call.id` may be used, for the error answer: it is set if the body has one
// id of an allowed type, and always empty after parse_error.
struct scan_outcome {
    jsonrpc_call call;
    std::optional<errc> problem;  // parse_error: not JSON, or too deep; invalid_request: not one JSON-RPC 2.0 request
    std::string_view why;         // a constant, for the log; `batch` if the body is an array
};

// One request or notification (JSON-RPC 2.0 section 4). Refused beyond the standard's words: jsonrpc, method, id or
// params given twice, also in escaped spelling; an empty method.
scan_outcome scan_jsonrpc(std::string_view body, scan_limits limits = {});

// Scans without vector instructions, as machines without SSE2 do; here for comparison.
scan_outcome scan_jsonrpc_bytewise(std::string_view body, scan_limits limits = {});

struct json_elements {
    std::vector<std::string_view> raw;  // the first elements, at most as many as asked for; views into the text
    std::size_t count = 0;              // of all elements
};

// The elements of a top-level array as raw text. parse_error: not JSON, too deep; invalid_request: not an array.
result<json_elements> scan_elements(std::string_view text, std::size_t keep, scan_limits limits = {});

// How many members the objects in `text` have, at any depth. parse_error: not JSON, or too deep.
result<std::size_t> count_members(std::string_view text, scan_limits limits = {});

// In lower case, with the one letter beyond ASCII that readers which ignore case take for one of ours: U+017F is an s.
std::string folded(std::string_view name);

// Decodes the text between the quotes of a JSON string to UTF-8. `raw` must have passed a scan. Half a
// surrogate pair becomes U+FFFD.
std::string unescape_json(std::string_view raw);

enum class answer_kind : std::uint8_t {
    result,  // exactly one `result`, and no `error` but null
    error,   // an `error`, and no `result` but null
    call,    // a request or a notification: neither of the two, and a `method` that is a string
};

// An answer whose result is to be replaced, while everything around it stays the text that it was. Views into the text. Together they are
// all of it; for anything but a result, `before` is.
struct jsonrpc_answer {
    answer_kind kind = answer_kind::error;
    std::string_view before;
    std::string_view result;  // raw JSON
    std::string_view after;
};

// Fails with parse_error (not JSON, nested deeper than `depth`, at most 64) or invalid_request: JSON that two readers
// could take for different answers, or for none. That is: no object; `result` or `error` twice, also in escaped
// spelling or in another case; both, or neither of them and no `method`.
result<jsonrpc_answer> scan_answer(std::string_view text, unsigned depth = 64);

}  // namespace core
