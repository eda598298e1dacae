// The status codes of gRPC (github.com/grpc/grpc: doc/statuscodes.md), and those that HTTP statuses stand for. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace core {

enum class grpc_code : std::uint8_t {
    ok = 0,
    cancelled,
    unknown,
    invalid_argument,
    deadline_exceeded,
    not_found,
    already_exists,
    permission_denied,
    resource_exhausted,
    failed_precondition,
    aborted,
    out_of_range,
    unimplemented,
    internal,
    unavailable,
    data_loss,
    unauthenticated,
};

// "OK", "CANCELLED", "INVALID_ARGUMENT": as google.rpc.Code has them.
std::string_view name(grpc_code code) noexcept;

// The code of such a name. Nothing: there is none.
std::optional<grpc_code> grpc_code_named(std::string_view name) noexcept;

// The status of HTTP that the code stands for (google/rpc/code.proto).
unsigned http_status(grpc_code code) noexcept;

// The code of an answer without `grpc-status` (doc/http-grpc-status-mapping.md).
grpc_code grpc_code_of_http(unsigned status) noexcept;

}  // namespace core
