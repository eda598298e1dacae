// JSON-RPC 2.0 for our own methods, to the letter (https://www.jsonrpc.org/specification): a body in, requests and
// ready answers out. Ids are kept as raw JSON text, so that an answer repeats them digit for digit. Also the two error
// bodies of calls that are relayed. HTTP is not known here. Pure; any thread.
#pragma once

#include "core/error.hpp"
#include "core/json/json.hpp"

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

// The complete answer to something that is not a request.
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

// Takes a result that is JSON text already.
std::string make_result_of_text(std::string_view id, std::string_view result);

// Ends before the result, whose JSON text follows, and then `}`.
std::string begin_result(std::string_view id);

// {"jsonrpc":"2.0","id":<id>,"error":{"code","message","data":{"code":<name of the errc>, members of `data`}}}.
// `id` is raw JSON text; empty: null. `data` is an object, or null for none; it cannot replace `code`.
std::string make_error(std::string_view id, errc code, const json& data = nullptr);

// The body that answers a batch, one answer after the other.
class batch_answer {
public:
    // The size of the body with one more answer of `bytes`.
    std::size_t size_with(std::size_t bytes) const noexcept { return text_.size() + bytes + 2; }

    // The memory that it takes.
    std::size_t capacity() const noexcept { return text_.capacity(); }
    void reserve(std::size_t bytes);

    // A make_result() or make_error() text, or that of a refusal, which may be in pieces: the answer goes on in the rest of it.
    void begin(std::string_view answer);
    void go_on(std::string_view rest) { text_ += rest; }

    // Empty if there is nothing to answer: then no JSON-RPC may be sent at all.
    std::string take();

private:
    std::string text_;
};

// The error body of a relayed JSON-RPC call: `data` is {"code","agent","retryable"}, without "agent" if that is empty.
// `said`: a message of this case's; empty: that of the code.
std::string jsonrpc_error_body(std::string_view id, errc code, std::string_view agent, std::string_view said = {});

// The error body of any other route: {"error":{"code","message","agent","retryable"}}, "agent" and `said` as above.
std::string http_error_body(errc code, std::string_view agent, std::string_view said = {});

}  // namespace core
