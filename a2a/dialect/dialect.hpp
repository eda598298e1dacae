// Translation of A2A between its dialects, so that any caller reaches any agent. A dialect is a generation and a
// binding: JSON-RPC (0.2.5 and later write that of 0.3), HTTP+JSON or gRPC, of 0.3 or 1.0.
//
// The bodies of these six come in three shapes. 0.3 JSON-RPC writes the TypeScript types of 0.3.0, with `kind` in
// every object; 0.3 HTTP+JSON writes the ProtoJSON of its own protocol buffers, with `content` for parts; 1.0 writes
// one ProtoJSON in both bindings. Messages of gRPC are translated as their ProtoJSON (a2a/protobuf/), so that gRPC has
// the shape of HTTP+JSON in each generation. Each kind of object (part, message, task, …) has one file, with one reader that knows
// the names of all three shapes and one writer for each shape: three of each instead of six translations. A value of
// the same shape is copied.
//
// A call is translated in these steps, all pure:
//   read_rest_target()    what the verb and path of a request of HTTP+JSON ask for
//   translate_request()   the request, and an `exchange` that says how to translate what the agent answers
//   translate_answer()    the answer to a unary call, result or error
//   translate_event()     one event of a stream, without its SSE framing
//   append_refusal()      the answer of the gateway itself to what cannot be translated
//
// There is no document: readers walk over the text with core::json_cursor and keep views of the raw values of one
// object at a time, writers append to a buffer of the caller. Members may come in any order. Metadata, data parts, ids
// and numbers keep their bytes. Unknown members of A2A's own objects are dropped, because readers of 1.0 refuse them.
// No step holds more than the one message or event that it was given. Each level of nesting reads its bytes once more,
// at most ten times in all, since what A2A leaves open (metadata, data) is never entered.
//
// A member that carries meaning (parts, ids, configuration) and that the other side cannot say makes the translation
// fail, with the member's path. A member that only informs is dropped and counted. docs/protocol-profile.md lists both.
//
// Sources: types.ts and a2a.proto of 0.3.0, a2a.proto of 1.0.1, specification 1.0.1 sections 3 to 11. Pure; any thread.
#pragma once

#include "a2a/method.hpp"

#include <boost/system/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace a2a {

enum class binding : std::uint8_t { jsonrpc, rest, grpc };

struct dialect {
    generation version = generation::v03;
    binding over = binding::jsonrpc;

    bool operator==(const dialect&) const = default;
};

// Which HTTP status and gRPC status 1.0 gives to its errors: 1.0.1 changed both.
enum class error_profile : std::uint8_t { v1_0_0, v1_0_1 };

struct translation_limits {
    std::size_t bytes = 16 * 1024 * 1024;  // of one request, answer or event
    unsigned depth = 64;                   // of nested containers; more than 64 counts as 64
    std::size_t target = 8 * 1024;         // of a request of HTTP+JSON that goes out
};

// The codes that translations fail with: those of JSON-RPC 2.0 section 5.1 and of A2A 1.0 section 5.4.
namespace rpc_code {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
inline constexpr int task_not_found = -32001;
inline constexpr int task_not_cancelable = -32002;
inline constexpr int push_not_supported = -32003;
inline constexpr int unsupported_operation = -32004;
inline constexpr int content_type_not_supported = -32005;
inline constexpr int invalid_agent_response = -32006;
inline constexpr int extended_card_not_configured = -32007;
inline constexpr int extension_support_required = -32008;
inline constexpr int version_not_supported = -32009;
}  // namespace rpc_code

// Why there is no translation. Of a request: parse_error, invalid_request (too large), invalid_params,
// unsupported_operation or method_not_found. Of what an agent sent: always invalid_agent_response.
struct refusal {
    int code = rpc_code::invalid_params;
    std::string member;  // `message.parts[2].file`: names of ours and positions only, fit for callers; empty: the whole
    std::string_view
        why;  // a constant, fit for callers: says of the member, the request or the answer what is wrong with it
};

template <class T = void>
using translation = boost::system::result<T, refusal>;

// result::value() on a failure is a bug in the caller.
[[noreturn]] void throw_exception_from_error(const refusal& e, const boost::source_location& where);

}  // namespace a2a
