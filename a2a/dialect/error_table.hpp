// The errors of A2A: their codes in JSON-RPC, their reasons, and the statuses of HTTP and gRPC by which HTTP+JSON of
// 1.0 says them (specification 1.0.0 and 1.0.1 section 5.4). Pure; any thread.
#pragma once

#include "a2a/dialect/dialect.hpp"

#include <optional>
#include <string_view>

namespace a2a {

struct error_status {
    unsigned http = 500;
    std::string_view grpc = "INTERNAL";
};

// What the code is in HTTP+JSON. A code that neither JSON-RPC nor A2A defines is 500 INTERNAL, but for the gateway's
// own (core/status.hpp), which hold the HTTP status.
error_status status_of(int code, error_profile profile) noexcept;

// `TASK_NOT_FOUND`, of google.rpc.ErrorInfo; empty for what is no error of A2A.
std::string_view reason_of(int code) noexcept;

// A sentence for an error that has none.
std::string_view message_of(int code) noexcept;

// Nothing: no error of A2A has this reason.
std::optional<int> code_of_reason(std::string_view reason) noexcept;

// The code of an answer that says no more than these. 1.0 shares statuses between errors, so the operation helps: 404
// is an unknown task where the request names one. 401 and 403 have no code in A2A: the gateway's own is returned.
int code_of_status(unsigned http, std::string_view grpc, operation what) noexcept;

}  // namespace a2a
