// The outcome of a call by gRPC as its trailers say it: grpc-status, grpc-message and grpc-status-details-bin (github.com/grpc/grpc:
// doc/PROTOCOL-HTTP2.md, "Responses"; google/rpc/status.proto, google/rpc/error_details.proto), and content types. Pure; any thread.
#pragma once

#include "core/grpc_code.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace net::grpc {

// google.rpc.ErrorInfo.
struct error_info {
    std::string reason;  // `TASK_NOT_FOUND`; empty: there is none
    std::string domain;
    std::vector<std::pair<std::string, std::string>> metadata;
};

struct status {
    core::grpc_code code = core::grpc_code::ok;
    std::string message;  // UTF-8
    error_info info;
};

// Appends the fields of a status, as lines with their CRLF. The details are there if there is a reason.
void append_status(std::string& lines, const status& of);

// From the values of the fields; absent ones are empty. A code that gRPC does not have counts as unknown (doc/statuscodes.md), as do
// details that cannot be read: they are left out. The texts are bytes of a peer's, not always UTF-8. Nothing: `code` is no number.
std::optional<status> read_status(std::string_view code, std::string_view message, std::string_view details);

// The value of grpc-message: printable ASCII but for `%`, which is escaped as everything else is.
void append_message(std::string& out, std::string_view text);

// The text of such a value. A `%` without two digits stands for itself.
std::string decoded_message(std::string_view value);

// The kind of a request or an answer, by its Content-Type.
enum class media : std::uint8_t {
    other,
    grpc,     // application/grpc, application/grpc+proto
    variant,  // gRPC-Web, or gRPC with messages in another form than protocol buffers
};

media media_of(std::string_view content_type) noexcept;

}  // namespace net::grpc
