// The outcome of a call, from the JSON bindings of A2A to gRPC and back: errors by their reason (specification 1.0.1 section 5.4), those
// of 0.3, whose SDKs read no details, by their name in front of the message. Pure; any thread.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "a2a/protobuf/methods.hpp"
#include "core/error.hpp"
#include "net/grpc/status.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::grpc {

// Has work done on another thread.
using poster = std::function<void(std::function<void()> work)>;

// A message of this size takes a millisecond to convert.
inline constexpr std::size_t converted_at_once = 256 * 1024;

// The bodies that a caller or an agent by gRPC stands for: JSON-RPC of 1.0, or HTTP+JSON of 0.3, which have the texts of its messages.
constexpr ::a2a::dialect as_json(::a2a::generation version) noexcept
{
    using enum ::a2a::binding;
    return {version, version == ::a2a::generation::v1 ? jsonrpc : rest};
}

// The text of a raw string of JSON; anything else as it is.
std::string text_of(std::string_view raw);

// The outcome that lines of fields say, a head's or trailers. Nothing: they have no grpc-status that is a number, or two.
std::optional<net::grpc::status> status_in(std::string_view lines);

// Terms of outcomes for a caller.
struct outcome_terms {
    ::a2a::generation version = ::a2a::generation::v1;
    ::a2a::operation what = ::a2a::operation::none;
    ::a2a::error_profile profile = ::a2a::error_profile::v1_0_1;
};

// The status of an error of the gateway's own, with its sentence. `agent`: an id, or empty.
net::grpc::status own_status(core::errc code, std::string_view agent, const outcome_terms& terms);

// The code whose name this is, as Cardea-Error has it. Nothing: it is none.
std::optional<core::errc> own_code(std::string_view name) noexcept;

// The status of an error answer in the dialect as_json() of the caller, or of any other body with this status of HTTP. `own`: the error of
// the gateway's that it is; nothing: it is the agent's.
net::grpc::status
status_of_json(unsigned http, std::string_view body, std::optional<core::errc> own, const outcome_terms& terms);

// An error of an agent by gRPC as a JSON answer in as_json() of its generation, to a call with this raw id.
struct json_error {
    unsigned http = 500;
    std::string body;
};
json_error json_of_status(const net::grpc::status& from, const outcome_terms& agent, std::string_view id);

}  // namespace gateway::grpc
