// The field grpc-timeout: how long a caller waits (github.com/grpc/grpc: doc/PROTOCOL-HTTP2.md, "Timeout"). Pure; any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace net::grpc {

// At most eight digits and a unit: `100m`, `5S`. Longer times than a thousand days count as that. Nothing: it is malformed.
std::optional<std::chrono::microseconds> parse_timeout(std::string_view value) noexcept;

// Appends a value in the finest unit that has room for it, rounded down, but at least 1 ns.
void append_timeout(std::string& out, std::chrono::nanoseconds left);

}  // namespace net::grpc
