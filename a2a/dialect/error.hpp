// Errors, as each dialect writes them: `error` of JSON-RPC with any data (0.3) or with a list of details (1.0),
// google.rpc.Status in HTTP+JSON of 1.0, and `{code,message,data}` in HTTP+JSON of 0.3, which no specification
// describes (specification 1.0.1 sections 9.5 and 11.6). Internal to a2a/dialect/.
//
// To 1.0 go the code's google.rpc.ErrorInfo and, as google.protobuf.Struct or Value, what 0.3 had as data. To 0.3 goes
// that data, or else reason and metadata of the ErrorInfo. Other details are lost there.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "a2a/dialect/request.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace a2a {

// Views into what an agent sent.
struct agent_error {
    int code = rpc_code::internal_error;
    std::string_view message;        // a raw string; empty: it had none
    std::string_view details;        // a raw array, of 1.0
    std::string_view data;           // any raw value, of 0.3
    generation of = generation::v1;  // whose code it is
};

// From the `error` of a JSON-RPC answer.
agent_error read_rpc_error(std::string_view raw, generation of);

// From an answer of HTTP+JSON with this status. The body may be anything.
agent_error read_rest_error(unsigned status, std::string_view body, const exchange& how);

// Whether what a stream of HTTP+JSON carries is an error and no event.
bool is_rest_error(std::string_view raw);

// Appends the error as `to` writes it, and returns its HTTP status: 200 in JSON-RPC. `id` is that of the caller's
// request. Counts in `lost` what `to` has no place for.
unsigned append_error(
    std::string& out,
    dialect to,
    error_profile profile,
    std::string_view id,
    const agent_error& from,
    std::size_t& lost
);

// The statuses of HTTP and gRPC of an error in HTTP+JSON of 1.0 (specification 1.0.0 and 1.0.1 section 5.4).
struct error_status {
    unsigned http = 500;
    std::string_view grpc = "INTERNAL";
};

// A code that neither JSON-RPC nor A2A defines is 500 INTERNAL, except the gateway's own (core/error.hpp), which hold the HTTP status.
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
