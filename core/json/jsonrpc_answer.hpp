// A bounded look at an answer of JSON-RPC 2.0 (section 5) whose result is to be replaced: where the result stands, so that
// everything around it stays the text that it was. One pass, no document. Pure; any thread.
#pragma once

#include "core/error.hpp"

#include <cstdint>
#include <string_view>

namespace core {

enum class answer_kind : std::uint8_t {
    result,  // exactly one `result`, and no `error` but null
    error,   // an `error`, and no `result` but null
    call,    // a request or a notification: neither of the two, and a `method` that is a string
};

// Views into the text. Together they are all of it; for anything but a result, `before` is.
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
