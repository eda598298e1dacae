// JSON-RPC 2.0 for our own methods, to the letter (https://www.jsonrpc.org/specification): a body in, requests and
// ready answers out. Ids are kept as raw JSON text, so that an answer repeats them digit for digit. Also the two error
// bodies of calls that are relayed. HTTP is not known here. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "core/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace core {

struct rpc_limits {
    std::size_t batch = 50;  // requests in one body
    unsigned depth = 64;     // of nested containers in the whole body
};

struct rpc_request {
    std::string method;
    json params;     // an object, an array, or null if absent
    std::string id;  // raw JSON text: `"a"`, `17`, `null`; empty if this is a notification

    // To be carried out, never to be answered, whatever comes of it (section 4.1).
    bool notification() const noexcept { return id.empty(); }
};

// What was sent instead of a request: its answer, complete.
struct rpc_refusal {
    std::string answer;
};

using rpc_item = std::variant<rpc_request, rpc_refusal>;

struct rpc_parsed {
    std::vector<rpc_item> items;  // in the order sent
    bool batch = false;           // the answers go into an array (section 6)
};

// Never fails. Not JSON, an empty batch, or one over the limit: one refusal, no batch. A request whose parameters hold
// what our parser cannot take (1e999, half a surrogate pair, an object beyond json_limits) is refused with
// invalid_params; such a notification is left out. A member given twice in the parameters, at any depth:
// invalid_request.
rpc_parsed parse_rpc(std::string_view body, rpc_limits limits = {});

// {"jsonrpc":"2.0","id":<id>,"result":<result>}. `id` is raw JSON text.
std::string make_result(std::string_view id, const json& result);

// {"jsonrpc":"2.0","id":<id>,"error":{"code","message","data":{"code":<name of the errc>, members of `data`}}}.
// `id` is raw JSON text; empty: null. `data` is an object, or null for none; it cannot replace `code`.
std::string make_error(std::string_view id, errc code, const json& data = nullptr);

// The body that answers what was parsed. `answers` holds make_result() and make_error() texts and those of the
// refusals, empty ones for notifications. Empty if there is nothing to answer: then no JSON-RPC may be sent at all.
std::string join_answers(bool batch, const std::vector<std::string>& answers);

// The error body of a relayed JSON-RPC call: `data` is {"code","agent","retryable"}, without "agent" if that is empty.
// `said`: a message of this case's; empty: that of the code.
std::string jsonrpc_error_body(std::string_view id, errc code, std::string_view agent, std::string_view said = {});

// The error body of any other route: {"error":{"code","message","agent","retryable"}}, "agent" and `said` likewise.
std::string http_error_body(errc code, std::string_view agent, std::string_view said = {});

}  // namespace core
